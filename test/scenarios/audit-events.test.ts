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
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { linkOf, startSmtpServer } from '../support/smtp-server.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.auth.http-basic': 'on',
      'service.data.quota': 'on',
      'service.http.trusted-proxies.1': '127.0.0.1/32',
      'service.audit.retention': '2d',
      'service.auth.password-reset': 'on',
      ...smtp.settings,
    },
  },
)
const admin = await service.admin()
const anyone = service.visitor()
const address = '127.0.0.1'

interface Event {
  readonly time: string
  readonly event: string
  readonly userId?: string
  readonly userName?: string
  readonly actorId?: string
  readonly address?: string
  readonly detail: Record<string, unknown>
}

const read = async (query = ''): Promise<Event[]> => {
  const answer = await admin.get(`management/audit${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ events: Event[] }>().events
}

/** The events about a user since their creation, oldest first, without times. */
async function story(id: string): Promise<Array<Omit<Event, 'time'>>> {
  const events = await read(`?user=${encodeURIComponent(id)}&limit=1000`)
  return events.map(({ time: _time, ...event }) => event).reverse()
}

test('logins, failures, locks and unlocks are audited with actor, user, mechanism and address (D5.8)', async () => {
  const { id } = await addUser(admin, 'bob')
  const bob = { userId: id, userName: 'bob', address }
  await service.visitor().signIn('bob', GOOD_PASSWORD)
  await anyone.get('auth/user', basicAuth('bob', GOOD_PASSWORD))
  await guess(anyone, 'bob', 4)
  await anyone.get('auth/user', basicAuth('bob', WRONG_PASSWORD))
  await guess(anyone, 'bob', 3)
  await admin.delete('management/lockouts?user=bob')
  const failed = { event: 'login-failed', ...bob, detail: { mechanism: 'form' } }
  assert.deepEqual(await story(id), [
    { event: 'user-created', ...bob, actorId: '_admin', detail: {} },
    { event: 'login', ...bob, actorId: id, detail: { mechanism: 'form' } },
    { event: 'login', ...bob, actorId: id, detail: { mechanism: 'basic' } },
    failed,
    failed,
    failed,
    failed,
    { event: 'login-failed', ...bob, detail: { mechanism: 'basic' } },
    { event: 'locked-out', ...bob, detail: { mechanism: 'basic' } },
    { event: 'unlocked', ...bob, actorId: '_admin', detail: {} },
  ])
})

test('logout, removed tokens, changes by oneself and by admin, disabling, renaming and deleting are on record', async () => {
  const { id } = await addUser(admin, 'eva')
  const visitor = service.visitor()
  const actor = { userId: id, userName: 'eva', address, actorId: id }
  const byAdmin = { userId: id, userName: 'eva', address, actorId: '_admin' }
  await visitor.signIn('eva', GOOD_PASSWORD)
  await visitor.put(userPath(id), { password: NEXT_PASSWORD, currentPassword: WRONG_PASSWORD })
  await visitor.put(userPath(id), { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD })
  await visitor.ask('auth/tokens', { method: 'DELETE', json: { scope: 'others' } })
  await visitor.ask('auth/tokens', { method: 'DELETE', json: { token: visitor.cookie } })
  await visitor.signIn('eva', NEXT_PASSWORD)
  await visitor.get('auth/logout')
  await admin.put(userPath(id), { password: GOOD_PASSWORD })
  await admin.put(userPath(id), { disabled: true })
  await service.visitor().signIn('eva', GOOD_PASSWORD)
  await admin.put(userPath(id), { disabled: false })
  await admin.put(userPath(id), { name: 'eve', language: 'sv' })
  await admin.put(userPath(id), { name: 'eve', disabled: false, language: 'en' })
  await admin.delete(`_principals/entry/${id}`)
  const login = { event: 'login', ...actor, detail: { mechanism: 'form' } }
  const failed = { event: 'login-failed', userId: id, userName: 'eva', address }
  assert.deepEqual(await story(id), [
    { event: 'user-created', ...byAdmin, detail: {} },
    login,
    { ...failed, detail: { mechanism: 'current-password' } },
    { event: 'password-changed', ...actor, detail: {} },
    { event: 'token-removed', userId: id, address, actorId: id, detail: { scope: 'others' } },
    { event: 'token-removed', userId: id, address, actorId: id, detail: { scope: 'one' } },
    login,
    { event: 'logout', userId: id, address, actorId: id, detail: {} },
    { event: 'password-changed', ...byAdmin, detail: {} },
    { event: 'user-disabled', ...byAdmin, detail: {} },
    { ...failed, detail: { mechanism: 'form', why: 'disabled' } },
    { event: 'user-enabled', ...byAdmin, detail: {} },
    { event: 'user-renamed', ...byAdmin, detail: { newName: 'eve' } },
    { event: 'user-deleted', ...byAdmin, userName: 'eve', detail: {} },
  ])
})

test('a reset by mail, asked for and done, is on record', async () => {
  const { id } = await addUser(admin, 'mail@example.org')
  await anyone.post('auth/pwreset', { email: 'mail@example.org' })
  const { token } = linkOf(await smtp.take('mail@example.org'))
  await anyone.post('auth/pwreset', { token, password: NEXT_PASSWORD })
  const whom = { userId: id, userName: 'mail@example.org', address }
  assert.deepEqual((await story(id)).slice(1), [
    { event: 'password-reset-requested', ...whom, detail: {} },
    { event: 'password-reset', ...whom, detail: {} },
  ])
})

test('a quota that is set or removed is on record with the context', async () => {
  const context = await newContext(admin)
  await admin.put(`${context}/quota`, { quota: 1000 })
  await admin.delete(`${context}/quota`)
  const [removed, set] = await read('?limit=2')
  assert.deepEqual([set?.event, set?.actorId, set?.detail], ['quota-changed', '_admin', { context, quota: 1000 }])
  assert.deepEqual([removed?.event, removed?.detail['context']], ['quota-changed', context])
})

test('a changed access list is recorded with its old and new value, and an unchanged one is not (D17.3)', async () => {
  const { id } = await addUser(admin, 'reader')
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const path = `${context}/entry/${entry}`
  const acl = (slot: string, ...ids: string[]) => ({
    [`${admin.base}${context}/resource/${entry}`]: {
      [`http://entrystore.org/terms/${slot}`]: ids.map(id => ({ type: 'uri', value: admin.base + userPath(id) })),
    },
  })
  assert.equal((await admin.put(path, acl('read', id))).status, 204)
  assert.equal((await admin.put(path, acl('read', id))).status, 204)
  assert.equal((await admin.put(path, acl('write', id, '_guest'))).status, 204)
  const [last, first] = await read('?event=access-changed&limit=2')
  const where = { entry: `${context}/${entry}`, name: entry }
  assert.deepEqual(first?.detail, { ...where, before: '', after: `rread: ${id}` })
  assert.deepEqual(last?.detail, { ...where, before: `rread: ${id}`, after: `rwrite: ${id}, _guest` })
  assert.deepEqual([last?.actorId, last?.['address']], ['_admin', address])
})

