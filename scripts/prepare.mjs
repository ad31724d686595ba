// Installs and builds what is missing or older than its sources. Does nothing when everything is up to date.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Runs a program in the repository, and ends this process if it fails. */
export function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

export function installIfMissing() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (existsSync(installed) && modified(installed) >= modified(join(root, 'package-lock.json'))) return
  process.stderr.write('Installing what package-lock.json names …\n')
  // None of the packages needs its install script.
  run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit'])
}

/** Bundles the program into dist/program unless that is newer than its sources and packages. */
export function buildProgramIfStale() {
  const made = join(root, 'dist/program/main.js')
  const scripts = ['scripts/build-program.mjs', 'scripts/separate-packages.mjs']
  const from = [...scripts, 'node_modules/.package-lock.json'].map(path => join(root, path))
  const code = ['src', 'migration'].flatMap(folder => sources(join(root, folder)))
  if (existsSync(made) && modified(made) > Math.max(...from.map(modified), ...code)) return
  run(process.execPath, ['scripts/build-program.mjs'])
}

/** Bundles the user interface into dist/ui unless its files are newer than their sources. */
export function buildUiIfStale() {
  const made = join(root, 'dist/ui/manifest.json')
  const newest = Math.max(modified(join(root, 'scripts/build-ui.mjs')), ...sources(join(root, 'ui')))
  if (existsSync(made) && modified(made) > newest) return
  run(process.execPath, ['scripts/build-ui.mjs'])
}

const modified = path => statSync(path).mtimeMs

const sources = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.(tsx?|css|svg)$/.test(entry.name))
    .map(entry => modified(join(entry.parentPath, entry.name)))
