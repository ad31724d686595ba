import assert from 'node:assert/strict'
import { test } from 'node:test'
import { basicAuth, codeOf } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { addApp, pendingCookie, prove } from '../support/second-factors.ts'
import { newUser, startInProcess } from '../support/service.ts'

const TEMPORARY = 'Handed-Over-2026'
const CHOSEN = 'Autumn-Wind-2026'

const service = await startInProcess({ after }, { settings: { 'service.auth.http-basic': 'on' } })
const admin = await service.admin()
const nameOf = (answer: { json(): Record<string, unknown> }): unknown => answer.json()['user']

/** An administrator gives the user a temporary password. */
async function makeTemporary(id: string, password = TEMPORARY): Promise<void> {
  const answer = await admin.put(`_principals/resource/${id}`, { password, temporaryPassword: true })
  assert.equal(answer.status, 204, answer.text)
}

async function newTemporaryUser() {
  const user = await newUser(service, admin)
  await makeTemporary(user.id)
  return { ...user, password: TEMPORARY, visitor: service.visitor() }
}

const choose = (visitor: ReturnType<typeof service.visitor>, cookie: string, password: string) =>
  visitor.ask('auth/new-password', { method: 'POST', json: { password }, headers: { cookie } })

test('a temporary password opens a session when a new one has been chosen, and not before (D33.1)', async () => {
  const { id, name, visitor } = await newTemporaryUser()
  const first = await visitor.signIn(name, TEMPORARY)
  assert.deepEqual([first.status, codeOf(first)], [401, 'password-change-required'])
  assert.equal(visitor.cookie, undefined)
  const cookie = pendingCookie(first)
  assert.equal(nameOf(await visitor.get('auth/user', { cookie })), 'guest')
  assert.equal(
    (await prove(visitor, cookie, { code: '123456' })).status,
    401,
    'it is not a sign-in that needs a factor',
  )
  const second = await choose(visitor, cookie, CHOSEN)
  assert.deepEqual([second.status, nameOf(second)], [200, name], second.text)
  assert.equal(nameOf(await visitor.get('auth/user')), name)
  assert.equal((await choose(visitor, cookie, 'Winter-Snow-2026')).status, 401, 'the sign-in is complete')
  const later = service.visitor()
  assert.equal(codeOf(await later.signIn(name, TEMPORARY)), 'wrong-credentials')
  assert.equal((await later.signIn(name, CHOSEN)).status, 200)
  assert.equal((await admin.get(`_principals/resource/${id}`)).json()['temporaryPassword'], undefined)
})

test('a new user can have a temporary password; only administrators see it, and only while it stands (D33.1)', async () => {
  const resource = { name: 'temporary@example.org', password: TEMPORARY, temporaryPassword: true }
  const made = await admin.post('_principals?graphtype=user', { resource })
  assert.equal(made.status, 201, made.text)
  const { entryId: id } = made.json<{ entryId: string }>()
  const path = `_principals/resource/${id}`
  assert.equal((await admin.get(path)).json()['temporaryPassword'], true)
  const visitor = service.visitor()
  assert.equal(
    (await choose(visitor, pendingCookie(await visitor.signIn(resource.name, TEMPORARY)), CHOSEN)).status,
    200,
  )
  await makeTemporary(id)
  assert.equal(nameOf(await visitor.get('auth/user')), 'guest', 'a new password ends all sessions')
  const { visitor: other } = await newUser(service, admin)
  const seen = await other.get(path)
  assert.equal(seen.json()['temporaryPassword'], undefined, seen.text)
  const plain = await admin.put(path, { password: CHOSEN })
  assert.equal(plain.status, 204, plain.text)
  assert.equal(
    (await service.visitor().signIn(resource.name, CHOSEN)).status,
    200,
    'a password without the flag is final',
  )
})

test('passwords that break the rules, and the temporary one, are refused and can be tried again; five checks at most (D33.2)', async () => {
  const { name, visitor } = await newTemporaryUser()
  const cookie = pendingCookie(await visitor.signIn(name, TEMPORARY))
  for (let round = 0; round < 6; round++) {
    assert.equal(codeOf(await choose(visitor, cookie, 'short')), 'password-rules')
  }
  for (let round = 0; round < 5; round++) {
    assert.equal(codeOf(await choose(visitor, cookie, TEMPORARY)), 'password-unchanged')
  }
  assert.equal(codeOf(await choose(visitor, cookie, CHOSEN)), 'sign-in-expired')
  const again = pendingCookie(await visitor.signIn(name, TEMPORARY))
  assert.equal((await choose(visitor, again, CHOSEN)).status, 200)
})

