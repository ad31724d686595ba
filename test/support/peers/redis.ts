import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import type { Peer } from './peer.ts'
import { freePort, type PeerProcess, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

const program = '/usr/bin/redis-server'
const cli = '/usr/bin/redis-cli'

export const redis: Peer = { name: 'redis-server', available: () => existsSync(program) && existsSync(cli) }

export interface RedisServer {
  readonly port: number
  /** Without password; append the number of a database. */
  readonly url: string
  /** What `redis-cli` prints for a command. */
  cli(...command: string[]): Promise<string>
  /** Stops it in its tracks: connections stay, nothing answers. */
  freeze(): void
  thaw(): void
  /** Ends it as a crash would; what it held is gone. */
  kill(): Promise<void>
  /** On the same port again, empty. */
  restart(): Promise<void>
}

export interface RedisOptions {
  readonly args?: readonly string[]
  readonly password?: string
}

/** Redis on a free port of this machine, which keeps nothing on disk. */
export async function startRedis(t: Test, { args = [], password }: RedisOptions = {}): Promise<RedisServer> {
  const port = await freePort()
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--databases', '1000', '--save', '', '--appendonly', 'no']
  if (password !== undefined) own.push('--requirepass', password)
  let peer: PeerProcess
  const start = async (): Promise<void> => {
    peer = await startInNewFolder(t, folder =>
      startPeerProcess({
        command: program,
        args: [...own, '--dir', folder, ...args],
        env: {},
        folder,
        ready: () => answers(port),
      }),
    )
  }
  await start()
  const auth = password === undefined ? [] : ['--no-auth-warning', '-a', password]
  return {
    port,
    url: `redis://127.0.0.1:${port}/`,
    async cli(...command) {
      return (await promisify(execFile)(cli, [...auth, '-p', String(port), ...command])).stdout.trimEnd()
    },
    // The group: the server is the child of a shell that guards it.
    freeze: () => void process.kill(-peer.pid, 'SIGSTOP'),
    thaw: () => void process.kill(-peer.pid, 'SIGCONT'),
    async kill() {
      process.kill(-peer.pid, 'SIGKILL')
      await peer.stop()
    },
    restart: start,
  }
}

/** Any reply will do, also that a password is needed. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.setTimeout(1000, () => socket.destroy(new Error('no answer')))
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', reject)
  })
