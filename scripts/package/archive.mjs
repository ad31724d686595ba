import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../prepare.mjs'
import { NODE } from '../runtime.mjs'
import { billOfMaterials } from './records.mjs'
import { setTimes } from './source.mjs'

/** Node.js comes as a package of the npm registry: its name for an architecture of Debian, and the checksum of that version. */
const nodes = {
  amd64: {
    cpu: 'x64',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  arm64: {
    cpu: 'arm64',
    integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
}

/** Where the folder is installed. The kernel starts the program there by its first line: a shell would drop variables with dots (D10.1). */
export const HOME = '/opt/stowage'

/** Puts into a folder the program, its native packages, and Node.js (adr: folder-with-node). */
export function stageWithNode({ source, program, architecture, folder }) {
  cpSync(program, folder, { recursive: true })
  const { cpu } = nodes[architecture]
  const target = ['--os=linux', `--cpu=${cpu}`, '--libc=glibc']
  const options = ['--omit=dev', '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error']
  execFileSync('npm', ['ci', ...target, ...options], { cwd: folder, stdio: ['ignore', 2, 2] })
  // It names the registry.
  rmSync(join(folder, 'node_modules/.package-lock.json'))
  unpackNode(architecture, folder)
  const script = join(folder, 'bin/stowage.js')
  writeFileSync(script, readFileSync(script, 'utf8').replace(/^#!.*$/m, `#!${HOME}/bin/node`))
  symlinkSync('bin/stowage.js', join(folder, 'stowage'))
  chmodSync(join(folder, 'deploy/stowage.mjs'), 0o755)
  const bill = billOfMaterials(source, { withNode: true })
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
  setTimes(folder, source.time)
}

/** @returns the name of the archive */
export function makeArchive({ source, architecture, folder, release }) {
  const name = `stowage-${source.version}-linux-${architecture}.tar.gz`
  const tar = [
    '--sort=name',
    '--format=gnu',
    '--mode=u=rwX,go=rX',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=@${source.time}`,
  ]
  const args = [...tar, '--use-compress-program=gzip -n', '-C', dirname(folder), '-cf', join(release, name), 'stowage']
  execFileSync('tar', args, { stdio: ['ignore', 2, 2] })
  return name
}

function unpackNode(architecture, folder) {
  const { cpu, integrity } = nodes[architecture]
  const cache = join(root, 'build/node', `${NODE}-${cpu}`)
  mkdirSync(cache, { recursive: true })
  // Several builds share the cache.
  const own = mkdtempSync(join(cache, 'unpacked-'))
  try {
    const name = `node-linux-${cpu}-${NODE}.tgz`
    const packed = join(cache, name)
    if (!existsSync(packed)) {
      const args = ['pack', `node-linux-${cpu}@${NODE}`, '--pack-destination', own, '--loglevel=error']
      execFileSync('npm', args, { cwd: own, stdio: ['ignore', 2, 2] })
      renameSync(join(own, name), packed)
    }
    const actual = `sha512-${createHash('sha512').update(readFileSync(packed)).digest('base64')}`
    if (actual !== integrity) {
      rmSync(packed)
      throw new Error(`node-linux-${cpu}@${NODE} must have the checksum ${integrity}, but has ${actual}`)
    }
    execFileSync('tar', ['-xzf', packed, '-C', own, 'package/bin/node', 'package/LICENSE'])
    copyFileSync(join(own, 'package/bin/node'), join(folder, 'bin/node'))
    chmodSync(join(folder, 'bin/node'), 0o755)
    copyFileSync(join(own, 'package/LICENSE'), join(folder, 'LICENSE-node'))
  } finally {
    rmSync(own, { recursive: true })
  }
}
