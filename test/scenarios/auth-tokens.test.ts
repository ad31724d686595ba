import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, type Visitor } from '../support/http-client.ts'
import { newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

type Logins = Record<string, Record<string, string>>
const logins = async (visitor: Visitor, query = ''): Promise<Logins> =>
  (await visitor.get(`auth/tokens${query}`)).json<Logins>()
const remove = (visitor: Visitor, json: unknown) => visitor.ask('auth/tokens', { method: 'DELETE', json })
const isAlive = async (token: string | undefined): Promise<boolean> =>
  (await ask(`${service.base}auth/tokens`, { headers: { cookie: `auth_token=${token}` } })).status === 200

/** A user with several logins. */
async function userWithLogins(count: number) {
  const user = await newUser(service, admin)
  const visitors = [user.visitor]
  while (visitors.length < count) {
    const visitor = service.visitor()
    assert.equal((await visitor.signIn(user.name, user.password)).status, 200)
    visitors.push(visitor)
  }
  const tokens = visitors.map(({ cookie }) => cookie ?? '')
  return { ...user, visitors, tokens }
}

test('the map has one’s own logins under their tokens, with exactly the six fields (I2.3, D3.2)', async () => {
  const bob = await newUser(service, admin)
  const visitor = service.visitor()
  const form = { auth_username: bob.name, auth_password: bob.password, auth_maxage: '60' }
  await visitor.ask('auth/cookie', { form, headers: { 'user-agent': 'Browser/7' } })
  const map = await logins(visitor)
  assert.deepEqual(new Set(Object.keys(map)), new Set([bob.visitor.cookie, visitor.cookie]))
  assert.deepEqual(map[visitor.cookie ?? ''], {
    loginTime: '2026-11-21T10:00:00.000456',
    loginExpiration: '2026-11-21T10:01:00.000000',
    inetAddress: '/127.0.0.1',
    lastAccess: '2026-11-21T10:00:00.000456',
    userAgent: 'Browser/7',
    userName: bob.name,
  })
})

test('an over-long User-Agent is kept short, a missing one is empty text', async () => {
  const bob = await newUser(service, admin)
  const form = { auth_username: bob.name, auth_password: bob.password }
  await bob.visitor.ask('auth/cookie', { form, headers: { 'user-agent': 'u'.repeat(9000) } })
  const agents = Object.values(await logins(bob.visitor)).map(({ userAgent }) => userAgent)
  assert.ok(agents.includes(''))
  assert.ok(agents.every(agent => agent !== undefined && agent.length <= 512))
})

test('a guest gets 401, and no login ends (D3.2, D3.3)', async () => {
  const { tokens } = await userWithLogins(1)
  const guest = service.visitor()
  assert.equal((await guest.get('auth/tokens')).status, 401)
  for (const body of [{ token: tokens[0] }, { scope: 'all' }, 'bad', {}]) {
    assert.equal((await remove(guest, body)).status, 401)
  }
  assert.equal(await isAlive(tokens[0]), true)
})

test('ending another session of the caller: 204, it ends at once, and the caller’s own session continues (D3.3, D3.5, I2.4)', async () => {
  const { visitors, tokens } = await userWithLogins(2)
  const [one = admin] = visitors
  const answer = await remove(one, { token: tokens[1] })
  assert.deepEqual([answer.status, answer.text, answer.headers['set-cookie']], [204, '', undefined])
  assert.deepEqual([await isAlive(tokens[0]), await isAlive(tokens[1])], [true, false])
  assert.equal((await remove(one, { token: tokens[1] })).status, 404)
})

test('ending the login one came with also clears the cookie (I3.1, D3.3)', async () => {
  const { visitors, tokens } = await userWithLogins(1)
  const answer = await remove(visitors[0] ?? admin, { token: tokens[0] })
  assert.equal(answer.status, 204)
  assert.match(answer.headers['set-cookie']?.[0] ?? '', /^auth_token=; Max-Age=0; /)
  assert.equal(await isAlive(tokens[0]), false)
})

test('the token of another user and an unknown token get the same 404 (D3.3)', async () => {
  const bob = await userWithLogins(1)
  const eve = await userWithLogins(1)
  const answers = [
    await remove(eve.visitor, { token: bob.tokens[0] }),
    await remove(eve.visitor, { token: admin.cookie }),
    await remove(eve.visitor, { token: 'x'.repeat(43) }),
    await remove(eve.visitor, { token: '' }),
    await remove(eve.visitor, { token: '__proto__' }),
    await remove(eve.visitor, { token: `session:${bob.tokens[0]}` }),
    await remove(eve.visitor, { token: `sessions-of:${bob.id}` }),
  ]
  for (const { status, text } of answers) assert.deepEqual([status, text], [404, answers[0]?.text])
  assert.equal(await isAlive(bob.tokens[0]), true)
})

test('an administrator sees and ends other people’s logins; others may not even ask (D3.2)', async () => {
  const bob = await userWithLogins(2)
  const eve = await userWithLogins(1)
  assert.equal(Object.keys(await logins(admin, `?user=${bob.name.toUpperCase()}`)).length, 2)
  assert.equal((await remove(admin, { token: bob.tokens[0] })).status, 204)
  assert.equal(await isAlive(bob.tokens[0]), false)
  assert.equal(await isAlive(admin.cookie), true)
  for (const name of [bob.name, 'admin', 'nobody', 'admins']) {
    assert.equal((await eve.visitor.get(`auth/tokens?user=${name}`)).status, 403, name)
  }
  assert.deepEqual(Object.keys(await logins(eve.visitor, `?user=${eve.name}`)), eve.tokens)
  assert.equal((await admin.get('auth/tokens?user=nobody')).status, 404)
  assert.equal((await admin.get('auth/tokens?user=admins')).status, 404)
  assert.equal((await admin.get(`auth/tokens?user=${bob.name}&user=admin`)).status, 400)
})

test('an administrator gets handles of other users’ logins, which end a login but are no tokens (D19.8)', async () => {
  const bob = await userWithLogins(2)
  const eve = await userWithLogins(1)
  const handles = Object.keys(await logins(admin, `?user=${bob.name}`))
  assert.equal(handles.length, 2)
  for (const handle of handles) {
    assert.ok(bob.tokens.every(token => !handle.includes(token)))
    assert.equal(await isAlive(handle), false)
    assert.equal(await isAlive(handle.split('.')[0]), false)
    const refused = await remove(eve.visitor, { token: handle })
    assert.deepEqual([refused.status, refused.json()['code']], [404, 'unknown-token'])
  }
  assert.equal((await remove(admin, { token: handles[0] })).status, 204)
  const alive = await Promise.all(bob.tokens.map(isAlive))
  assert.equal(alive.filter(Boolean).length, 1)
  assert.equal((await remove(admin, { token: handles[0] })).status, 404)
  assert.equal((await remove(admin, { token: `x.${bob.id}` })).status, 404)
  assert.equal((await remove(admin, { token: '.' })).status, 404)
})

test('an administrator lists the sessions of all users, by handles and in pages', async () => {
  const bob = await userWithLogins(3)
  const page = async (query = '') => {
    const answer = await admin.get(`auth/tokens?user=*${query}`)
    return { logins: Object.entries(answer.json<Logins>()), total: Number(answer.headers['x-total-count']) }
  }
  const all = await page('&limit=100')
  assert.equal(Math.min(all.total, 100), all.logins.length)
  const bobs = all.logins.filter(([, { userName }]) => userName === bob.name)
  assert.equal(bobs.length, 3)
  assert.ok(!JSON.stringify(all).includes(bob.tokens[0] ?? ''))
  const [first, second] = [await page('&limit=1'), await page('&limit=1&offset=1')]
  assert.deepEqual([first.logins.length, second.logins.length, second.total], [1, 1, all.total])
  assert.notEqual(first.logins[0]?.[0], second.logins[0]?.[0])
  assert.equal((await remove(admin, { token: bobs[0]?.[0] })).status, 204)
  assert.equal((await Promise.all(bob.tokens.map(isAlive))).filter(Boolean).length, 2)
  const eve = await userWithLogins(1)
  assert.equal((await eve.visitor.get('auth/tokens?user=*')).status, 403)
  assert.equal((await service.visitor().get('auth/tokens?user=*')).status, 401)
})

test('logout with ignoreAuth ignores the cookie: the login goes on (I4; issue 15, D.1)', async () => {
  const bob = await userWithLogins(1)
  for (const method of ['GET', 'POST']) {
    const answer = await bob.visitor.ask('auth/logout?ignoreAuth', { method })
    assert.deepEqual([answer.status, answer.headers['set-cookie']], [204, undefined])
  }
  assert.equal(await isAlive(bob.tokens[0]), true)
})

test('a member of the admin group is an administrator until they are removed (D3.2)', async () => {
  const bob = await userWithLogins(1)
  assert.equal((await bob.visitor.get('auth/tokens?user=admin')).status, 403)
  assert.equal((await admin.put('_principals/resource/_admins', [bob.id])).status, 204)
  assert.equal((await bob.visitor.get('auth/tokens?user=admin')).status, 200)
  assert.equal((await admin.put('_principals/resource/_admins', [])).status, 204)
  assert.equal((await bob.visitor.get('auth/tokens?user=admin')).status, 403)
})

test('scope others ends all other sessions of the caller, scope all also the current one, and neither ends those of other users (D3.3)', async () => {
  const bob = await userWithLogins(3)
  const eve = await userWithLogins(1)
  const others = await remove(bob.visitor, { scope: 'others' })
  assert.deepEqual([others.status, others.headers['set-cookie']], [204, undefined])
  assert.deepEqual(await Promise.all(bob.tokens.map(isAlive)), [true, false, false])
  const all = await remove(bob.visitor, { scope: 'all' })
  assert.equal(all.status, 204)
  assert.match(all.headers['set-cookie']?.[0] ?? '', /^auth_token=; Max-Age=0; /)
  assert.equal(await isAlive(bob.tokens[0]), false)
  assert.equal(await isAlive(eve.tokens[0]), true)
})

const bad: ReadonlyArray<readonly [what: string, body: string, type: string | undefined, status: number]> = [
  ['no body', '', undefined, 400],
  ['an empty body of the right type', '', 'application/json', 400],
  ['no JSON', '{token', 'application/json', 400],
  ['null', 'null', 'application/json', 400],
  ['an array', '["x"]', 'application/json', 400],
  ['a text', '"x"', 'application/json', 400],
  ['an empty object', '{}', 'application/json', 400],
  ['a token that is a number', '{"token":1}', 'application/json', 400],
  ['a token that is a list', '{"token":["x"]}', 'application/json', 400],
  ['a token that is null', '{"token":null}', 'application/json', 400],
  ['an unknown scope', '{"scope":"everybody"}', 'application/json', 400],
  ['token and scope', '{"token":"x","scope":"all"}', 'application/json', 400],
  ['a token in the prototype', '{"__proto__":{"token":"x"}}', 'application/json', 400],
  ['JSON as text', '{"scope":"all"}', 'text/plain', 415],
  ['JSON without a type', '{"scope":"all"}', undefined, 415],
  ['a form', 'scope=all', 'application/x-www-form-urlencoded', 415],
]
for (const [what, body, type, status] of bad) {
  test(`DELETE /auth/tokens with ${what}: ${status}, and no login ends (D3.3)`, async () => {
    const headers = type === undefined ? {} : { 'content-type': type }
    const answer = await admin.ask('auth/tokens', { method: 'DELETE', body, headers })
    assert.equal(answer.status, status, answer.text)
    assert.equal(await isAlive(admin.cookie), true)
  })
}

test('a page finds its own login by scope, though the cookie is not for scripts to read (D3.2, D14.3)', async () => {
  const { tokens, visitors } = await userWithLogins(3)
  const [, second] = visitors
  assert.ok(second)
  assert.deepEqual(Object.keys(await logins(second, '?scope=current')), [tokens[1]])
  assert.deepEqual(Object.keys(await logins(second, '?scope=others')), [tokens[0], tokens[2]])
  assert.deepEqual(Object.keys(await logins(second, '?scope=all')), tokens)
  assert.equal((await second.get('auth/tokens?scope=mine')).status, 400)
  assert.equal((await service.visitor().get('auth/tokens?scope=current')).status, 401)
})
