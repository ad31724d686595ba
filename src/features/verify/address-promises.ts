import { realSystem } from '../../base/system.ts'
import { connect as connectHttp2, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { type Client, Client as NewClient, socketOptions, tell } from './client.ts'
import { broken, CannotCheck, holds, kept, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import { isOwn, type Site } from './site.ts'

const PROXY = 'how-to/reverse-proxy.md'
const PLAIN_PORT = 80
/** Days before the end of a certificate from which on it is reported. */
const CERTIFICATE_DAYS = 14
const DAY = 86_400_000

/** Opens TLS to the proxy. */
async function openTls(site: Site, options: ConnectionOptions = {}): Promise<TLSSocket> {
  if (!site.isSecure) throw new CannotCheck('the base address is http')
  const { hostname, port } = site.base
  const socket = connectTls({
    host: site.admin.connection.connectTo ?? hostname,
    port: Number(port || 443),
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...socketOptions(site.admin.connection),
    ...options,
  })
  await once(socket, 'secureConnect', { signal: AbortSignal.timeout(10_000) })
  return socket
}

/** The proxy without TLS. @throws {CannotCheck} */
function plain(site: Site): Client {
  if (!site.isSecure) throw new CannotCheck('the base address is http')
  if (site.base.port !== '') throw new CannotCheck('the base address has a port, so nothing is known of port 80')
  const url = new URL(site.base)
  url.protocol = 'http:'
  url.port = String(PLAIN_PORT)
  return new NewClient(url, site.admin.connection)
}

async function overHttp2(site: Site, paths: readonly string[]): Promise<readonly number[]> {
  const socket = await openTls(site, { ALPNProtocols: ['h2', 'http/1.1'] })
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy()
    throw new CannotCheck('the proxy does not offer HTTP/2')
  }
  const session = connectHttp2(site.base.origin, { createConnection: () => socket })
  try {
    return await Promise.all(
      paths.map(async path => {
        const stream = session.request({
          [constants.HTTP2_HEADER_PATH]: site.base.pathname + path,
          cookie: `auth_token=${site.admin.session ?? ''}`,
          ...(site.admin.token === undefined ? {} : { authorization: `Bearer ${site.admin.token}` }),
        })
        const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & IncomingHttpStatusHeader]
        stream.resume()
        await once(stream, 'close')
        return headers[':status'] ?? 0
      }),
    )
  } finally {
    session.destroy()
  }
}

const PICTURES = 60

