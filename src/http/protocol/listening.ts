import { once } from 'node:events'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { SettingsError, StartupError } from '../../base/errors.ts'

const unusable: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'that takes more rights than this program has',
  EAFNOSUPPORT: 'this machine does not have this kind of address',
  EINVAL: 'that is not an address to listen on',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
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

/** Lower ports need a special permission. */
const FIRST_FREE_PORT = 1024

/**
 * Listens on the host for a moment: on its port only where that can be forbidden, because a running service uses it.
 * @throws {StartupError} with host and port
 */
export async function requireListening(host: string, port: number): Promise<void> {
  const server = createServer()
  const app = { server, listen: (options: ListenOptions) => once(server.listen(options), 'listening') }
  try {
    const closeSecond = await listen(app, host, port < FIRST_FREE_PORT ? port : 0)
    await closeSecond()
  } catch (error) {
    const { cause } = error as Error
    if (codeOf(cause) !== 'EADDRINUSE') throw error
  } finally {
    server.close()
  }
}

function refuse(error: unknown, host: string, port: number): never {
  const code = codeOf(error)
  const reason = unusable[code]
  if (reason === undefined) throw error
  const message = `Cannot listen on ${host} port ${port}: ${reason}.`
  // Only a missing permission is an error in the settings: an address or name may appear later, and the other program may end.
  throw code === 'EACCES' ? new SettingsError(message, { cause: error }) : new StartupError(message, { cause: error })
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
