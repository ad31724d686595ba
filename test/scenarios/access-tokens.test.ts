import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { tokenText } from '../../src/features/tokens/access-tokens.ts'
import { sql } from '../../src/stores/sql.ts'
import { basicAuth, codeOf, openStore, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

const settings = { 'service.data.quota': 'on', 'service.http.trusted-proxies.1': '127.0.0.1/32' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()

interface Wish {
  readonly name?: unknown
  readonly expires?: unknown
  readonly scopes?: unknown
  readonly contexts?: unknown
  readonly addresses?: unknown
}
interface Created {
  readonly id: string
  readonly token: string
}

const inDays = (days: number): string => new Date(service.system.now() + days * 86_400_000).toISOString()
const create = (owner: Visitor, wish: Wish = {}): Promise<Answer> =>
  owner.post('auth/access-tokens', { name: 'import', expires: inDays(30), scopes: ['write'], ...wish })
async function created(owner: Visitor, wish: Wish = {}): Promise<Created> {
  const answer = await create(owner, wish)
  assert.equal(answer.status, 201, answer.text)
  return answer.json<Created>()
}
const bearer = (token: string): { readonly authorization: string } => ({ authorization: `Bearer ${token}` })
const withToken = (token: string, path: string, method = 'GET', json?: unknown, headers = {}): Promise<Answer> =>
  service.visitor().ask(path, { method, json, headers: { ...bearer(token), ...headers } })
const userOf = async (answer: Promise<Answer>): Promise<unknown> => (await answer).json()['user']
const listed = async (owner: Visitor, query = ''): Promise<ReadonlyArray<Record<string, unknown>>> =>
  (await owner.get(`auth/access-tokens${query}`)).json<ReadonlyArray<Record<string, unknown>>>()

const anna = await newUser(service, admin)
const context = await newContext(admin, [anna.id])
const entry = await newEntry(anna.visitor, context)
const other = await newContext(admin, [anna.id])
const otherEntry = await newEntry(anna.visitor, other)

test('a token is shown once, stored as a digest, and sent as bearer token or as the password of HTTP Basic (D24.1, D24.2, D24.3)', async t => {
  const { id, token } = await created(anna.visitor)
  assert.match(token, /^stow_[0-9A-Za-z]{49}$/)
  assert.equal(await userOf(withToken(token, 'auth/user')), anna.name)
  for (const name of [anna.name, anna.name.toUpperCase(), '']) {
    assert.equal(await userOf(service.visitor().get('auth/user', basicAuth(name, token))), anna.name, name)
  }
  const others = await service.visitor().get('auth/user', basicAuth('admin', token))
  assert.deepEqual([others.status, codeOf(others)], [401, 'invalid-access-token'])
  const inQuery = await service.visitor().get(`auth/user?access_token=${token}&token=${token}`)
  assert.equal(inQuery.json()['user'], 'guest')
  const byForm = await service.visitor().signIn(anna.name, token)
  assert.equal(byForm.status, 401, 'a token is no password')
  const [first] = await listed(anna.visitor)
  assert.equal(first?.['id'], id)
  assert.doesNotMatch(JSON.stringify(await listed(anna.visitor)), /stow_/)
  const database = await openStore(t, service)
  const rows = await database.all(sql`SELECT * FROM access_tokens WHERE id = ${id}`)
  assert.equal(rows.length, 1)
  assert.ok(!JSON.stringify(rows).includes(token.slice(5, 48)))
  const audit = (await admin.get('management/audit?event=access-token-created')).text
  assert.ok(audit.includes(id) && !audit.includes(token))
})

test('name, expiry and scopes are required, and the expiry has a maximum (D24.1)', async () => {
  const wrong: readonly Wish[] = [
    { name: '' },
    { name: 'a\u0000b' },
    { name: 'x'.repeat(101) },
    { name: undefined },
    { expires: undefined },
    { expires: inDays(-1) },
    { expires: inDays(400) },
    { expires: 'never' },
    { expires: '2027-01-01T00:00:00' },
    { expires: '2027-02-30' },
    { scopes: [] },
    { scopes: ['everything'] },
    { scopes: undefined },
    { contexts: [] },
    { contexts: ['a\0b'] },
    { addresses: [] },
    { addresses: ['192.0.2.0/33'] },
    { addresses: ['example.org'] },
    { scopes: ['admin'] },
  ]
  for (const wish of wrong) assert.equal((await create(anna.visitor, wish)).status, 400, JSON.stringify(wish))
  assert.equal((await create(anna.visitor, { contexts: ['nowhere'] })).status, 404)
  assert.equal((await create(admin, { scopes: ['admin'], contexts: [context] })).status, 400)
  assert.equal((await create(service.visitor())).status, 401)
  const day = await created(anna.visitor, { expires: inDays(2).slice(0, 10) })
  assert.equal(await userOf(withToken(day.token, 'auth/user')), anna.name)
})

test('revoked, expired, or of a disabled or deleted user: a token ends with the next request (D24.6)', async () => {
  const bob = await newUser(service, admin)
  const good = async (token: string): Promise<number> => (await withToken(token, 'auth/user')).status
  const [one, two, short] = [
    await created(bob.visitor),
    await created(bob.visitor),
    await created(bob.visitor, { expires: new Date(service.system.now() + 60_000).toISOString() }),
  ]
  assert.deepEqual([await good(one.token), await good(two.token), await good(short.token)], [200, 200, 200])
  assert.equal((await anna.visitor.delete(`auth/access-tokens/${one.id}`)).status, 404, 'a token of another user')
  assert.equal((await bob.visitor.delete(`auth/access-tokens/${one.id}`)).status, 204)
  assert.deepEqual([await good(one.token), await good(two.token)], [401, 200])
  assert.equal((await bob.visitor.delete(`auth/access-tokens/${one.id}`)).status, 404)
  service.system.pass(60_000)
  assert.equal(await good(short.token), 401)
  await admin.put(userPath(bob.id), { disabled: true })
  assert.equal(await good(two.token), 401)
  await admin.put(userPath(bob.id), { disabled: false })
  assert.equal(await good(two.token), 401, 'enabling brings no token back')
  const visitor = service.visitor()
  await visitor.signIn(bob.name, bob.password)
  const last = await created(visitor)
  assert.equal(await good(last.token), 200)
  await admin.delete(`_principals/entry/${bob.id}`)
  const refused = await withToken(last.token, 'auth/user')
  assert.deepEqual([refused.status, codeOf(refused)], [401, 'invalid-access-token'])
  assert.equal(refused.headers['www-authenticate'], 'Bearer realm="Stowage", error="invalid_token"')
})

test('administrators list and revoke the tokens of a user; others see their own only (D24.6)', async () => {
  const bob = await newUser(service, admin)
  const { id, token } = await created(bob.visitor)
  assert.deepEqual(
    (await listed(admin, `?user=${bob.name}`)).map(({ id }) => id),
    [id],
  )
  assert.equal((await anna.visitor.get(`auth/access-tokens?user=${bob.name}`)).status, 403)
  assert.equal((await admin.get('auth/access-tokens?user=nobody')).status, 404)
  assert.equal((await admin.delete(`auth/access-tokens/${id}`)).status, 204)
  assert.equal((await withToken(token, 'auth/user')).status, 401)
  const audit = (await admin.get('management/audit?event=access-token-revoked')).text
  assert.ok(audit.includes(id))
})

test('wrong tokens lock nobody out, and only those with a right checksum are looked up (D24.2)', async t => {
  const bob = await newUser(service, admin)
  const { token } = await created(bob.visitor)
  const unknown = tokenText(new Uint8Array(32).fill(3))
  const broken = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  const plain = await startInProcess(t, { settings: { 'service.auth.http-basic': 'on' } })
  for (const wrong of [unknown, broken, 'stow_', `${token}x`]) {
    for (let count = 0; count < 12; count++) {
      const answer = await withToken(wrong, 'auth/user')
      assert.deepEqual([answer.status, codeOf(answer)], [401, 'invalid-access-token'])
    }
  }
  for (let count = 0; count < 12; count++) {
    const answer = await plain.visitor().get('auth/user', basicAuth('admin', broken))
    assert.deepEqual([answer.status, codeOf(answer)], [401, 'invalid-access-token'])
  }
  await plain.admin()
  assert.equal((await service.visitor().signIn(bob.name, bob.password)).status, 200)
  assert.equal((await withToken(token, 'auth/user')).status, 200)
})

test('read reads, write reads and writes, and the rights that are shown are those of the token (D24.4)', async () => {
  const [read, write] = [await created(anna.visitor, { scopes: ['read'] }), await created(anna.visitor)]
  const path = `${context}/metadata/${entry}`
  const graph = {}
  assert.equal((await withToken(read.token, path)).status, 200)
  const refused = await withToken(read.token, path, 'PUT', graph)
  assert.deepEqual([refused.status, codeOf(refused)], [403, 'access-token-scope'])
  assert.match(refused.text, /scope write/)
  assert.equal((await withToken(write.token, path)).status, 200)
  assert.equal((await withToken(write.token, path, 'PUT', graph)).status, 204)
  const rights = async (token: string): Promise<unknown> =>
    (await withToken(token, `${context}/entry/${entry}?includeAll`)).json()['rights']
  assert.deepEqual(await rights(read.token), ['readmetadata', 'readresource'])
  assert.deepEqual(await rights(write.token), ['administer'])
})

test('a token that is limited to contexts opens these and nothing else (D24.4)', async () => {
  const { token } = await created(anna.visitor, { contexts: [context] })
  const status = async (path: string, method = 'GET', json?: unknown): Promise<number> =>
    (await withToken(token, path, method, json)).status
  assert.equal(await status(`${context}/entry/${entry}`), 200)
  assert.equal(await status(`_contexts/entry/${context}`), 200)
  assert.equal(await status(`${context}?id=made`, 'POST'), 201)
  assert.equal(await status(`${other}/entry/${otherEntry}`), 403)
  assert.equal(await status(`${other}/metadata/${otherEntry}`, 'PUT', {}), 403)
  assert.equal(await status(other, 'POST'), 403)
  assert.equal(await status(`_principals/entry/${anna.id}`), 403)
  assert.equal(await status(userPath(anna.id), 'PUT', { language: 'sv' }), 403)
  const query = 'search?type=solr&query=title:*+OR+created:[*+TO+*]&limit=100'
  const found = (await withToken(token, query)).json<{ results: number; resource: { children: unknown[] } }>()
  assert.equal(found.results, found.resource.children.length)
  assert.ok(found.results > 0)
  assert.ok(!JSON.stringify(found).includes(`/${other}/`), JSON.stringify(found))
  const mine = (await withToken(token, 'auth/user/contexts')).json<{ contexts: Array<{ contextId: string }> }>()
  assert.deepEqual(
    mine.contexts.map(({ contextId }) => contextId),
    [context],
  )
})

test('a token that is limited to addresses is accepted from these, as the proxy rules find them (D24.4)', async () => {
  const { token } = await created(anna.visitor, { addresses: ['192.0.2.0/24', '2001:db8::/32'] })
  const from = async (address: string): Promise<number> =>
    (await withToken(token, 'auth/user', 'GET', undefined, { 'x-forwarded-for': address })).status
  assert.deepEqual([await from('192.0.2.77'), await from('2001:db8::1')], [200, 200])
  assert.deepEqual([await from('192.0.3.1'), await from('127.0.0.1'), await from('unknown')], [401, 401, 401])
  const audit = (await admin.get(`management/audit?event=login-failed&user=${anna.name}`)).text
  assert.match(audit, /"why":"address"/)
})

test('administrators have their rights by a token only if they asked for admin; quota sets quotas and no more (D24.4)', async () => {
  const scopes = { read: ['read'], write: ['write'], quota: ['quota'], admin: ['admin'] }
  const tokens = new Map<string, string>()
  for (const [name, wanted] of Object.entries(scopes))
    tokens.set(name, (await created(admin, { scopes: wanted })).token)
  const status = async (name: string, path: string, method = 'GET', json?: unknown): Promise<number> =>
    (await withToken(tokens.get(name) ?? '', path, method, json)).status
  const quota = { quota: 1_000_000 }
  for (const name of ['read', 'write']) {
    assert.equal(await status(name, `${context}/entry/${entry}`), 403, name)
    assert.equal(await status(name, 'management/audit'), 403, name)
    assert.equal(await status(name, `${context}/quota`, 'PUT', quota), 403, name)
    assert.equal(await status(name, `${context}/export`), 403, name)
    assert.equal(await status(name, userPath('_users'), 'PUT', {}), 403, name)
  }
  assert.equal(await status('quota', `${context}/quota`, 'PUT', quota), 200)
  assert.equal(await status('quota', `${context}/quota`), 200)
  assert.equal(await status('quota', `${context}/quota`, 'DELETE'), 200)
  assert.equal(await status('quota', `${context}/entry/${entry}`), 403)
  assert.equal(await status('quota', 'management/audit'), 403)
  assert.equal(await status('admin', `${context}/entry/${entry}`), 200)
  assert.equal(await status('admin', 'management/audit'), 200)
  assert.equal(await status('admin', `${context}/quota`, 'PUT', quota), 200)
  const ordinary = await created(anna.visitor, { scopes: ['quota'] })
  assert.equal((await withToken(ordinary.token, `${context}/quota`, 'PUT', quota)).status, 403)
  const limited = await created(admin, { scopes: ['quota'], contexts: [other] })
  assert.equal((await withToken(limited.token, `${other}/quota`, 'PUT', quota)).status, 200)
  assert.equal((await withToken(limited.token, `${context}/quota`, 'PUT', quota)).status, 403)
})

test('no token makes tokens, ends logins, changes a password or makes administrators (D24.5)', async () => {
  const { token } = await created(admin, { scopes: ['admin'] })
  const wish = { name: 'more', expires: inDays(1), scopes: ['read'] }
  const [own] = await listed(admin)
  const attempts: ReadonlyArray<readonly [method: string, path: string, json?: unknown]> = [
    ['POST', 'auth/access-tokens', wish],
    ['GET', 'auth/access-tokens'],
    ['DELETE', `auth/access-tokens/${String(own?.['id'])}`],
    ['GET', 'auth/tokens'],
    ['GET', 'auth/tokens?user=*'],
    ['DELETE', 'auth/tokens', { scope: 'all' }],
    ['PUT', userPath(anna.id), { password: 'New-Password-12' }],
    ['PUT', userPath('_admin'), { password: 'New-Password-12' }],
    [
      'POST',
      `_principals?graphtype=user&groupURI=${encodeURIComponent(`${service.base}_principals/resource/_admins`)}`,
      {},
    ],
    ['PUT', '_principals/resource/_admins', [anna.id]],
    ['PUT', userPath(anna.id), { name: 'attacker@example.org' }],
    ['PUT', `_principals/entry/${anna.id}/name`, { name: 'attacker@example.org' }],
    ['PUT', '_principals/entry/_admins', {}],
  ]
  for (const [method, path, json] of attempts) {
    const answer = await withToken(token, path, method, json)
    assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`)
  }
  assert.equal((await admin.get('auth/user')).json()['user'], 'admin')
})

test('the last use is noted to the minute (D24.6)', async () => {
  const bob = await newUser(service, admin)
  const { token } = await created(bob.visitor)
  const use = async (): Promise<unknown> => (await listed(bob.visitor))[0]?.['lastUsed']
  // The request does not wait until its use is written.
  const usedAt = (time: string): Promise<void> => eventually(time, async () => (await use()) === time)
  assert.equal(await use(), undefined)
  const first = new Date(service.system.now()).toISOString()
  await withToken(token, 'auth/user')
  await usedAt(first)
  service.system.pass(59_000)
  await withToken(token, 'auth/user')
  service.system.pass(1000)
  assert.equal(await use(), first)
  await withToken(token, 'auth/user')
  await usedAt(new Date(service.system.now()).toISOString())
  assert.equal((await listed(bob.visitor))[0]?.['lastAddress'], '127.0.0.1')
})

test('a token that is revoked while a body arrives changes nothing any more (D24.6)', async () => {
  const bob = await newUser(service, admin)
  const place = await newContext(admin, [bob.id])
  const made = await newEntry(bob.visitor, place)
  const { id, token } = await created(bob.visitor)
  const request = httpRequest(`${service.base}${place}/metadata/${made}`, {
    method: 'PUT',
    agent: false,
    headers: { ...bearer(token), 'content-type': 'application/json', 'content-length': 2, expect: '100-continue' },
  })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  request.flushHeaders()
  // The service asks for the body once it has judged the request.
  await once(request, 'continue')
  assert.equal((await bob.visitor.delete(`auth/access-tokens/${id}`)).status, 204)
  request.end('{}')
  const [answer] = await answered
  answer.resume()
  assert.equal(answer.statusCode, 401)
})

test('with access tokens off there are none, and the header does not count (D24.1)', async t => {
  const plain = await startInProcess(t, { settings: { 'service.auth.access-tokens': 'off' } })
  const owner = await plain.admin()
  assert.equal((await owner.get('auth/access-tokens')).status, 404)
  const headers = bearer(tokenText(new Uint8Array(32)))
  assert.equal((await plain.visitor().get('auth/user', headers)).json()['user'], 'guest')
})
