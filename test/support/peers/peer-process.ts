import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { TIMEOUT } from '../waiting.ts'

/** What a test hands over: the part of node:test's context used here. */
export interface Test {
  after(work: () => Promise<void>): void
}

/** Where a peer is reached. All of them listen on 127.0.0.1 only, whatever they are called. */
export interface Place {
  /** `localhost` is another site than 127.0.0.1 to a browser, which matters to cookies. */
  readonly host?: 'localhost' | '127.0.0.1'
  /** Any free one if absent; if it is taken, the peer does not start. */
  readonly port?: number
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Working folder; `log` in it takes the output. */
  readonly folder: string
  /** Whether the server answers as itself; asked again and again, may throw. */
  readonly ready: () => Promise<boolean>
  /** Milliseconds until it must be; two minutes if absent. */
  readonly patience?: number
}

export interface PeerProcess {
  readonly pid: number
  /** Ends every process of the peer and resolves when none is left; a second call does nothing more. */
  stop(): Promise<void>
}

// Ends the peer when the far end of descriptor 3 is closed: this process is gone then, in whatever way.
const guarded = '(cat <&3 >/dev/null; kill -KILL 0) & exec "$@" 3<&-'

/** Starts a server as a process group of its own and resolves when it is ready. */
export async function startPeerProcess(launch: Launch): Promise<PeerProcess> {
  const { command, args, env, folder, ready, patience = TIMEOUT } = launch
  const path = join(folder, 'log')
  // Not a pipe: a server that outlives this process would keep the test runner waiting for its end.
  const log = await open(path, 'a')
  const child = spawn('/bin/sh', ['-c', guarded, 'sh', command, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', log.fd, log.fd, 'pipe'],
    detached: true,
  })
  const exited = once(child, 'exit')
  try {
    await once(child, 'spawn')
  } finally {
    await log.close()
  }
  const { pid } = child
  if (pid === undefined) throw new Error(`${command} has no process id`)
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= endGroup(pid, exited))
  try {
    await untilReady(child, ready, patience)
  } catch (cause) {
    await stop()
    throw new Error(`${command} ${args.join(' ')}:\n${await readFile(path, 'utf8')}`, { cause })
  }
  return { pid, stop }
}

async function untilReady(child: ChildProcess, ready: () => Promise<boolean>, patience: number): Promise<void> {
  const deadline = Date.now() + patience
  let last: unknown
  for (;;) {
    const answers = await ready().catch((error: unknown) => {
      last = error
      return false
    })
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it ended early')
    if (answers) return
    if (Date.now() > deadline) throw new Error('it did not become ready', { cause: last })
    await pause(20)
  }
}

async function endGroup(pid: number, exited: Promise<unknown>): Promise<void> {
  signalGroup(pid, 'SIGTERM')
  const deadline = Date.now() + 5000
  while ((await processesOf(pid)).length > 0) {
    if (Date.now() > deadline) signalGroup(pid, 'SIGKILL')
    await pause(5)
  }
  await exited
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left.
  }
}

/** The processes of a group. Ended ones that the system keeps until it asks for their status do not count. */
export async function processesOf(group: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return stats.flatMap(stat => {
    // The second field is a name in brackets, with anything in it.
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(pgrp) === group && state !== 'Z' ? [Number.parseInt(stat, 10)] : []
  })
}

/** Below the range from which the system assigns ports. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_767]

/** A port that was free a moment ago: the wanted one, or it throws. Otherwise whoever has it might pass for the peer. */
export async function freePort(wanted?: number): Promise<number> {
  for (;;) {
    const port = wanted ?? randomInt(FIRST_PORT, LAST_PORT)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch (error) {
      if (wanted !== undefined) throw error
    }
  }
}

/** Runs a peer in a new folder and removes the folder when it has stopped, at the end of the test at the latest. */
export async function startInNewFolder(
  t: Test,
  start: (folder: string) => Promise<PeerProcess>,
): Promise<PeerProcess & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-peer-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  let peer: PeerProcess
  try {
    peer = await start(folder)
  } catch (error) {
    await remove()
    throw error
  }
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= peer.stop().then(remove))
  t.after(stop)
  return { pid: peer.pid, stop, folder }
}
