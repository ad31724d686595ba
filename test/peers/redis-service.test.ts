import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { addUser, codeOf, guess } from '../support/accounts.ts'
import { type Answer, type Visitor } from '../support/http-client.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { type RedisServer, redis, startRedis } from '../support/peers/redis.ts'
import { selfSigned } from '../support/self-signed.ts'
import { ADMIN_PASSWORD, newUser, type Process, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/waiting.ts'

const SECRET = 'Redis-Secret-12'
const KEY = Buffer.alloc(32, 3).toString('base64')
const shared = redis.available() ? await startRedis({ after }) : undefined
let databases = 0

const nameOf = async (visitor: Visitor): Promise<unknown> => (await visitor.get('auth/user')).json()['user']

/** A node of a service that keeps lockouts and by default sessions in Redis. */
function startNode(
  t: TestContext,
  url: string,
  store = 'redis',
  { folder, env = {} }: { readonly folder?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Process> {
  return startProcess(t, {
    ...(folder === undefined ? {} : { folder }),
    settings: { 'service.cluster.redis.url': url, 'service.auth.token.store': store, 'service.auth.http-basic': 'on' },
    env: { SERVICE_AUTH_TOKEN_KEY: KEY, ...env },
  })
}

/** Somebody with the cookie of another visitor, at this node. */
function withCookieOf({ cookie }: Visitor, node: Process): Visitor {
  const visitor = node.visitor()
  visitor.cookie = cookie
  return visitor
}

const requireAway = (answer: Answer): void => {
  assert.deepEqual([answer.status, codeOf(answer)], [503, 'store-unavailable'], answer.text)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
}

test('a Redis that may drop logins is a warning at the start', async t => {
  if (!requirePeer(t, redis)) return
  const own = await startRedis(t, { args: ['--maxmemory-policy', 'allkeys-lru'] })
  const service = await startProcess(t, {
    settings: {
      'service.cluster.redis.url': `${own.url}0`,
      'service.auth.token.store': 'redis',
    },
    env: { SERVICE_AUTH_TOKEN_KEY: KEY },
  })
  assert.equal(await service.stop(), 0)
  const warnings = service.output().match(/set its maxmemory-policy to noeviction/g)
  assert.equal(warnings?.length, 1, service.output())
})

test('a session is valid on every node and ends on every node with the next request (D3.5)', async t => {
  if (!requirePeer(t, redis)) return
  const url = `${shared?.url}${databases++}`
  // Each with a database of its own, where admin is the same user.
  const [one, two] = await Promise.all([startNode(t, url), startNode(t, url)])
  const atOne = await one.admin()
  const atTwo = withCookieOf(atOne, two)
  assert.equal(await nameOf(atTwo), 'admin')
  const second = await two.admin()
  assert.deepEqual(
    new Set(Object.keys((await atOne.get('auth/tokens')).json())),
    new Set([atOne.cookie, second.cookie]),
  )
  assert.equal((await second.ask('auth/tokens', { method: 'DELETE', json: { token: atOne.cookie } })).status, 204)
  assert.equal(await nameOf(atOne), 'guest')
  assert.equal(await nameOf(atTwo), 'guest')
  assert.equal((await one.admin()).cookie === undefined, false)
  await second.ask('auth/tokens', { method: 'DELETE', json: { scope: 'all' } })
  assert.equal(await nameOf(second), 'guest')
})

test('of 50 parallel wrong guesses over two nodes five get 401, the rest 429, and both nodes enforce the lock (D6.2)', async t => {
  if (!requirePeer(t, redis)) return
  const url = `${shared?.url}${databases++}`
  const nodes = await Promise.all([startNode(t, url), startNode(t, url)])
  const guesses = Array.from({ length: 50 }, async (_, index) => {
    const visitor = nodes[index % 2]?.visitor()
    return (await visitor?.signIn('admin', 'Wrong-Password-99'))?.status
  })
  const statuses = await Promise.all(guesses)
  assert.deepEqual(
    [401, 429].map(wanted => statuses.filter(status => status === wanted).length),
    [5, 45],
  )
  for (const node of nodes) assert.equal((await node.visitor().signIn('admin', ADMIN_PASSWORD)).status, 429)
})

test('Redis stores no token and no password, and the log of the service has no secret', async t => {
  if (!requirePeer(t, redis)) return
  const server = await startRedis(t, { password: SECRET })
  const url = server.url.replace('//', `//:${encodeURIComponent(SECRET)}@`)
  const node = await startNode(t, url)
  const admin = await node.admin()
  const bob = await newUser(node, admin)
  await guess(node.visitor(), 'nobody-with-this-name', 2)
  const keys = (await server.cli('--raw', 'KEYS', '*')).split('\n')
  assert.ok(keys.some(key => key.startsWith('stowage:session:')))
  assert.ok(keys.every(key => /^stowage(-bound)?:/.test(key)))
  const values = await Promise.all(keys.map(key => server.cli('--raw', 'DUMP', key)))
  const plain = await Promise.all(keys.map(key => server.cli('--raw', 'GET', key).catch(() => '')))
  const held = [...keys, ...values, ...plain].join('\n')
  for (const secret of [admin.cookie, bob.visitor.cookie, ADMIN_PASSWORD, bob.password, KEY, 'nobody-with-this-name']) {
    assert.ok(secret)
    assert.equal(held.includes(secret), false)
  }
  await server.kill()
  requireAway(await admin.get('auth/user'))
  assert.equal(await node.stop(), 0)
  for (const secret of [SECRET, encodeURIComponent(SECRET), KEY, admin.cookie]) {
    assert.equal(node.output().includes(`${secret}`), false)
  }
})

/** Takes Redis away and brings it back. */
const outages: ReadonlyArray<
  readonly [string, (server: RedisServer) => Promise<void>, (server: RedisServer) => Promise<void>]
> = [
  ['stands still', async server => server.freeze(), async server => server.thaw()],
  ['dies', server => server.kill(), server => server.restart()],
]
for (const [what, takeAway, bringBack] of outages) {
  test(`Redis ${what}: guests can still read, logins and sessions get 503, and everything works again without a restart (D3.7)`, async t => {
    if (!requirePeer(t, redis)) return
    const server = await startRedis(t)
    const node = await startNode(t, server.url)
    const admin = await node.admin()
    const bob = await addUser(admin, 'bob')
    await takeAway(server)
    requireAway(await admin.get('auth/user'))
    requireAway(await node.visitor().signIn('admin', ADMIN_PASSWORD))
    for (let count = 0; count < 8; count++) requireAway(await node.visitor().signIn('bob', 'Wrong-Password-99'))
    requireAway(await admin.get('auth/tokens'))
    requireAway(await admin.get('auth/logout'))
    requireAway(await admin.put(`_principals/resource/${bob.id}`, { language: 'sv' }))
    const basic = Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')
    requireAway(await node.visitor().get('auth/user', { authorization: `Basic ${basic}` }))
    assert.equal(await nameOf(node.visitor()), 'guest')
    assert.equal((await node.visitor().get('_contexts/entry/_contexts')).status, 200)
    assert.equal((await admin.get('auth/user?ignoreAuth')).json()['user'], 'guest')
    assert.ok(admin.cookie, 'no answer has taken the cookie away')

    await bringBack(server)
    await until(
      () => node.visitor().signIn('admin', ADMIN_PASSWORD),
      ({ status }) => status === 200,
    )
    assert.equal((await node.visitor().signIn('bob', 'Good-Password-12')).status, 200, 'no wrong password was counted')
    // What stood still still knows the login; what died has forgotten it, and that is a guest then.
    assert.equal(await nameOf(admin), what === 'dies' ? 'guest' : 'admin')
  })
}

test('with tokens in the database, existing sessions work while Redis is away, and new logins are rejected', async t => {
  if (!requirePeer(t, redis)) return
  const server = await startRedis(t)
  const node = await startNode(t, server.url, 'database')
  const admin = await node.admin()
  const bob = await addUser(admin, 'bob')
  await server.kill()
  assert.equal(await nameOf(admin), 'admin')
  assert.equal((await admin.get(`_principals/entry/${bob.id}`)).status, 200)
  assert.equal((await admin.get(`_principals/resource/${bob.id}`)).status, 200)
  assert.equal((await admin.put(`_principals/resource/${bob.id}`, { language: 'sv' })).status, 204)
  requireAway(await node.visitor().signIn('bob', 'Good-Password-12'))
  requireAway(await admin.get('management/lockouts'))
  assert.equal((await admin.get('auth/logout')).status, 204)
  assert.equal(await node.stop(), 0)
})

test('during an outage under load every response is correct or 503, and none is that of a guest', async t => {
  if (!requirePeer(t, redis)) return
  const server = await startRedis(t)
  const node = await startNode(t, server.url)
  const admin = await node.admin()
  const seen = new Map<string, number>()
  const stopped = new AbortController()
  const reader = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const answer = await admin.get('auth/user')
      const what = answer.status === 200 ? String(answer.json()['user']) : `${answer.status} ${String(codeOf(answer))}`
      seen.set(what, (seen.get(what) ?? 0) + 1)
    }
  }
  const readers = Array.from({ length: 8 }, reader)
  for (let round = 0; round < 2; round++) {
    const before = seen.get('503 store-unavailable') ?? 0
    server.freeze()
    await until(
      () => seen.get('503 store-unavailable') ?? 0,
      count => count > before + 20,
    )
    server.thaw()
    const right = seen.get('admin') ?? 0
    await until(
      () => seen.get('admin') ?? 0,
      count => count > right + 100,
    )
  }
  stopped.abort()
  await Promise.all(readers)
  assert.deepEqual(new Set(seen.keys()), new Set(['admin', '503 store-unavailable']))
})

test('sessions in Redis survive a restart of the service; ended sessions stay ended', async t => {
  if (!requirePeer(t, redis)) return
  const url = `${shared?.url}${databases++}`
  const first = await startNode(t, url)
  const [kept, ended] = [await first.admin(), await first.admin()]
  const cookie = ended.cookie
  await ended.get('auth/logout')
  assert.equal(await first.stop(), 0)
  const second = await startNode(t, url, 'redis', { folder: first.folder })
  assert.equal(await nameOf(withCookieOf(kept, second)), 'admin')
  ended.cookie = cookie
  assert.equal(await nameOf(withCookieOf(ended, second)), 'guest')
})

test('a start with a wrong Redis password fails with a message that omits the password', async t => {
  if (!requirePeer(t, redis)) return
  const server = await startRedis(t, { password: SECRET })
  const wrong = server.url.replace('//', '//:wrong-secret@')
  await assert.rejects(startNode(t, wrong), (error: unknown) => {
    assert.match(String(error), new RegExp(`Redis at 127\\.0\\.0\\.1:${server.port}/ cannot be used: WRONGPASS`))
    assert.doesNotMatch(String(error), /wrong-secret/)
    return true
  })
})

test('rediss: a trusted certificate is accepted, an untrusted one stops the start', async t => {
  if (!requirePeer(t, redis)) return
  const folder = await temporaryFolder()
  const { key, cert } = selfSigned()
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await writeFile(certFile, cert)
  await writeFile(keyFile, key)
  const port = await freePort()
  const tls = ['--tls-port', String(port), '--tls-cert-file', certFile, '--tls-key-file', keyFile]
  await startRedis(t, { args: [...tls, '--tls-auth-clients', 'no'] })
  const url = `rediss://127.0.0.1:${port}/`
  await assert.rejects(startNode(t, url), /cannot be used: .*self-signed/)
  const node = await startNode(t, url, 'redis', { env: { NODE_EXTRA_CA_CERTS: certFile } })
  assert.equal(await nameOf(await node.admin()), 'admin')
})
