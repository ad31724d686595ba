import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A request as bytes over a socket of its own, for what a client library does not let one do. */
export interface RawRequest {
  readonly socket: Socket
  /** Everything that has come back so far. */
  readonly received: () => string
  /** Resolves when what came back matches. */
  readonly until: (pattern: RegExp) => Promise<void>
  readonly closed: Promise<void>
}

/** @param head request line and headers without `Host`, `body` what is sent along at once */
export async function sendRaw(
  base: string,
  head: readonly string[],
  body: string | Uint8Array = '',
): Promise<RawRequest> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  socket.on('error', () => {})
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.write([...head, `Host: ${hostname}:${port}`, '', ''].join('\r\n'))
  if (body.length > 0) socket.write(body)
  const until = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(received)) {
      const ended = await Promise.race([once(socket, 'data').then(() => false), closed.then(() => true)])
      if (ended) assert.match(received, pattern)
    }
  }
  return { socket, received: () => received, until, closed }
}
