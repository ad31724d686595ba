// Imported first by every script that is started by hand or by npm. On an older Node.js it installs the one below into .node/, once, and runs
// the script with that. It has to run on old releases itself.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST = 24
/** What is installed where Node.js is older. */
export const NODE = '24.21.0'
const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (Number.parseInt(process.versions.node, 10) < OLDEST) await runAgain(installed())

/** Runs this script with another Node.js, which its children find too, and ends as it ends. */
async function runAgain(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) },
    stdio: 'inherit',
  })
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  // A terminal sends these to both.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
  const code = await new Promise(resolve => {
    child.on('error', error => fail(`${node} cannot be started: ${error.message}`))
    child.on('exit', (status, signal) => resolve(signal ? 1 : status))
  })
  process.exit(code)
}

/** The program of the newer Node.js. */
function installed() {
  const { platform, arch } = process
  const system = platform === 'win32' ? 'win' : platform
  const name = `${system === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${system}-${arch}`
  const folder = join(root, '.node', NODE)
  const program = join('node_modules', name, 'bin', system === 'win' ? 'node.exe' : 'node')
  if (!existsSync(join(folder, program))) {
    process.stderr.write(`Node.js ${process.versions.node} is too old: installing ${NODE} into .node/ …\n`)
    // Another script may be installing it at the same time, or end in the middle of it.
    const unfinished = `${folder}-${process.pid}`
    mkdirSync(unfinished, { recursive: true })
    const options = ['--no-save', '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error']
    const { status, error } = spawnSync('npm', ['install', '--prefix', unfinished, ...options, `${name}@${NODE}`], {
      // Without this folder npm would heed the settings of the repository.
      cwd: unfinished,
      shell: system === 'win',
      stdio: ['ignore', 'ignore', 2],
    })
    if (status !== 0 || !existsSync(join(unfinished, program))) {
      rmSync(unfinished, { recursive: true })
      fail(
        `Node.js ${OLDEST} or newer is needed, and ${name} could not be installed${error ? ` (${error.message})` : ''}.`,
      )
    }
    try {
      renameSync(unfinished, folder)
    } catch (cause) {
      rmSync(unfinished, { recursive: true })
      if (!existsSync(join(folder, program))) throw cause
    }
  }
  return join(folder, program)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