test('changed members of a group are recorded with their old and new value (D17.3)', async () => {
  const [one, two] = [await addUser(admin, 'member-one'), await addUser(admin, 'member-two')]
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  for (const members of [[one.id], [one.id], [two.id, one.id], []]) {
    assert.equal((await admin.put(userPath(group), members)).status, 204)
  }
  const events = await read('?event=members-changed&limit=3')
  assert.deepEqual(
    events.map(({ detail }) => detail),
    [
      { group: `_principals/${group}`, before: `${two.id}, ${one.id}`, after: '' },
      { group: `_principals/${group}`, before: one.id, after: `${two.id}, ${one.id}` },
      { group: `_principals/${group}`, before: '', after: one.id },
    ],
  )
})

test('a failure with an unknown name is audited without the name, which may be a password', async () => {
  await anyone.signIn('S3cret-in-the-wrong-field', WRONG_PASSWORD)
  const [last] = await read('?limit=1')
  assert.deepEqual([last?.event, last?.userId, last?.userName], ['login-failed', undefined, undefined])
})

test('a refused change leaves no event (D1.5)', async () => {
  const { id, visitor } = await newUser(service, admin)
  const before = (await story(id)).length
  await visitor.put(userPath(id), { name: 'other' })
  await admin.put(userPath(id), { disabled: true, password: 'weak' })
  await visitor.delete('management/lockouts?user=admin')
  assert.equal((await story(id)).length, before)
})

test('the audited address is the client’s according to the trusted proxy, and always a valid address (D1.3)', async () => {
  const { id } = await addUser(admin, 'proxied')
  for (const forwarded of ['203.0.113.9', '"><script>\u00e4', 'unknown']) {
    await anyone.ask('auth/cookie', {
      form: { auth_username: 'proxied', auth_password: WRONG_PASSWORD },
      headers: { 'x-forwarded-for': forwarded },
    })
  }
  const addresses = (await story(id)).slice(1).map(({ address }) => address)
  assert.equal(addresses[0], '203.0.113.9')
  for (const reported of addresses.slice(1)) assert.match(reported ?? '', /^[0-9a-f.:]+$/)
})

