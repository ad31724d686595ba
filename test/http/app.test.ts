import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import { Forbidden } from '../../src/base/errors.ts'
import type { Log } from '../../src/base/log.ts'
import { createApp } from '../../src/http/app.ts'
import { BaseAddress } from '../../src/http/base-address.ts'
import type { AppServices, HttpOptions } from '../../src/http/services.ts'
import { FakeSystem } from '../support/fake-system.ts'

const nora: Caller = {
  ...guestFrom({ address: '', userAgent: '' }),
  user: { ...guestFrom({ address: '', userAgent: '' }).user, id: '7', name: 'nora' },
}

/** The application over services that are empty but for what the steps of a request use. Users sign in by HTTP Basic. */
function newApp(options: Partial<HttpOptions> = {}, base = 'https://store.example.org/a/', contentOrigin?: object) {
  const system = new FakeSystem()
  const logged: unknown[][] = []
  const answered: unknown[] = []
  const clients: unknown[] = []
  const spaceAsked: string[] = []
  const state = { isDraining: false, isInfo: true, factor: async (): Promise<void> => undefined }
  const services = {
    system,
    contentOrigin,
    cache: { during: (request: () => unknown) => request() },
    sso: {},
    ledger: { enforced: false },
    readiness: {
      get isDraining() {
        return state.isDraining
      },
    },
    log: {
      info: (...given: unknown[]) => logged.push(given),
      error: (...given: unknown[]) => logged.push(given),
      isLevelEnabled: (level: string) => level === 'info' && state.isInfo,
    } as unknown as Log,
    slowRequests: { note: () => undefined },
    metrics: { answered: (given: unknown) => answered.push(given), refused: () => undefined },
    factorPolicy: { requirePresent: () => state.factor(), isMissing: () => false },
    requireSpace: () => void spaceAsked.push('asked'),
    basic: {
      user: async (_credentials: unknown, client: unknown) => {
        clients.push(client)
        return { user: nora.user, groups: new Set() }
      },
    },
  } as unknown as AppServices
  const app = createApp(services, {
    address: { base: new BaseAddress(base) },
    trustedProxies: ['127.0.0.1'],
    clientAddressHeader: 'x-forwarded-for',
    cookie: { path: '/', httpOnly: true, secure: true, sameSite: 'lax', hostPrefix: false },
    cspReportUrl: undefined,
    clearSiteData: 'off',
    invalidTokenIsError: false,
    inlineTypes: [],
    body: { idleTimeout: 1000, minimumRate: 1, maxJson: 1000, memory: 1000 },
    cors: { enabled: false, origins: [], maxAge: 5 },
    jsonp: true,
    search: { maxLimit: 100 },
    contact: undefined,
    metricsToken: undefined,
    version: '0',
    repositoryType: 'sqlite',
    ...options,
  })
  return { app, system, logged, answered, clients, spaceAsked, state }
}

const basic = { authorization: `Basic ${Buffer.from('nora:secret').toString('base64')}` }
const common = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}
const https = { ...common, 'strict-transport-security': 'max-age=31536000' }
type App = ReturnType<typeof newApp>['app']

/** What the headers of an answer have in common with all others, and its problem. */
async function ask(app: App, method: string, url: string, headers: Record<string, string> = {}) {
  const answer = await app.inject({ method: method as 'GET', url: `/a${url}`, headers })
  const body = answer.body.startsWith('{') ? (JSON.parse(answer.body) as Record<string, unknown>) : {}
  return { status: answer.statusCode, headers: answer.headers, code: body['code'], detail: body['detail'], body }
}

const only = (headers: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)))

test('each answer has the common headers and a number of its own; over https browsers stay there (D1.6)', async () => {
  for (const [base, expected] of [
    ['https://store.example.org/a/', https],
    ['http://localhost/a/', common],
  ] as const) {
    const { app } = newApp({}, base)
    const ids: string[] = []
    for (const url of ['/nothing/at/all', '/auth/user', '/%zz', '/auth/nothing']) {
      const { headers } = await ask(app, 'GET', url)
      assert.deepEqual(only(headers, Object.keys(https)), expected, url)
      ids.push(String(headers['x-request-id']))
    }
    const [prefix] = ids[0]?.split('-') ?? []
    assert.match(prefix ?? '', /^[0-9a-f]{8}$/)
    assert.deepEqual(
      ids,
      [1, 2, 3, 4].map(number => `${prefix}-${number}`),
    )
  }
})

test('idle connections outlive those of the usual proxies, and no upload has a limit as a whole', () => {
  const { server } = newApp().app
  assert.deepEqual([server.keepAliveTimeout, server.headersTimeout, server.requestTimeout], [75_000, 60_000, 0])
  assert.deepEqual([server.maxConnections, server.maxRequestsPerSocket], [10_000, 10_000])
})

