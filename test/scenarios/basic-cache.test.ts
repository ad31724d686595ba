import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addUser,
  basicAuth,
  codeOf,
  GOOD_PASSWORD,
  guess,
  NEXT_PASSWORD,
  userPath,
  WRONG_PASSWORD,
} from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer } from '../support/http-client.ts'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.auth.http-basic': 'on' } })
const admin = await service.admin()
const anyone = service.visitor()

const as = (name: string, password = GOOD_PASSWORD): Promise<Answer> =>
  anyone.get('auth/user', basicAuth(name, password))

/** How often the password has been checked, and found right, by Basic. */
async function checks(name: string): Promise<number> {
  const { events } = (await admin.get(`management/audit?user=${name}&limit=1000`)).json<{
    events: Array<{ event: string; detail: { mechanism?: string } }>
  }>()
  return events.filter(({ event, detail }) => event === 'login' && detail.mechanism === 'basic').length
}

/** A user whose credentials the service remembers. */
async function remembered(name: string): Promise<string> {
  const { id } = await addUser(admin, name)
  assert.equal((await as(name)).status, 200)
  assert.equal((await as(name)).status, 200)
  assert.equal(await checks(name), 1, 'the second time it was remembered')
  return id
}

test('right credentials are checked once, then remembered for five minutes (D4.3)', async () => {
  await remembered('cached')
  service.system.pass(299_999)
  await as('cached')
  assert.equal(await checks('cached'), 1)
  service.system.pass(1)
  assert.equal((await as('cached')).status, 200)
  assert.equal(await checks('cached'), 2)
})

test('many requests at once with the same right credentials cause one check (D4.3)', async () => {
  await addUser(admin, 'parallel')
  const answers = await Promise.all(Array.from({ length: 40 }, () => as('parallel')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(await checks('parallel'), 1)
})

test('what is remembered for one name and password fits no other pair, wherever the colon stands (D4.3)', async () => {
  await addUser(admin, 'split', 'a:b-Password-12')
  assert.equal((await as('split', 'a:b-Password-12')).status, 200)
  assert.equal((await as('split:a', 'b-Password-12')).status, 200, 'the header is the same')
  assert.equal((await as('splita', ':b-Password-12')).status, 401)
  assert.equal((await as('split', 'a:b-Password-1')).status, 401)
})

test('a changed password ends remembered credentials with the next request (D4.3)', async () => {
  const id = await remembered('changed')
  assert.equal((await admin.put(userPath(id), { password: NEXT_PASSWORD })).status, 204)
  assert.equal((await as('changed')).status, 401)
  assert.equal((await as('changed', NEXT_PASSWORD)).status, 200)
})

test('users who change their own password by Basic need the new one in the next request (D4.3, D5.3)', async () => {
  const id = await remembered('self-changed')
  const change = { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD }
  const headers = basicAuth('self-changed', GOOD_PASSWORD)
  assert.equal((await anyone.ask(userPath(id), { method: 'PUT', json: change, headers })).status, 204)
  assert.equal((await as('self-changed')).status, 401)
  assert.equal((await as('self-changed', NEXT_PASSWORD)).status, 200)
})

test('a disabled user is out with the next request, and in again when enabled (D4.3)', async () => {
  const id = await remembered('switched-off')
  await admin.put(userPath(id), { disabled: true })
  const refused = await as('switched-off')
  assert.deepEqual([refused.status, codeOf(refused)], [403, 'account-disabled'])
  await admin.put(userPath(id), { disabled: false })
  assert.equal((await as('switched-off')).status, 200)
})

test('a renamed user is out under the old name with the next request (D4.3)', async () => {
  const id = await remembered('old-name')
  await admin.put(userPath(id), { name: 'new-name' })
  assert.equal((await as('old-name')).status, 401)
  assert.equal((await as('new-name')).status, 200)
})

test('the old name with the old password does not sign in the new user of that name (D1.7, D4.3)', async () => {
  const id = await remembered('handed-on')
  await admin.put(userPath(id), { name: 'moved-on' })
  await addUser(admin, 'handed-on', NEXT_PASSWORD)
  assert.equal((await as('handed-on')).status, 401)
})

test('a lockout holds for remembered credentials with the next request, and ends on time (D4.3)', async () => {
  await remembered('locked')
  await guess(anyone, 'locked', 5)
  const refused = await as('locked')
  assert.deepEqual([refused.status, codeOf(refused), refused.headers['retry-after']], [429, 'locked-out', '300'])
  service.system.pass(300_000)
  assert.equal((await as('locked')).status, 200)
})

test('a deleted user is out with the next request (D1.7)', async () => {
  const id = await remembered('deleted')
  assert.equal((await admin.delete(`_principals/entry/${id}`)).status, 204)
  assert.equal((await as('deleted')).status, 401)
})

test('a changed membership counts with the next request', async () => {
  const id = await remembered('deputy')
  const lockouts = (): Promise<Answer> => anyone.get('management/lockouts', basicAuth('deputy', GOOD_PASSWORD))
  assert.equal((await lockouts()).status, 403)
  await admin.put('_principals/resource/_admins', [id])
  assert.equal((await lockouts()).status, 200)
  await admin.put('_principals/resource/_admins', [])
  assert.equal((await lockouts()).status, 403)
})

test('logout forgets the credentials that it was sent with, and no others (D3.4)', async () => {
  await remembered('leaving')
  await remembered('staying')
  const out = await anyone.get('auth/logout', basicAuth('leaving', GOOD_PASSWORD))
  assert.equal(out.status, 204)
  assert.equal((await as('leaving')).status, 200)
  assert.equal(await checks('leaving'), 2, 'checked anew')
  await as('staying')
  assert.equal(await checks('staying'), 1)
})

test('a wrong password is never remembered, and clears nothing that is (D4.3)', async () => {
  await remembered('steady')
  assert.equal((await as('steady', WRONG_PASSWORD)).status, 401)
  assert.equal((await as('steady')).status, 200)
  assert.equal(await checks('steady'), 1)
})

test('a remembered credential does not clear the count of wrong passwords', async () => {
  await remembered('watched')
  for (let count = 0; count < 5; count++) {
    assert.equal((await as('watched', WRONG_PASSWORD)).status, 401)
    if (count < 4) assert.equal((await as('watched')).status, 200)
  }
  assert.equal((await as('watched')).status, 429)
})

test('of 60 parallel wrong guesses by Basic exactly five are checked, the same or different ones (D4.2, D6.2)', async () => {
  for (const [name, passwordOf] of [
    ['same-guess', () => WRONG_PASSWORD],
    ['other-guesses', (index: number) => `${WRONG_PASSWORD}-${index}`],
  ] as const) {
    await addUser(admin, name)
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => as(name, passwordOf(index))))
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter(status => status === 401).length, 5, name)
    assert.equal(statuses.filter(status => status === 429).length, 55, name)
  }
})

