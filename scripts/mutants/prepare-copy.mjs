// A copy of the repository whose program contains all mutants. Each is off until its number is in the environment.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../prepare.mjs'

const VERSION = '9.6.1'
/** What the tests do not read. */
const LEFT_OUT = ['.git', '.node', 'bench', 'build', 'dist', 'node_modules', 'screenshots']

/** Makes the copy in `work`, unless it is there, and returns its mutants. @param paths files and folders under src/ */
export async function prepareCopy(work, paths) {
  const list = join(work, 'mutants.json')
  if (existsSync(list)) return JSON.parse(readFileSync(list, 'utf8'))
  process.stderr.write(`Installing the mutants of StrykerJS ${VERSION} …\n`)
  const install = ['install', '--prefix', work, '--ignore-scripts', '--no-fund', '--no-audit']
  run('npm', [...install, `@stryker-mutator/instrumenter@${VERSION}`], work)
  process.stderr.write('Bundling the program with all mutants …\n')
  const copy = join(work, 'copy')
  cpSync(root, copy, { recursive: true, filter: path => !LEFT_OUT.includes(relative(root, path)) })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const mutants = await insertMutants(work, paths)
  run(process.execPath, ['scripts/build-program.mjs'], copy)
  mkdirSync(join(copy, 'dist/ui'), { recursive: true })
  run(process.execPath, ['scripts/build-ui.mjs'], copy)
  writeFileSync(list, JSON.stringify(mutants))
  return mutants
}

async function insertMutants(work, paths) {
  const entry = join(work, 'node_modules/@stryker-mutator/instrumenter/dist/src/index.js')
  const { Instrumenter } = await import(pathToFileURL(entry))
  const names = paths.flatMap(path => (statSync(join(root, path)).isDirectory() ? sourcesIn(path) : [path]))
  const files = [...new Set(names)].map(name => ({
    name,
    mutate: true,
    content: readFileSync(join(root, name), 'utf8'),
  }))
  const logger = { debug() {}, info() {}, warn: console.warn, isDebugEnabled: () => false }
  const options = { ignorers: [], excludedMutations: [], plugins: null }
  const changed = await new Instrumenter(logger).instrument(files, options)
  for (const { name, content } of changed.files) writeFileSync(join(work, 'copy', name), content)
  const contents = new Map(files.map(({ name, content }) => [name, content]))
  return changed.mutants.map(({ id, fileName, location, mutatorName, replacement }) => {
    const original = textAt(contents.get(fileName), location)
    return { id, path: fileName, location, mutator: mutatorName, original, replacement }
  })
}

/** The text between two places, which count lines and columns from 0. */
function textAt(content, { start, end }) {
  const lines = content.split('\n').slice(start.line, end.line + 1)
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column)
  lines[0] = lines[0].slice(start.column)
  return lines.join('\n')
}

const sourcesIn = folder =>
  readdirSync(join(root, folder), { recursive: true })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map(name => join(folder, name))

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
}
