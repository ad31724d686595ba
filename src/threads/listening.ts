import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { StartupError } from '../base/errors.ts'

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

/** Accepts connections for the HTTP server at another address. All that its listeners do holds for these connections too. */
export const listenerFor = (server: Server): Server =>
  createServer({ allowHalfOpen: true, noDelay: true }, socket => server.emit('connection', socket))

/** What `localhost` needs besides the server itself (RFC 6761 6.3): a client may try either loopback address first. */
export const secondListener = (server: Server, host: string): Server | undefined =>
  host === 'localhost' ? listenerFor(server) : undefined

/**
 * Listens on the host; where there is a second listener, at both loopback addresses.
 * @throws {StartupError} with host and port when that fails
 */
export async function listen(
  app: App,
  { host, port, second }: { readonly host: string; readonly port: number; readonly second: Server | undefined },
): Promise<void> {
  const first = second ? '127.0.0.1' : host
  await app.listen({ host: first, port }).catch((error: unknown) => refuse(error, first, port))
  if (!second) return
  const { port: same } = app.server.address() as AddressInfo
  await once(second.listen(same, '::1'), 'listening').catch((error: unknown) => {
    if (!withoutIPv6.has(codeOf(error))) refuse(error, '::1', same)
  })
}

/** Accepts no more; resolves when the last of its connections has ended. */
export const closed = (second: Server): Promise<void> => new Promise(resolve => void second.close(() => resolve()))

function refuse(error: unknown, host: string, port: number): never {
  const reason = unusable[codeOf(error)]
  if (reason === undefined) throw error
  throw new StartupError(`Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error })
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
