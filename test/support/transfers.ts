import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Visitor } from './http-client.ts'
import { eventually } from './waiting.ts'

type Headers = Readonly<Record<string, string>>

/** A request that has begun. Nothing is read of its response but the first line. */
export async function beginTransfer(method: string, url: string, headers: Headers): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const fields = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`)
  socket.write([`${method} ${pathname}${search} HTTP/1.1`, ...fields, '', ''].join('\r\n'))
  await once(socket, 'readable')
  const line = String(socket.read(12))
  assert.match(line, /^HTTP\/1\.1 (?:100|20[06])$/)
  return socket
}

/** A client that reads nothing learns of the end of its connection when it sends something. */
export const connectionEnds = (socket: Socket, what: string): Promise<void> =>
  eventually(`the end of the ${what}`, () => {
    if (!socket.destroyed) socket.write('\r\n')
    return socket.destroyed
  })

/** The status with which the service refuses an upload in progress. */
export async function refusalOf(upload: Socket): Promise<string | undefined> {
  let text = ''
  for await (const chunk of upload as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1')
    const [, status] = /HTTP\/1\.1 ([2-5]\d\d)/.exec(text) ?? []
    if (status !== undefined) return status
  }
  return undefined
}

/** Reads the rest of a response. Resolves to the number of bytes. */
export async function readOn(socket: Socket): Promise<number> {
  let bytes = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) bytes += chunk.length
  return bytes
}

/** The session of a visitor, for a request of their own. */
export const cookieOf = (visitor: Visitor): Headers => ({ cookie: `auth_token=${visitor.cookie}` })