test('unknown addresses, methods and characters are refused, each in its own words', async () => {
  const { app } = newApp()
  const of = async (method: string, url: string) => {
    const { status, code, detail } = await ask(app, method, url)
    return [status, code, detail]
  }
  const nothing = [404, 'not-found', 'There is nothing at this address.']
  assert.deepEqual(await of('GET', '/nothing/at/all'), nothing)
  assert.deepEqual(await of('PROPFIND', '/nothing/at/all'), nothing)
  const nul = [400, 'bad-request', 'The address contains a NUL character.']
  assert.deepEqual(await of('GET', '/auth/user?x=%00'), nul)
  assert.equal((await of('GET', '/auth/user?x=%zz'))[1], 'invalid-query')
  for (const method of ['PROPFIND', 'DELETE']) {
    const { status, headers } = await ask(app, method, '/auth/user')
    assert.deepEqual([status, headers['allow']], [405, 'GET, HEAD'], method)
  }
  const malformed = await ask(app, 'GET', '/%zz')
  assert.deepEqual([malformed.status, malformed.headers['cache-control']], [400, 'no-store'])
})

test('GET has HEAD beside it, with the same headers', async () => {
  const { app } = newApp()
  const [get, head] = [await ask(app, 'GET', '/auth/user'), await ask(app, 'HEAD', '/auth/user')]
  assert.deepEqual([get.status, head.status], [200, 200])
  assert.equal(head.headers['content-length'], get.headers['content-length'])
})

test('below /auth/ nothing is kept by a cache, and elsewhere nothing of users by a shared one', async () => {
  const { app } = newApp()
  const cached = async (url: string, headers = {}) => (await ask(app, 'GET', url, headers)).headers['cache-control']
  assert.deepEqual(
    [await cached('/auth/user'), await cached('/nothing/at/all'), await cached('/nothing/at/all', basic)],
    ['no-store', undefined, 'private'],
  )
  assert.equal(await cached('/%61uth/user', basic), 'no-store')
})

test('a request is counted and logged when it has been answered, without its query', async () => {
  const { app, system, logged, answered, state } = newApp()
  state.factor = async () => system.pass(1234.6)
  await ask(app, 'GET', '/nothing/at/all?secret=1', { ...basic, 'x-forwarded-for': '192.0.2.9' })
  await ask(app, 'GET', '/auth/user?secret=2')
  const [first, second] = logged as Array<[Record<string, unknown>, string]>
  const { requestId, ...line } = first?.[0] ?? {}
  assert.match(String(requestId), /^[0-9a-f]{8}-1$/)
  assert.equal(first?.[1], 'request')
  const { ms, ...rest } = line
  assert.deepEqual(rest, { method: 'GET', path: '/nothing/at/all', status: 404, user: '7', address: '192.0.2.9' })
  assert.equal(ms, 1235)
  assert.deepEqual([second?.[0]['user'], second?.[0]['path'], second?.[0]['status']], ['_guest', '/auth/user', 200])
  assert.deepEqual(answered, [
    { method: 'GET', route: undefined, status: 404, seconds: 1.2346 },
    { method: 'GET', route: '/auth/user', status: 200, seconds: 0 },
  ])
  state.isInfo = false
  await ask(app, 'GET', '/auth/user')
  assert.deepEqual([logged.length, answered.length], [2, 3])
})

test('a client is known by its address, its device and 512 characters of its name', async () => {
  const { app, clients } = newApp()
  const device = 'D'.repeat(43)
  const agent = { 'user-agent': 'x'.repeat(600), cookie: `stowage_device=${device}` }
  await ask(app, 'GET', '/auth/user', { ...basic, ...agent, 'x-forwarded-for': '192.0.2.9' })
  assert.deepEqual(clients, [{ address: '192.0.2.9', userAgent: 'x'.repeat(512), device }])
})

test('a request with ignoreAuth has no login (I4)', async () => {
  const cookie = { cookie: `auth_token=${'A'.repeat(43)}` }
  const { app } = newApp()
  // The services have no sessions, so the login of a cookie cannot even be looked up.
  assert.equal((await ask(app, 'GET', '/auth/user', cookie)).status, 500)
  assert.equal((await ask(app, 'GET', '/auth/user?ignoreAuth', cookie)).status, 200)
})

test('a page of another site changes nothing for a user; the own pages and trusted ones do (D2.9)', async () => {
  const { app } = newApp({ cors: { enabled: true, origins: ['https://app.example.org'], maxAge: 5 } })
  const code = async (method: string, origin: string, headers = {}) =>
    (await ask(app, method, '/nothing', { origin, ...headers })).code
  assert.equal(await code('PUT', 'https://evil.example', basic), 'cross-site-request')
  for (const origin of ['https://store.example.org', 'https://app.example.org'])
    assert.notEqual(await code('PUT', origin, basic), 'cross-site-request', origin)
  assert.notEqual(await code('PUT', 'https://evil.example'), 'cross-site-request', 'a guest has nothing to lose')
  assert.equal((await ask(app, 'POST', '/auth/cookie', { origin: 'https://evil.example' })).code, 'cross-site-request')
})