export const addressPromises: readonly Promised[] = [
  {
    id: 'responds',
    sentence: 'The service responds at its base address.',
    page: 'reference/metrics-and-logs.md#health',
    check: async site => {
      const answer = await site.guest().ask('management/health')
      return holds(answer.status === 200, tell(answer), 'Check the address, the proxy and the service.')
    },
  },
  {
    id: 'ready',
    sentence: '`/management/ready` is 200 while the database responds and the disk accepts data.',
    page: 'reference/metrics-and-logs.md#health',
    check: async site => {
      const answer = await site.guest().ask('management/ready')
      return holds(
        answer.status === 200,
        tell(answer),
        'Read the log of the service: a store does not respond, or it is being stopped.',
      )
    },
  },
  {
    id: 'base-address',
    sentence: 'The base address is that which browsers use.',
    page: PROXY,
    check: async site => {
      const { baseURI } = await site.status()
      return holds(
        baseURI === site.base.href,
        `the service calls itself ${baseURI}`,
        `Set service.baseurl.folder = ${site.base.href}`,
      )
    },
  },
  {
    id: 'base-in-responses',
    sentence: 'Every URI in a response begins with the base address, whatever `Host` a request names.',
    page: PROXY,
    check: async site => {
      const forged = {
        'x-forwarded-host': 'forged.example',
        'x-forwarded-proto': 'gopher',
        forwarded: 'host=forged.example',
      }
      const answer = await site.admin.ask(await site.context(), { method: 'POST', json: {}, headers: forged })
      const { location = '' } = answer.headers
      return holds(
        location.startsWith(site.base.href),
        `a new entry is at ${location || tell(answer)}`,
        'Set service.baseurl.folder, and let the proxy pass Location on unchanged.',
      )
    },
  },
  {
    id: 'root-leads-on',
    sentence: 'An address outside the base path leads to the base path.',
    page: PROXY,
    check: async site => {
      if (site.base.pathname === '/') return unchecked('the base address has no path')
      const answer = await site.guest().ask('/')
      const { location = '' } = answer.headers
      const leads =
        answer.status >= 301 && answer.status <= 308 && new URL(location, site.base).pathname === site.base.pathname
      return holds(
        leads,
        `${answer.status} ${location}`.trim(),
        'Redirect / to the base path, as the files in deploy/ do.',
      )
    },
  },
  {
    id: 'http-leads-to-https',
    sentence: 'Somebody who opens the address with http is led to https.',
    page: PROXY,
    check: async site => {
      const answer = await plain(site)
        .ask('')
        .catch(() => undefined)
      if (!answer) return unchecked('port 80 does not respond')
      const { location = '' } = answer.headers
      return holds(
        location.startsWith(site.base.origin),
        `${answer.status} ${location}`.trim(),
        'Redirect http to https for the first page.',
      )
    },
  },
  {
    id: 'no-password-over-http',
    sentence: 'A program that sends a password over http is refused.',
    page: PROXY,
    check: async site => {
      const form = { auth_username: 'verify', auth_password: 'not-a-password' }
      const answer = await plain(site)
        .ask('auth/cookie', { form })
        .catch(() => undefined)
      if (!answer) return unchecked('port 80 does not respond')
      return holds(
        answer.status === 403 || answer.status === 404,
        tell(answer),
        'Refuse everything but the first page on port 80.',
      )
    },
  },
  {
    id: 'certificate',
    sentence: 'The certificate of the address is valid.',
    page: PROXY,
    check: async site => {
      if (!site.isSecure) return unchecked('the base address is http')
      const socket = await openTls(site)
      const { valid_to } = socket.getPeerCertificate()
      socket.destroy()
      const days = Math.floor((Date.parse(valid_to) - realSystem.now()) / DAY)
      return holds(days >= CERTIFICATE_DAYS, `it ends in ${days} days`, 'Renew the certificate.')
    },
  },
  {
    id: 'old-tls',
    sentence: 'TLS is at least 1.2.',
    page: PROXY,
    check: async site => {
      if (!site.isSecure) return unchecked('the base address is http')
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      try {
        const socket = await openTls(site, old)
        const version = socket.getProtocol()
        socket.destroy()
        return broken(
          `a connection by ${version} was accepted`,
          'Allow TLS 1.2 and 1.3 only, for instance ssl_protocols TLSv1.2 TLSv1.3;',
        )
      } catch {
        return kept('TLS 1.1 is refused')
      }
    },
  },
  {
    id: 'hsts',
    sentence: 'With an https address, every response tells browsers to stay with https.',
    page: 'reference/behaviour.md',
    check: async site => {
      if (!site.isSecure) return unchecked('the base address is http')
      const answers = [await site.guest().ask('auth/user'), await site.guest().ask('verify-nothing/entry/1')]
      const missing = answers.find(({ headers }) => !/max-age=[1-9]/.test(headers['strict-transport-security'] ?? ''))
      return holds(
        !missing,
        missing ? `${tell(missing)} has no Strict-Transport-Security` : 'Strict-Transport-Security',
        'Let the proxy pass the header on.',
      )
    },
  },
  {
    id: 'http2',
    sentence: 'HTTP/2 is answered like HTTP/1.1.',
    page: PROXY,
    check: async site => {
      const [status = 0] = await overHttp2(site, ['auth/user'])
      return holds(status === 200, `HTTP/2: ${status}`, 'Read the log of the proxy.')
    },
  },
  {
    id: 'pictures-http2',
    sentence: 'A page with 60 pictures is not refused over HTTP/2.',
    page: PROXY,
    check: async site => {
      const { path } = await site.file()
      const statuses = await overHttp2(
        site,
        Array.from({ length: PICTURES }, () => path),
      )
      const refused = statuses.filter(status => status !== 200)
      return holds(
        refused.length === 0,
        `${refused.length} of ${PICTURES} were refused${refused[0] ? ` with ${refused[0]}` : ''}`,
        'Raise the limits on requests of one address.',
      )
    },
  },
  {
    id: 'pictures',
    sentence: 'A page with 60 pictures is not refused.',
    page: PROXY,
    check: async site => {
      const { path } = await site.file()
      const answers = await Promise.all(Array.from({ length: PICTURES }, () => site.admin.ask(path)))
      const refused = answers.filter(({ status }) => status !== 200)
      return holds(
        refused.length === 0,
        `${refused.length} of ${PICTURES} were refused${refused[0] ? ` with ${tell(refused[0])}` : ''}`,
        'Raise the limits on requests and connections of one address.',
      )
    },
  },
  {
    id: 'own-errors',
    sentence: 'A refusal comes from the service, with its stable code.',
    page: 'errors.md',
    check: async site => {
      const answer = await site.admin.ask('verify-nothing/entry/1')
      return holds(
        isOwn(answer) && answer.status === 404,
        tell(answer),
        'Let the proxy pass errors on, without pages of its own (proxy_intercept_errors off).',
      )
    },
  },
  {
    id: 'security-headers',
    sentence: 'Every response has the security headers.',
    page: 'reference/behaviour.md',
    check: async site => {
      const { headers } = await site.guest().ask('auth/login', { headers: { accept: 'text/html' } })
      const missing = ['content-security-policy', 'x-content-type-options', 'referrer-policy'].filter(
        name => !headers[name],
      )
      return holds(
        missing.length === 0,
        missing.length === 0 ? 'all are there' : `missing: ${missing.join(', ')}`,
        'Let the proxy pass these headers on.',
      )
    },
  },
  {
    id: 'trace',
    sentence: 'The method TRACE sends nothing back.',
    page: 'security.md',
    check: async site => {
      const answer = await site
        .guest()
        .ask('auth/user', { method: 'TRACE', headers: { 'x-verify': 'secret-of-verify' } })
      return holds(
        !answer.text.includes('secret-of-verify'),
        tell(answer),
        'Refuse TRACE at the proxy (Apache: TraceEnable off).',
      )
    },
  },
  {
    id: 'clock',
    sentence: 'The clocks of the service and of this machine agree within 30 seconds.',
    page: 'how-to/several-nodes.md',
    check: async site => {
      const before = realSystem.now()
      const answer = await site.guest().ask('auth/user')
      const off = Math.round((Date.parse(answer.headers.date ?? '') - (before + realSystem.now()) / 2) / 1000)
      return holds(
        Math.abs(off) <= 30,
        `the service is ${off} s ahead`,
        'Synchronise the clocks, for instance with chrony.',
      )
    },
  },
]
