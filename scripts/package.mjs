// `npm run package`: builds everything that a release contains into build/release. Two builds of one commit are equal byte for byte.
// With names after `--` it builds only these: npm, archive, deb; --arch amd64 or arm64 leaves out the other architecture.
import './runtime.mjs'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeArchive, stageWithNode } from './package/archive.mjs'
import { makeDeb } from './package/deb.mjs'
import { makeNpmPackage, stageProgram } from './package/npm.mjs'
import { writeBills, writeChecksums } from './package/records.mjs'
import { readSource } from './package/source.mjs'
import { root, run } from './prepare.mjs'

const KINDS = ['npm', 'archive', 'deb']
const ARCHITECTURES = ['amd64', 'arm64']

const { positionals, values } = parseArgs({ allowPositionals: true, options: { arch: { type: 'string' } } })
const unknown = [...positionals, values.arch ?? 'amd64'].filter(name => ![...KINDS, ...ARCHITECTURES].includes(name))
if (unknown.length > 0) {
  process.stderr.write(
    `package: must be of ${KINDS.join(', ')}, --arch ${ARCHITECTURES.join(' or ')}, but is ${unknown.join(', ')}\n`,
  )
  process.exit(2)
}
const kinds = new Set(positionals.length > 0 ? positionals : KINDS)
const architectures = values.arch === undefined ? ARCHITECTURES : [values.arch]

// What has no mode of its own gets the same one on every machine.
process.umask(0o022)
run(process.execPath, ['scripts/build.mjs'])
const source = await readSource()
const stage = join(root, 'build/stage')
const release = join(root, 'build/release')
for (const folder of [stage, release]) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
}

const program = join(stage, 'npm')
stageProgram(source, program)
const made = []
if (kinds.has('npm')) made.push(makeNpmPackage(program, release))
for (const architecture of kinds.has('archive') || kinds.has('deb') ? architectures : []) {
  const folder = join(stage, architecture, 'stowage')
  stageWithNode({ source, program, architecture, folder })
  if (kinds.has('archive')) made.push(makeArchive({ source, architecture, folder, release }))
  if (kinds.has('deb')) made.push(await makeDeb({ source, architecture, folder, release }))
}
writeBills(source, release, made)
writeChecksums(release)
process.stderr.write(`Stowage ${source.version} of ${source.commit}: ${made.length} packages in build/release.\n`)