test('events are listed latest first, and filtered by user, time and number', async () => {
  const { id } = await addUser(admin, 'filtered')
  service.system.pass(10_000)
  const since = new Date(service.system.now())
  await guess(anyone, 'filtered', 2)
  service.system.pass(1000)
  await guess(anyone, 'filtered', 1)
  const named = await read('?user=FILTERED')
  assert.deepEqual(
    named.map(({ event }) => event),
    ['login-failed', 'login-failed', 'login-failed', 'user-created'],
  )
  assert.deepEqual(await read(`?user=${id}`), named, 'by id too')
  // A user whose name is the id of another one does not hide that one's history, and no part of a name matches.
  await admin.post('_principals?graphtype=user', { resource: { name: id } })
  assert.deepEqual(await read(`?userId=${id}`), named)
  assert.deepEqual(await read('?userId=filtered'), [])
  assert.equal(named[0]?.time, new Date(service.system.now()).toISOString())
  assert.equal((await read(`?user=filtered&since=${since.toISOString()}`)).length, 3)
  assert.equal((await read(`?user=filtered&since=${new Date(since.getTime() + 1).toISOString()}`)).length, 1)
  assert.equal((await read(`?since=${encodeURIComponent('2026-11-21T12:00:00+02:00')}&user=filtered`)).length, 4)
  const older = new Date(since.getTime() + 1).toISOString()
  assert.equal((await read(`?user=filtered&until=${older}`)).length, 3, 'what is before the last event')
  assert.equal((await read('?user=filtered&since=2026-11-21')).length, 4)
  assert.deepEqual(await read('?user=filtered&limit=2'), named.slice(0, 2))
  assert.deepEqual(await read('?user=nobody-at-all'), [])
  assert.ok((await read()).length <= 100)
})

test('the filter by user finds what they did, by name, part of a name and id', async () => {
  const { id, name, visitor } = await newUser(service, admin)
  const context = await newContext(admin, [id])
  const entry = await newEntry(admin, context)
  assert.equal((await visitor.post(`${context}/trash/${entry}`)).status, 204)
  for (const query of [`user=${name.toUpperCase()}`, `user=${name.slice(1)}`, `user=${id}`, `userId=${id}`]) {
    const [trashed] = await read(`?${query}&event=entry-trashed`)
    assert.deepEqual([trashed?.actorId, trashed?.detail['entry']], [id, entry], query)
  }
  assert.deepEqual(await read('?user=nobody-at-all&event=entry-trashed'), [])
})

test('bad filters are 400 and reading is for administrators: guest 401, user 403 (D1.5)', async () => {
  for (const query of [
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=1001',
    'limit=ten',
    'event=sneezed',
    'offset=-1',
    'until=tomorrow',
    'since=yesterday',
    'since=2026-13-01',
    'since=2026-02-30',
    'since=2026-11-21T25:00:00Z',
    'since=2026-11-21T10:00:00',
    'since=1700000000000',
  ]) {
    const answer = await admin.get(`management/audit?${query}`)
    assert.deepEqual([answer.status, codeOf(answer)], [400, 'invalid-query'], query)
  }
  const { visitor } = await newUser(service, admin)
  assert.equal((await anyone.get('management/audit')).status, 401)
  assert.equal((await visitor.get('management/audit?limit=bad')).status, 403)
  assert.equal((await admin.post('management/audit', {})).status, 405)
})

test('the trail can be asked for one kind of event, and read on from where a page ends', async () => {
  const { id } = await addUser(admin, 'paged')
  for (let count = 0; count < 5; count++) await admin.put(`_principals/resource/${id}`, { disabled: count % 2 === 0 })
  const kinds = async (query: string) => (await read(`?user=${id}${query}`)).map(({ event }) => event)
  const all = await kinds('')
  assert.deepEqual(
    all.slice(0, 5),
    [1, 0, 1, 0, 1].map(is => (is ? 'user-disabled' : 'user-enabled')),
  )
  assert.deepEqual(await kinds('&event=user-enabled'), ['user-enabled', 'user-enabled'])
  assert.deepEqual([...(await kinds('&limit=3')), ...(await kinds('&limit=100&offset=3'))], all)
  assert.deepEqual(await kinds('&offset=100'), [])
})
