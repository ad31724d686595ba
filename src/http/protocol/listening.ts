import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { StartupError } from '../../base/errors.ts'

const unusable: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'that takes more rights than this program has',
}

const withoutIPv6: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** The part of an application that is used here. */
interface App {
  readonly server: Server
  listen(options: { readonly host: string; readonly port: number }): Promise<unknown>
}

/**
 * Listens on the host. `localhost` is both loopback addresses (RFC 6761 6.3), because a client may try either first: a second listener
 * hands its connections to the server.
 * @returns ends the second listener; resolves when the last of its connections has ended
 * @throws {StartupError} with host and port when that fails
 */
export async function listen(app: App, host: string, port: number): Promise<() => Promise<void>> {
  const first = host === 'localhost' ? '127.0.0.1' : host
  await app.listen({ host: first, port }).catch((error: unknown) => refuse(error, first, port))
  if (host !== 'localhost') return async () => {}
  const { port: same } = app.server.address() as AddressInfo
  const second = createServer({ allowHalfOpen: true, noDelay: true }, socket => app.server.emit('connection', socket))
  await once(second.listen(same, '::1'), 'listening').catch((error: unknown) => {
    if (!withoutIPv6.has(codeOf(error))) refuse(error, '::1', same)
  })
  return () => new Promise(resolve => void second.close(() => resolve()))
}

function refuse(error: unknown, host: string, port: number): never {
  const reason = unusable[codeOf(error)]
  if (reason === undefined) throw error
  throw new StartupError(`Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error })
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
