import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { serviceResponse, startFakeCas } from '../support/fake-cas.ts'
import { listen } from '../support/listener.ts'
import { type Pinned, pinToEach } from '../support/pinned.ts'
import { type Process, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { eventually } from '../support/waiting.ts'

const THREADS = 2
const skip = onPostgres && 'there each process has one thread'
const threadSettings = { 'service.http.threads': String(THREADS) }

/** As many connections, the same number to each thread. */
async function pinned(t: TestContext, service: Process, count: number): Promise<readonly Pinned[]> {
  const connections: Pinned[] = []
  t.after(() => {
    for (const connection of connections) connection.close()
  })
  while (connections.length < count) connections.push(...(await pinToEach(service, THREADS)))
  return connections
}

/** Responses that a server has not sent yet. */
class Held {
  readonly #answer: (response: ServerResponse) => void
  readonly #responses = new Set<ServerResponse>()
  /** The highest number at once. */
  most = 0
  /** What was asked for, in this order. */
  readonly names: string[] = []

  constructor(answer: (response: ServerResponse) => void) {
    this.#answer = answer
  }

  get size(): number {
    return this.#responses.size
  }

  add(response: ServerResponse, name: string): void {
    this.names.push(name)
    this.#responses.add(response)
    this.most = Math.max(this.most, this.size)
    response.on('close', () => this.#responses.delete(response))
  }

  answerOne(): void {
    const [first] = this.#responses
    if (!first) return
    this.#responses.delete(first)
    this.#answer(first)
  }

  answerAll(): void {
    while (this.size > 0) this.answerOne()
  }
}

/** Statuses in the order of the answers; a client that leaves gets none. */
function noted(requests: ReadonlyArray<Promise<{ readonly status: number }>>) {
  const statuses: number[] = []
  let ended = 0
  for (const request of requests) {
    request
      .then(
        ({ status }) => statuses.push(status),
        () => undefined,
      )
      .finally(() => ended++)
  }
  return { statuses, isOver: () => ended === requests.length }
}

/** What one caller of the proxy may have running and waiting in the process. */
const FETCHES = { running: 3, waiting: 32 }

test('a caller of the proxy has one share of its places, whichever threads the requests come to (D35.28)', {
  skip,
}, async t => {
  const held = new Held(response => response.writeHead(200, { 'content-type': 'text/plain' }).end('here'))
  const server = await listen(t, ({ url }, response) => held.add(response, url.pathname))
  const service = await startProcess(t, {
    settings: { ...threadSettings, 'service.proxy.private-hosts.1': new URL(server.origin).host },
  })
  const { cookie } = await service.admin()
  const fetch = (connection: Pinned, name: string) =>
    connection.ask(`proxy?url=${encodeURIComponent(`${server.origin}/${name}`)}`, { cookie })
  const connections = await pinned(t, service, FETCHES.running + FETCHES.waiting + 1)
  const requests = noted(connections.map((connection, n) => fetch(connection, String(n))))
  await eventually('all places are taken', () => requests.statuses.length > 0 || held.size > FETCHES.running)
  await eventually('the first places are used', () => held.size >= FETCHES.running)
  assert.deepEqual([requests.statuses[0], held.most], [503, FETCHES.running])
  // Clients that leave while their document is fetched, or while they wait, give up their places.
  for (const connection of connections.slice(0, connections.length / 2)) connection.close()
  await eventually('the others are answered', () => {
    held.answerAll()
    return requests.isOver()
  })
  const others = new Set(requests.statuses)
  others.delete(503)
  assert.deepEqual([...others], [200])
  // No permit has been lost or given back twice. The end of an aborted request may have been noticed after the next one came.
  held.most = 0
  const later = noted(connections.slice(connections.length / 2).map(connection => fetch(connection, 'later')))
  await eventually('all permits are used again', () => held.size === FETCHES.running)
  await eventually('they are answered', () => {
    held.answerAll()
    return later.isOver()
  })
  assert.deepEqual([new Set(later.statuses), held.most], [new Set([200]), FETCHES.running])
})

/** Checks of sign-ons that run and wait in the process, for one provider. */
const SIGN_ONS = { running: 32, waiting: 128 }
const behindProxy = { ...threadSettings, 'service.http.trusted-proxies.1': '127.0.0.1/32' }
const FLOODER = '192.0.2.7'
const OTHER = '198.51.100.1'
const json = { 'content-type': 'application/json' }

/** Begins a login. Returns how the browser comes back, with this network as its ticket or code. */
type Leave = (connection: Pinned, network: string) => Promise<() => ReturnType<Pinned['ask']>>

async function requireOneLimit(t: TestContext, service: Process, held: Held, leave: Leave): Promise<void> {
  const places = SIGN_ONS.running + SIGN_ONS.waiting
  const connections = await pinned(t, service, places + THREADS)
  const returns = []
  for (const connection of connections.slice(0, places + 1)) returns.push(await leave(connection, FLOODER))
  const last = connections[places + 1]
  assert.ok(last)
  const other = await leave(last, OTHER)
  const requests = noted(returns.map(comeBack => comeBack()))
  await eventually('all places are taken', () => requests.statuses.length > 0 || held.size > SIGN_ONS.running)
  await eventually('the first places are used', () => held.size >= SIGN_ONS.running)
  assert.deepEqual([requests.statuses, held.most], [[503], SIGN_ONS.running])
  // A ticket of another network takes the place of one that waits, and each network has a turn.
  const answer = noted([other()])
  await eventually('one of the first network has lost its place', () => requests.statuses.length === 2)
  for (let turn = 1; turn <= 2; turn++) {
    held.answerOne()
    await eventually('the next one is checked', () => held.names.length === SIGN_ONS.running + turn)
  }
  assert.deepEqual(new Set(held.names.slice(SIGN_ONS.running)), new Set([FLOODER, OTHER]))
  await eventually('all are answered', () => {
    held.answerAll()
    return requests.isOver() && answer.isOver()
  })
  assert.deepEqual(
    requests.statuses.map(status => status === 503),
    requests.statuses.map((_, n) => n < 2),
  )
  assert.deepEqual([answer.statuses.includes(503), held.most], [false, SIGN_ONS.running])
}

const cookieOf = (name: string, headers: { readonly 'set-cookie'?: readonly string[] | undefined }): string =>
  `${name}=${new RegExp(`^${name}=([^;]*)`, 'm').exec((headers['set-cookie'] ?? []).join('\n'))?.[1] ?? ''}`

test('the limit on CAS tickets and the turns of networks are those of the process (D35.28)', { skip }, async t => {
  const cas = await startFakeCas(t)
  const held = new Held(response => response.end(serviceResponse(undefined)))
  cas.misbehave = (response, { query }) => held.add(response, query.get('ticket')?.slice('ST-'.length) ?? '')
  const service = await startProcess(t, {
    settings: { ...behindProxy, 'service.auth.cas': 'on', 'service.auth.cas.server.url': cas.url },
  })
  await requireOneLimit(t, service, held, async (connection, network) => {
    const headers = { 'x-forwarded-for': network }
    const left = await connection.ask('auth/cas', { headers })
    const cookie = cookieOf('stowage_cas', left.headers)
    return () => connection.ask(`auth/cas?ticket=ST-${network}`, { headers: { ...headers, cookie } })
  })
})

test('the limit on OpenID Connect codes and the turns of networks are those of the process (D35.28)', {
  skip,
}, async t => {
  const held = new Held(response => response.writeHead(400, json).end('{"error":"invalid_grant"}'))
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = await listen(t, ({ url, form }, response) => {
    const { origin } = url
    if (url.pathname === '/token') held.add(response, form['code'] ?? '')
    else if (url.pathname === '/jwks') {
      response
        .writeHead(200, json)
        .end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a' }] }))
    } else {
      response.writeHead(200, json).end(
        JSON.stringify({
          issuer: origin,
          authorization_endpoint: `${origin}/login`,
          token_endpoint: `${origin}/token`,
          jwks_uri: `${origin}/jwks`,
        }),
      )
    }
  })
  const service = await startProcess(t, {
    settings: {
      ...behindProxy,
      'service.auth.oidc': 'on',
      'service.auth.oidc.idps.1': 'op',
      'service.auth.oidc.default-idp': 'op',
      'service.auth.oidc.idp.op.issuer': provider.origin,
      'service.auth.oidc.idp.op.client-id': 'stowage',
      'service.auth.oidc.idp.op.client-secret': 'secret',
    },
  })
  await requireOneLimit(t, service, held, async (connection, network) => {
    const headers = { 'x-forwarded-for': network }
    const left = await connection.ask('auth/oidc', { headers })
    const state = new URL(left.headers.location ?? '').searchParams.get('state') ?? ''
    const cookie = cookieOf('stowage_oidc', left.headers)
    const query = new URLSearchParams({ code: network, state }).toString()
    return () => connection.ask(`auth/oidc/callback?${query}`, { headers: { ...headers, cookie } })
  })
})
