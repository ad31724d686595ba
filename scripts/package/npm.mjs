import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { root } from '../prepare.mjs'
import { separate } from '../separate-packages.mjs'
import { billOfMaterials } from './records.mjs'

const SHIPPED = /^(?:(?:bin|deploy|docs|lists)\/.*|(?:CHANGELOG|CONTRIBUTING|README|SECURITY)\.md|LICENSE|NOTICE)$/

/** Puts into a folder what every package contains: the program as it is tested, its documents, and exact versions of what it needs. */
export function stageProgram(source, folder) {
  const files = source.files.filter(file => SHIPPED.test(file))
  for (const file of files) copy(join(root, file), join(folder, file))
  const built = readdirSync(join(root, 'dist'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.endsWith('.map'))
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1))
  for (const file of built) copy(join(root, file), join(folder, file))
  for (const file of built.filter(file => file.endsWith('.js'))) withoutMap(join(folder, file))
  for (const file of files.filter(file => file.endsWith('.md'))) withoutDeadLinks(folder, file, new Set(files))
  chmodSync(join(folder, 'bin/stowage.js'), 0o755)
  writeJson(join(folder, 'package.json'), manifest(source))
  writeJson(join(folder, 'npm-shrinkwrap.json'), shrinkwrap(source))
  writeJson(join(folder, 'sbom.cdx.json'), billOfMaterials(source))
}

/** @returns the name of the package */
export function makeNpmPackage(folder, release) {
  const args = ['pack', folder, '--ignore-scripts', '--pack-destination', release, '--loglevel=error']
  return execFileSync('npm', args, { cwd: release, encoding: 'utf8' }).trim()
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
  chmodSync(to, 0o644)
}

function withoutMap(file) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'))
}

/** A link to a file that only the repository has becomes its text. */
function withoutDeadLinks(folder, page, files) {
  const isThere = path => files.has(path) || [...files].some(file => file.startsWith(`${path.replace(/\/$/, '')}/`))
  const text = readFileSync(join(folder, page), 'utf8').replaceAll(
    /\[([^\]]+)\]\(([^)\s]+)\)/g,
    (link, name, target) => {
      const [path] = target.split('#')
      return path === '' || /^[a-z]+:/.test(path) || isThere(posix.join(posix.dirname(page), path)) ? link : name
    },
  )
  writeFileSync(join(folder, page), text)
}

const lock = () => JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

function manifest(source) {
  const {
    name,
    version,
    description,
    license,
    author,
    homepage,
    repository,
    bugs,
    keywords,
    type,
    engines,
    bin,
    imports,
  } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { packages } = lock()
  const dependencies = Object.fromEntries(separate.map(name => [name, packages[`node_modules/${name}`].version]))
  const about = { description, license, author, homepage, repository, bugs, keywords }
  return { name, version, gitHead: source.commit, ...about, type, engines, bin, imports, dependencies }
}

/** The versions and checksums of package-lock.json, for the packages outside the bundle and what these need. */
function shrinkwrap(source) {
  const { lockfileVersion, packages } = lock()
  const { name, version, license, engines, bin, dependencies } = manifest(source)
  const own = { name, version, license, dependencies, bin, engines }
  const needed = new Set()
  const add = name => {
    const path = `node_modules/${name}`
    if (needed.has(path) || !packages[path]) return
    needed.add(path)
    for (const field of ['dependencies', 'optionalDependencies'])
      for (const other of Object.keys(packages[path][field] ?? {})) add(other)
  }
  for (const name of separate) add(name)
  return {
    name,
    version,
    lockfileVersion,
    requires: true,
    packages: {
      '': own,
      ...Object.fromEntries([...needed].sort((a, b) => (a < b ? -1 : 1)).map(path => [path, packages[path]])),
    },
  }
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
