import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from '../prepare.mjs'
import { HOME } from './archive.mjs'
import { completion, manualPage } from './manual.mjs'
import { setTimes } from './source.mjs'

/** Scripts and settings of the package. */
const own = file => join(root, 'deploy/debian', file)

/** Packages the folder of an archive for Debian, with dpkg-deb. @returns the name of the package */
export async function makeDeb({ source, architecture, folder, release }) {
  const tree = join(dirname(folder), 'deb')
  const put = (path, text) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  cpSync(folder, join(tree, 'opt/stowage'), { recursive: true, verbatimSymlinks: true })
  put('usr/lib/systemd/system/stowage.service', readFileSync(join(root, 'deploy/stowage.service')))
  put('etc/stowage/service.properties', readFileSync(own('service.properties')))
  put('usr/share/man/man1/stowage.1.gz', gzipSync(await manualPage(source.version), { level: 9 }))
  put('usr/share/bash-completion/completions/stowage', await completion())
  put('usr/share/doc/stowage/copyright', copyright(folder))
  mkdirSync(join(tree, 'usr/bin'), { recursive: true })
  symlinkSync(`${HOME}/deploy/stowage.mjs`, join(tree, 'usr/bin/stowage'))

  const files = filesOf(tree)
  put('DEBIAN/control', control(source, architecture, files))
  put('DEBIAN/conffiles', '/etc/stowage/service.properties\n')
  put('DEBIAN/md5sums', files.map(file => `${digest(file)}  ${relative(tree, file)}\n`).join(''))
  for (const script of ['postinst', 'prerm', 'postrm']) {
    put(`DEBIAN/${script}`, readFileSync(own(script)))
    chmodSync(join(tree, 'DEBIAN', script), 0o755)
  }
  setTimes(tree, source.time)
  const name = `stowage_${source.version}_${architecture}.deb`
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, join(release, name)], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(source.time) },
    stdio: ['ignore', 2, 2],
  })
  return name
}

function filesOf(tree) {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}

const digest = file => createHash('md5').update(readFileSync(file)).digest('hex')

function control(source, architecture, files) {
  const size = files.reduce((sum, file) => sum + statSync(file).size, 0)
  return `Package: stowage
Version: ${source.version}
Architecture: ${architecture}
Maintainer: The Stowage authors
Installed-Size: ${Math.ceil(size / 1024)}
Depends: adduser, libc6 (>= 2.28), libstdc++6
Section: net
Priority: optional
Description: server for files and linked-data metadata
 Stowage keeps files and RDF metadata, with users, groups, access control
 and exact quotas. The package contains Node.js.
`
}

function copyright(folder) {
  const texts = ['NOTICE', 'LICENSE', 'dist/program/LICENSES.txt', 'LICENSE-node']
  return texts.map(file => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n----\n\n')
}
