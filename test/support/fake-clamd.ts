import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

interface Test {
  after(work: () => Promise<void>): void
}

/** The test file that every scanner reports. In two parts, so that none reports this file. */
export const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE!$H+H*'].join('')

export interface FakeClamd {
  /** The value of `service.data.virus-scan`. */
  readonly place: string
  /** The bytes of each complete stream. */
  readonly scanned: Buffer[]
  /** Streams that have begun; incomplete ones included. */
  readonly begun: () => number
  /** Open connections. */
  readonly connections: () => number
  /** Replaces the reply to a complete stream until it is set back to `undefined`. */
  misbehave: ((socket: Socket, bytes: Buffer) => void) | undefined
  /** `StreamMaxLength`. */
  maxLength: number
  /** Closes all connections, and refuses new ones until {@link revive}. */
  kill(): Promise<void>
  revive(): Promise<void>
}

/** The part of clamd's protocol that `INSTREAM` and `VERSION` need, on a TCP port or on a Unix socket. */
export async function startFakeClamd(t: Test, path?: string): Promise<FakeClamd> {
  const sockets = new Set<Socket>()
  let begun = 0
  const serve = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    let rest: Buffer = Buffer.alloc(0)
    let command: string | undefined
    let taken: Buffer[] = []
    let size = 0
    socket.on('data', chunk => {
      rest = Buffer.concat([rest, chunk])
      if (command === undefined) {
        const end = rest.indexOf(0)
        if (end < 0) return
        command = rest.toString('latin1', 0, end)
        rest = rest.subarray(end + 1)
        if (command === 'zVERSION') return void socket.end('ClamAV 1.4.3/1/Sat Nov 21 10:00:00 2026\0')
        if (command !== 'zINSTREAM') return void socket.end('UNKNOWN COMMAND\0')
        begun++
      }
      while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
        const length = rest.readUInt32BE()
        const part = rest.subarray(4, 4 + length)
        rest = rest.subarray(4 + length)
        size += length
        if (size > clamd.maxLength) return void socket.end('INSTREAM size limit exceeded. ERROR\0')
        if (length > 0) taken.push(part)
        else {
          const bytes = Buffer.concat(taken)
          taken = []
          clamd.scanned.push(bytes)
          if (clamd.misbehave) clamd.misbehave(socket, bytes)
          else socket.end(bytes.includes(EICAR) ? 'stream: Eicar-Test-Signature FOUND\0' : 'stream: OK\0')
        }
      }
    })
  }
  const server = createServer(serve)
  const listen = async (port: number): Promise<void> => {
    if (path === undefined) server.listen(port, '127.0.0.1')
    else server.listen(path)
    await once(server, 'listening')
  }
  await listen(0)
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const clamd: FakeClamd = {
    place: path ?? `127.0.0.1:${port}`,
    scanned: [],
    begun: () => begun,
    connections: () => sockets.size,
    misbehave: undefined,
    maxLength: Number.POSITIVE_INFINITY,
    async kill() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    revive: () => listen(port),
  }
  t.after(() => clamd.kill())
  return clamd
}