test('of two answers at the same time one sets the password, and another new password ends the sign-in (D33.2)', async () => {
  const { id, name, visitor } = await newTemporaryUser()
  const cookie = pendingCookie(await visitor.signIn(name, TEMPORARY))
  const answers = await Promise.all([
    choose(visitor, cookie, CHOSEN),
    choose(service.visitor(), cookie, 'Winter-Snow-2026'),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 401],
  )
  await makeTemporary(id)
  const stale = pendingCookie(await visitor.signIn(name, TEMPORARY))
  await makeTemporary(id, 'Another-Gift-2026')
  assert.equal(codeOf(await choose(visitor, stale, CHOSEN)), 'sign-in-expired')
  const disabled = pendingCookie(await visitor.signIn(name, 'Another-Gift-2026'))
  assert.equal((await admin.put(`_principals/resource/${id}`, { disabled: true })).status, 204)
  assert.equal(codeOf(await choose(visitor, disabled, CHOSEN)), 'sign-in-expired')
})

test('the sign-in waits five minutes for the new password (D33.2)', async () => {
  const { name, visitor } = await newTemporaryUser()
  const cookie = pendingCookie(await visitor.signIn(name, TEMPORARY))
  service.system.pass(300_001)
  assert.equal(codeOf(await choose(visitor, cookie, CHOSEN)), 'sign-in-expired')
})

test('the second factor comes before the new password (D33.2)', async () => {
  const user = await newUser(service, admin)
  const { app } = await addApp(user.visitor, service.system)
  await makeTemporary(user.id)
  const visitor = service.visitor()
  const first = await visitor.signIn(user.name, TEMPORARY)
  assert.equal(codeOf(first), 'second-factor-required')
  assert.equal(codeOf(await choose(visitor, pendingCookie(first), CHOSEN)), 'sign-in-expired', 'not without the factor')
  const second = await prove(visitor, pendingCookie(first), { code: app.code() })
  assert.deepEqual([second.status, codeOf(second)], [401, 'password-change-required'], second.text)
  const third = await choose(visitor, pendingCookie(second), CHOSEN)
  assert.equal(third.status, 200, third.text)
  assert.equal(nameOf(await visitor.get('auth/user')), user.name)
})

test('HTTP Basic is refused while the password is temporary; access tokens go on working (D33.3)', async () => {
  const user = await newUser(service, admin)
  const token = await user.visitor.post('auth/access-tokens', {
    name: 'Backup',
    scopes: ['read'],
    expires: new Date(service.system.now() + 86_400_000).toISOString(),
  })
  assert.equal(token.status, 201, token.text)
  const authorization = `Bearer ${String(token.json()['token'])}`
  await makeTemporary(user.id)
  const program = service.visitor()
  const refused = await program.get('auth/user', basicAuth(user.name, TEMPORARY))
  assert.deepEqual([refused.status, codeOf(refused)], [401, 'password-change-required'])
  const wrong = await program.get('auth/user', basicAuth(user.name, 'Not-That-One-2026'))
  assert.deepEqual([wrong.status, codeOf(wrong)], [401, 'wrong-credentials'])
  assert.equal(nameOf(await program.get('auth/user', { authorization })), user.name)
  await choose(program, pendingCookie(await program.signIn(user.name, TEMPORARY)), CHOSEN)
  const right = await service.visitor().get('auth/user', basicAuth(user.name, CHOSEN))
  assert.equal(nameOf(right), user.name)
})

test('wrong passwords lock a user with a temporary one out, like others (D33.2)', async () => {
  const { id, name, visitor } = await newTemporaryUser()
  for (let round = 0; round < 20; round++) {
    if (codeOf(await visitor.signIn(name, 'Not-That-One-2026')) === 'locked-out') break
  }
  assert.equal(codeOf(await visitor.signIn(name, TEMPORARY)), 'locked-out')
  await makeTemporary(id)
  assert.equal(
    codeOf(await visitor.signIn(name, TEMPORARY)),
    'password-change-required',
    'a new password lifts the lockout',
  )
})

