import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { Visitor } from '../http-client.ts'
import { ADMIN_PASSWORD, repository } from '../service.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { unpackedPeers } from './peer.ts'
import type { Test } from './peer-process.ts'

const run = promisify(execFile)
const MOST_OUTPUT = 64 * 2 ** 20

/** Of this machine, as Debian names it. */
export const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** Runs a program to its end, and resolves to its standard output. */
export async function output(command: string, args: readonly string[], cwd = repository): Promise<string> {
  const { stdout } = await run(command, [...args], { cwd, maxBuffer: MOST_OUTPUT })
  return stdout
}

/**
 * Builds packages in a copy of a repository as it is, with what is not committed, because the other tests use `dist/` here.
 * @returns the folder of the packages
 */
export async function buildPackages(copy: string, args: readonly string[], original = repository): Promise<string> {
  await output('git', ['clone', '--quiet', original, copy])
  const list = async (...options: string[]) =>
    (await output('git', ['ls-files', '-z', ...options], original)).split('\0').filter(Boolean)
  const gone = new Set(await list('--deleted'))
  for (const path of gone) await rm(join(copy, path), { force: true })
  for (const path of await list('--cached', '--others', '--exclude-standard')) {
    if (!gone.has(path)) await cp(join(original, path), join(copy, path), { preserveTimestamps: true })
  }
  await output('cp', ['-a', '--link', 'node_modules', copy]).catch(() => output('cp', ['-a', 'node_modules', copy]))
  // Node.js is fetched once for all runs.
  await mkdir(join(unpackedPeers, 'node'), { recursive: true })
  await mkdir(join(copy, 'build'))
  await symlink(join(unpackedPeers, 'node'), join(copy, 'build/node'))
  await output(process.execPath, ['scripts/package.mjs', ...args], copy)
  return join(copy, 'build/release')
}

/** A clone in which packages for this machine are built. The rehearsal of a release names one in which all are built already. */
export async function builtClone(kinds: readonly string[]): Promise<string> {
  const built = process.env['BUILT_CLONE']
  if (built !== undefined) return built
  const clone = join(await temporaryFolder(), 'one')
  await buildPackages(clone, [...kinds, `--arch=${architecture}`])
  return clone
}

/** The one file of a folder whose name ends like this. */
export async function fileIn(folder: string, end: string): Promise<string> {
  const [name, ...others] = (await readdir(folder)).filter(name => name.endsWith(end))
  if (name === undefined || others.length > 0) throw new Error(`${folder} has not one file ${end}`)
  return join(folder, name)
}

export interface Started {
  readonly admin: Visitor
  /** What it wrote to standard error. */
  readonly errors: () => string
  stop(): Promise<number | null>
}

/** Starts a service by a command line, in an empty folder and with this environment, and signs in as admin. */
export async function startPackage(
  t: Test,
  { command, args, env }: { command: string; args: readonly string[]; env: NodeJS.ProcessEnv },
): Promise<Started> {
  const child = spawn(command, [...args, '--set', 'service.http.port=0'], {
    cwd: await temporaryFolder(),
    env: { ...env, SERVICE_ADMIN_PASSWORD: ADMIN_PASSWORD },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npx starts the program as a child: like Ctrl-C, a signal goes to both.
    detached: true,
  })
  const exited = once(child, 'close') as Promise<[number | null]>
  const stop = async () => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (isRunning && child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
    return (await exited)[0]
  }
  t.after(async () => void (await stop()))
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const base = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      const address = /serves (\S+)/.exec(line)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once('close', () => reject(new Error(`the service did not start:\n${errors}`)))
  })
  const admin = new Visitor(base)
  await admin.signIn('admin', ADMIN_PASSWORD)
  return { admin, errors: () => errors, stop }
}