test('a preflight is answered at once, and each answer says what other origins may read', async () => {
  const { app } = newApp({ cors: { enabled: true, origins: ['https://app.example.org'], maxAge: 5 } })
  const origin = 'https://app.example.org'
  const preflight = await ask(app, 'OPTIONS', '/auth/user', { origin, 'access-control-request-method': 'PUT' })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers['access-control-max-age'], '5')
  for (const { headers } of [preflight, await ask(app, 'GET', '/auth/user', { origin })])
    assert.equal(headers['access-control-allow-origin'], origin)
  assert.equal((await ask(app, 'OPTIONS', '/auth/user', { origin })).status, 405)
})

test('what adds rows needs space on the disk; signing in and reading need none', async () => {
  const { app, spaceAsked } = newApp()
  const asks = async (method: string, url: string) => {
    spaceAsked.length = 0
    await ask(app, method, url, basic)
    return spaceAsked.length
  }
  for (const [method, url] of [
    ['POST', '/nothing'],
    ['PUT', '/nothing/entry/1'],
  ] as const)
    assert.equal(await asks(method, url), 1, `${method} ${url}`)
  for (const [method, url] of [
    ['GET', '/nothing/entry/1'],
    ['DELETE', '/nothing/entry/1'],
    ['PUT', '/auth/user'],
    ['POST', '/echo'],
    ['POST', '/validator'],
  ] as const)
    assert.equal(await asks(method, url), 0, `${method} ${url}`)
})

test('a user without the factor that they must have gets no further, but to where they can add one (D28.9)', async () => {
  const { app, state } = newApp()
  state.factor = () => Promise.reject(new Forbidden('second-factor-missing', 'Add one first.'))
  assert.equal((await ask(app, 'GET', '/nothing/entry/1', basic)).code, 'second-factor-missing')
  assert.equal((await ask(app, 'GET', '/auth/user', basic)).status, 200)
})

test('while the service drains, connections close with their answer', async () => {
  const { app, state } = newApp()
  assert.notEqual((await ask(app, 'GET', '/auth/user')).headers['connection'], 'close')
  state.isDraining = true
  assert.equal((await ask(app, 'GET', '/auth/user')).headers['connection'], 'close')
})

test('violations of the policy are reported where the settings say, whatever characters that address has', async () => {
  const { app } = newApp({ cspReportUrl: 'https://reports.example/a;b,c?d' })
  for (const url of ['/auth/user', '/nothing/at/all']) {
    assert.equal(
      (await ask(app, 'GET', url)).headers['content-security-policy'],
      "default-src 'none'; frame-ancestors 'none'; report-uri https://reports.example/a%3Bb%2Cc?d",
    )
  }
})

test('a browser that opens the address of a form gets its page; programs get the methods', async () => {
  const { app } = newApp()
  const opened = await ask(app, 'GET', '/auth/cookie', { accept: 'text/html' })
  assert.deepEqual([opened.status, opened.headers.location], [303, 'https://store.example.org/a/auth/login'])
  for (const [method, url, headers] of [
    ['GET', '/auth/cookie', { accept: 'application/json' }],
    ['DELETE', '/auth/cookie', { accept: 'text/html' }],
    ['DELETE', '/auth/user', { accept: 'text/html' }],
  ] as const)
    assert.equal((await ask(app, method, url, headers)).status, 405, `${method} ${url}`)
})

test('at the origin of active files nobody is recognised, and no address is logged', async () => {
  const content = new BaseAddress('https://content.example.org/')
  const contentOrigin = { isAt: (host: string | undefined) => host === 'content.example.org', base: content }
  const { app, clients, logged } = newApp({}, undefined, contentOrigin)
  const at = async (host: string) => {
    const answer = await app.inject({ method: 'GET', url: '/a/nothing/at/all', headers: { ...basic, host } })
    return answer.statusCode
  }
  assert.equal(await at('content.example.org'), 404)
  assert.equal(clients.length, 0)
  assert.equal(await at('store.example.org'), 404)
  assert.equal(clients.length, 1)
  const paths = (logged as Array<[Record<string, unknown>]>).map(([{ path, user }]) => [path, user])
  assert.deepEqual(paths, [
    ['', '_guest'],
    ['/nothing/at/all', '7'],
  ])
})

test('a response whose headers cannot be written is answered with 500', async () => {
  const { app } = newApp()
  app.get('/broken', (_request, reply) => reply.header('x-broken', 'two\nlines').send('text'))
  await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    assert.equal((await fetch(new URL('/broken', app.listeningOrigin))).status, 500)
  } finally {
    await app.close()
  }
})