test('a Basic caller gets the map of their cookie sessions, which may be empty (D3.2)', async () => {
  await addUser(admin, 'tokens')
  const tokens = (): Promise<Answer> => anyone.get('auth/tokens', basicAuth('tokens', GOOD_PASSWORD))
  const none = await tokens()
  assert.deepEqual([none.status, none.json()], [200, {}])
  const visitor = service.visitor()
  await visitor.signIn('tokens', GOOD_PASSWORD)
  assert.deepEqual(Object.keys((await tokens()).json()), [visitor.cookie])
  const removal = await anyone.ask('auth/tokens', {
    method: 'DELETE',
    json: { token: visitor.cookie },
    headers: basicAuth('tokens', GOOD_PASSWORD),
  })
  assert.equal(removal.status, 204)
  assert.equal((await visitor.get('auth/user')).json()['user'], 'guest')
})

test('the lists hold for Basic as for the form: blacklist, whitelist, off (D4.2, I5.8)', async t => {
  const folder = service.folder
  await service.close()
  for (const [settings, status] of [
    [{ 'service.auth.password.blacklist.1': ' CACHED ' }, 401],
    [{ 'service.auth.password': 'whitelist', 'service.auth.password.whitelist.1': 'admin' }, 401],
    [{ 'service.auth.password': 'whitelist', 'service.auth.password.whitelist.1': 'Cached' }, 200],
    [{ 'service.auth.password': 'off' }, 403],
  ] as const) {
    const next = await startInProcess(t, { folder, settings: { 'service.auth.http-basic': 'on', ...settings } })
    const answer = await next.visitor().get('auth/user', basicAuth('cached', GOOD_PASSWORD))
    assert.equal(answer.status, status, JSON.stringify(settings))
    const other = await next.visitor().get('auth/user', basicAuth('admin', ADMIN_PASSWORD))
    const isListed = status === 401
    assert.equal(other.status, isListed ? 200 : status === 200 ? 401 : 403)
    await next.close()
  }
})