test('only together with a password, and not for oneself (D33.1)', async () => {
  const user = await newUser(service, admin)
  const path = `_principals/resource/${user.id}`
  assert.deepEqual(codeOf(await admin.put(path, { temporaryPassword: true })), 'invalid-value')
  assert.deepEqual(codeOf(await admin.put(path, { password: CHOSEN, temporaryPassword: 'perhaps' })), 'invalid-value')
  const own = { password: CHOSEN, currentPassword: user.password, temporaryPassword: true }
  assert.deepEqual(codeOf(await user.visitor.put(path, own)), 'invalid-value')
  assert.equal((await service.visitor().signIn(user.name, user.password)).status, 200, 'nothing has changed')
})

test('the audit log has the temporary password, and the new one with its login (D33.4)', async () => {
  const { id, name, visitor } = await newTemporaryUser()
  await choose(visitor, pendingCookie(await visitor.signIn(name, TEMPORARY)), CHOSEN)
  const { events } = (await admin.get(`management/audit?user=${id}`)).json<{
    events: ReadonlyArray<{ event: string; actor?: string; detail: Record<string, string> }>
  }>()
  assert.deepEqual(
    events.slice(0, 3).map(({ event, detail }) => [event, detail]),
    [
      ['login', { mechanism: 'form' }],
      ['password-changed', { why: 'temporary-password' }],
      ['password-changed', { temporary: 'true' }],
    ],
  )
  assert.ok(!JSON.stringify(events).includes(CHOSEN) && !JSON.stringify(events).includes(TEMPORARY))
})

test('a browser without scripts gets a form for the new password, and goes where it wanted to (D33.2)', async () => {
  const { name, visitor } = await newTemporaryUser()
  const headers = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en' }
  const successurl = `${service.base}ui/shared`
  const form = { auth_username: name, auth_password: TEMPORARY, successurl }
  const first = await visitor.ask('auth/cookie', { form, headers })
  assert.deepEqual([first.status, first.headers.location], [303, `${service.base}auth/new-password`])
  const cookie = pendingCookie(first)
  const page = await visitor.get('auth/new-password', { ...headers, cookie })
  assert.match(page.text, /<form method="post" action="[^"]*auth\/new-password">[^]*name="password"/)
  const send = (password: string) =>
    visitor.ask('auth/new-password', { form: { password }, headers: { ...headers, cookie } })
  const short = await send('short')
  assert.equal(short.status, 400)
  assert.match(short.text, /role="alert"[^]*name="password"/)
  const same = await send(TEMPORARY)
  assert.match(same.text, /role="alert">This is the temporary password/)
  const right = await send(CHOSEN)
  assert.deepEqual([right.status, right.headers.location], [303, successurl])
  assert.equal(nameOf(await visitor.get('auth/user')), name)
  const over = await send('Winter-Snow-2026')
  assert.deepEqual([over.status, over.headers.location], [303, `${service.base}auth/login?ended`])
  const without = await service.visitor().get('auth/new-password', headers)
  assert.deepEqual([without.status, without.headers.location], [303, `${service.base}auth/login`])
})

test('a logout ends a sign-in that waits for a new password, and removes its cookie (I3.1, D3.4)', async () => {
  const { name, visitor } = await newTemporaryUser()
  const cookie = pendingCookie(await visitor.signIn(name, TEMPORARY))
  const elsewhere = pendingCookie(await visitor.signIn(name, TEMPORARY))
  assert.equal((await visitor.ask('auth/logout?ignoreAuth', { headers: { cookie } })).status, 204)
  assert.equal(codeOf(await choose(visitor, cookie, 'short')), 'password-rules', 'with ignoreAuth nothing ends')
  const left = await visitor.ask('auth/logout', { headers: { cookie } })
  assert.ok(
    left.headers['set-cookie']?.some(line => line.startsWith('stowage_2fa=; Max-Age=0; ')),
    left.text,
  )
  assert.equal(codeOf(await choose(visitor, cookie, CHOSEN)), 'sign-in-expired')
  assert.equal((await choose(visitor, elsewhere, CHOSEN)).status, 200, 'that of another browser goes on')
})
