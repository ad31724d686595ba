import { realSystem } from '../../base/system.ts'
import { once } from 'node:events'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { socketOptions } from './client.ts'
import { broken, holds, kept, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import type { Site } from './site.ts'

const PROXY = 'how-to/reverse-proxy.md'
/** Beyond the time for a header that the files in `deploy/` allow. */
const SLOW = 70_000
const FLOOD = 700
const CONNECTIONS = 32

async function openSocket(site: Site): Promise<Socket> {
  const { hostname, port, protocol } = site.base
  const options = socketOptions(site.admin.connection)
  const host = site.admin.connection.connectTo ?? hostname
  const secure = protocol === 'https:'
  const socket = secure
    ? connectTls({
        host,
        port: Number(port || 443),
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
        ...options,
      })
    : connectPlain({ host, port: Number(port || 80), ...options })
  await once(socket, secure ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(10_000) })
  return socket
}

/** Whether the files in `deploy/` give this server limits of its own. */
async function hasLimits(site: Site): Promise<boolean> {
  const { headers } = await site.guest().ask('/')
  return !/apache|caddy/i.test([headers.server, headers.via].join(' '))
}

export const limitPromises: readonly Promised[] = [
  {
    id: 'slow-header',
    runs: 'beside',
    sentence: 'A client that never finishes its request is cut off.',
    page: PROXY,
    check: async site => {
      const socket = await openSocket(site)
      socket.on('error', () => {})
      socket.resume()
      socket.write(`GET ${site.base.pathname} HTTP/1.1\r\nHost: ${site.base.host}\r\nX-Verify: `)
      const begun = realSystem.now()
      try {
        await once(socket, 'close', { signal: AbortSignal.timeout(SLOW) })
        return kept(`after ${Math.round((realSystem.now() - begun) / 1000)} s`)
      } catch {
        return broken(
          `still open after ${SLOW / 1000} s`,
          'Limit the time for the headers of a request (client_header_timeout 15s).',
        )
      } finally {
        socket.destroy()
      }
    },
  },
  {
    id: 'flood',
    runs: 'last',
    sentence: 'The requests of one address are limited.',
    page: PROXY,
    check: async site => {
      if (/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(site.base.hostname))
        return unchecked('strangers cannot reach this address')
      if (!(await hasLimits(site)))
        return unchecked('this server has no limit of its own; limit connections in the firewall')
      const clients = Array.from({ length: CONNECTIONS }, () => site.guest())
      let sent = 0
      let refused = 0
      await Promise.all(
        clients.map(async client => {
          while (sent++ < FLOOD && refused === 0) {
            const { status } = await client.ask('auth/user').catch(() => ({ status: 429 }))
            if (status === 429 || status === 503) refused++
          }
          client.close()
        }),
      )
      return holds(
        refused > 0,
        refused > 0 ? `refused after ${sent} requests` : `${FLOOD} requests at once were all answered`,
        'Limit the requests of each address at the proxy (limit_req, limit_conn).',
      )
    },
  },
]
