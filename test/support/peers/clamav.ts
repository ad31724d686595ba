import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { freePort, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

const program = '/usr/sbin/clamd'

export const clamav: Peer = { name: 'clamav-daemon', available: () => existsSync(program) }

/** The only text for which the server has a signature. */
export const INFECTED = 'stowage-test-signature-7f3a'

export interface ClamdServer {
  /** Values of `service.data.virus-scan`. */
  readonly places: readonly [tcp: string, socket: string]
  /** Stops it in its tracks: connections stay, nothing answers. */
  freeze(): void
  thaw(): void
  kill(): Promise<void>
}

/** clamd on a free port and on a Unix socket, with one signature of its own instead of those that need the network. */
export async function startClamd(t: Test, maxLength: string): Promise<ClamdServer> {
  const port = await freePort()
  const peer = await startInNewFolder(t, async folder => {
    const lines = [
      'Foreground yes',
      `DatabaseDirectory ${join(folder, 'signatures')}`,
      `LocalSocket ${join(folder, 'clamd.ctl')}`,
      `TCPSocket ${port}`,
      'TCPAddr 127.0.0.1',
      `TemporaryDirectory ${folder}`,
      `StreamMaxLength ${maxLength}`,
      `MaxFileSize ${maxLength}`,
    ]
    await mkdir(join(folder, 'signatures'))
    // Name, any kind of file, any place, the bytes.
    const signature = `Stowage.Test:0:*:${Buffer.from(INFECTED).toString('hex')}\n`
    await writeFile(join(folder, 'signatures', 'test.ndb'), signature)
    await writeFile(join(folder, 'clamd.conf'), `${lines.join('\n')}\n`)
    const args = ['--config-file', join(folder, 'clamd.conf')]
    return await startPeerProcess({ command: program, args, env: {}, folder, ready: () => pong(port) })
  })
  return {
    places: [`127.0.0.1:${port}`, join(peer.folder, 'clamd.ctl')],
    freeze: () => void process.kill(-peer.pid, 'SIGSTOP'),
    thaw: () => void process.kill(-peer.pid, 'SIGCONT'),
    async kill() {
      process.kill(-peer.pid, 'SIGKILL')
      await peer.stop()
    },
  }
}

const pong = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('zPING\0'))
    socket.setTimeout(5000, () => socket.destroy(new Error('no answer')))
    socket.once('data', bytes => {
      socket.destroy()
      resolve(bytes.toString().startsWith('PONG'))
    })
    socket.once('error', reject)
  })
