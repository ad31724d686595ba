import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { addUser, openStore } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { CasBrowser } from '../support/cas-browser.ts'
import { startWithCas } from '../support/cas-service.ts'
import { principal } from '../support/content.ts'
import { newContext } from '../support/service.ts'

const { service, cas, browser } = await startWithCas(
  { after },
  {
    'service.auth.cas.version': 'cas3',
    'service.auth.cas.groups-attribute': 'memberOf',
    'service.auth.cas.groups-prefix': 'SSO-',
    'service.auth.cas.admin-group': 'store-admins',
    'service.auth.cas.map.name': 'displayName',
    'service.auth.cas.map.email': 'mail',
    'service.auth.cas.map.language': 'language',
    'service.auth.cas.map.property.phone': 'phone',
  },
)
const admin = await service.admin()

async function addGroup(name: string, members: readonly string[] = []): Promise<string> {
  const created = await admin.post('_principals?graphtype=group', { resource: { name } })
  assert.equal(created.status, 201, created.text)
  const id = created.json<{ entryId: string }>().entryId
  if (members.length > 0) await setMembers(id, members)
  return id
}

async function setMembers(group: string, ids: readonly string[]): Promise<void> {
  const answer = await admin.put(`_principals/resource/${group}`, ids)
  assert.equal(answer.status, 204, answer.text)
}

async function membersOf(group: string): Promise<string[]> {
  const { children } = (await admin.get(`_principals/resource/${group}`)).json<{
    children: Array<{ entryId: string }>
  }>()
  return children.map(({ entryId }) => entryId)
}

/** Signs the user in with these groups, and returns the browser. */
async function signIn(name: string, groups: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const others = Object.entries(more).map(([key, value]) => [key, [value]])
  cas.attributes.set(name, { memberOf: groups, ...Object.fromEntries(others) })
  const someone = browser()
  const answer = await someone.signInBy(cas, name)
  assert.equal(answer.status, 200, answer.text)
  return someone
}

const idOf = async (someone: CasBrowser): Promise<string> => (await someone.get('auth/user')).json<{ id: string }>().id

const isMember = async (group: string, someone: CasBrowser): Promise<boolean> =>
  (await membersOf(group)).includes(await idOf(someone))

interface Recorded {
  readonly event: string
  readonly detail: Readonly<Record<string, string>>
}

const lastEvent = async (event: string, userId: string): Promise<Recorded | undefined> =>
  (await admin.get(`management/audit?event=${event}&user=${userId}&limit=1`)).json<{ events: Recorded[] }>().events[0]

test('memberships from a provider are added and removed at each sign-on, and a session that is open sees it (D27.2)', async () => {
  const [staff, guests] = [await addGroup('sso-staff'), await addGroup('sso-guests')]
  const context = await newContext(admin)
  const acl = { [`${admin.base}${context}`]: { 'http://entrystore.org/terms/write': [principal(admin, staff)] } }
  assert.equal((await admin.put(`_contexts/entry/${context}`, acl)).status, 204)
  const first = await signIn('anna', ['staff', 'nothing-here'])
  assert.equal((await first.post(context)).status, 201)
  assert.ok(await isMember(staff, first))
  const second = await signIn('anna', ['GUESTS'])
  assert.equal((await first.post(context)).status, 403, 'the session that was open before')
  assert.ok(!(await isMember(staff, second)))
  assert.ok(await isMember(guests, second))
  const recorded = await lastEvent('groups-changed', await idOf(first))
  assert.deepEqual(recorded?.detail, {
    mechanism: 'cas',
    added: 'sso-guests',
    removed: 'sso-staff',
    before: 'sso-staff',
    after: 'sso-guests',
  })
  await signIn('anna', [])
  assert.ok(!(await isMember(guests, second)))
})

test('memberships that were given by hand stay, and no group without the prefix is changed (D27.2)', async () => {
  const { id } = await addUser(admin, 'bert', undefined)
  const byHand = await addGroup('sso-by-hand', [id])
  const other = await addGroup('other-group', [id])
  const plain = await addGroup('plain')
  await signIn('bert', ['by-hand', 'plain', 'other-group'])
  const bert = await signIn('bert', [])
  assert.ok(await isMember(byHand, bert))
  assert.ok(await isMember(other, bert))
  assert.ok(!(await isMember(plain, bert)))
})

test('a membership that an administrator takes away and gives again is one by hand (D27.2)', async () => {
  const group = await addGroup('sso-given')
  const carl = await signIn('carl', ['given'])
  const id = await idOf(carl)
  // Saving a list with the user changes nothing about who gave the membership.
  const { id: another } = await addUser(admin, 'another-member', undefined)
  await setMembers(group, [another, id])
  await signIn('carl', [])
  assert.deepEqual(await membersOf(group), [another])
  await signIn('carl', ['given'])
  await setMembers(group, [another])
  await setMembers(group, [another, id])
  await signIn('carl', [])
  assert.deepEqual(await membersOf(group), [another, id])
})

test('the admin group is changed only by the value that a setting names (D27.3)', async () => {
  for (const value of [
    'admins',
    '_admins',
    'admin',
    '_admin',
    'Store-Admins',
    'store-admin\u200Bs',
    'users',
    '_users',
  ]) {
    const someone = await signIn('dora', [value])
    assert.equal((await someone.get('management/sso')).status, 403, value)
  }
  const someone = await signIn('dora', ['store-admins'])
  assert.equal((await someone.get('management/sso')).status, 200)
  await signIn('dora', ['staff'])
  assert.equal((await someone.get('management/sso')).status, 403)
})

test('a name that a user has, or one of no existing group, gives nothing (D27.2)', async () => {
  await addUser(admin, 'sso-emil', undefined)
  const someone = await signIn('erna', ['emil', 'unknown-group', 'a\tb', 'x'.repeat(300)])
  assert.equal(await lastEvent('groups-changed', await idOf(someone)), undefined)
  assert.equal((await admin.get('management/sso')).status, 200)
})

test('a profile is mapped at each sign-on, with old and new value on record (D27.4)', async () => {
  const someone = await signIn('fred', [], {
    displayName: 'Fred Önn',
    mail: 'fred@example.org',
    language: 'sv',
    phone: '123',
  })
  const id = await idOf(someone)
  const metadata = async () =>
    (await someone.get(`_principals/metadata/${id}`)).json<Record<string, Record<string, Array<{ value: string }>>>>()
  const about = `${admin.base}_principals/resource/${id}`
  const foaf = 'http://xmlns.com/foaf/0.1/'
  assert.equal((await metadata())[about]?.[`${foaf}name`]?.[0]?.value, 'Fred Önn')
  assert.equal((await metadata())[about]?.[`${foaf}mbox`]?.[0]?.value, 'mailto:fred@example.org')
  const { language, customProperties } = (await someone.get(`_principals/resource/${id}`)).json()
  assert.deepEqual([language, customProperties], ['sv', { phone: '123' }])
  // What the provider does not state stays; what users change by hand is replaced.
  await someone.put(`_principals/resource/${id}`, { customProperties: { phone: '999', own: 'kept' } })
  await signIn('fred', [], { phone: '456' })
  const changed = (await someone.get(`_principals/resource/${id}`)).json()
  assert.deepEqual([changed['language'], changed['customProperties']], ['sv', { phone: '456', own: 'kept' }])
  assert.equal((await metadata())[about]?.[`${foaf}name`]?.[0]?.value, 'Fred Önn')
  const recorded = await lastEvent('profile-changed', id)
  assert.deepEqual(recorded?.detail, {
    mechanism: 'cas',
    before: 'property.phone: 999',
    after: 'property.phone: 456',
  })
})

test('a sign-on that changes nothing writes nothing but its login (D27.6)', async () => {
  await addGroup('sso-same')
  const someone = await signIn('gina', ['same'], { displayName: 'Gina' })
  const id = await idOf(someone)
  const events = async (): Promise<string[]> =>
    (await admin.get(`management/audit?user=${id}`)).json<{ events: Recorded[] }>().events.map(({ event }) => event)
  const before = await events()
  await signIn('gina', ['same'], { displayName: 'Gina' })
  assert.deepEqual(await events(), ['login', ...before])
})

test('a user in 4,000 groups signs in, and loses them all again (D27.6)', async t => {
  const database = await openStore(t, service)
  const names = Array.from({ length: 4000 }, (_, index) => `many-${index}`)
  await database.transaction(async tx => {
    for (const name of names) {
      await tx.run(sql`INSERT INTO principals (id, kind, name) VALUES (${name}, 'group', ${`sso-${name}`})`)
    }
  })
  const count = async (userId: string): Promise<number | undefined> =>
    (await database.get<{ total: number }>(sql`SELECT count(*) AS total FROM group_members WHERE user_id = ${userId}`))
      ?.total
  const someone = await signIn('hugo', names)
  const id = await idOf(someone)
  assert.equal(await count(id), 4000)
  const recorded = await lastEvent('groups-changed', id)
  assert.match(recorded?.detail['added'] ?? '', /and 3950 more$/)
  await signIn('hugo', [])
  assert.equal(await count(id), 0)
})

test('groups are created only if a setting allows it, at most a few hundred at once (D27.2)', async t => {
  const other = await startWithCas(t, {
    'service.auth.cas.version': 'saml11',
    'service.auth.cas.groups-attribute': 'memberOf',
    'service.auth.cas.groups-prefix': 'uni-',
    'service.auth.cas.groups-auto-provisioning': 'on',
  })
  const names = Array.from({ length: 300 }, (_, index) => `Group ${index}`)
  other.cas.attributes.set('ines', { memberOf: names })
  const someone = other.browser()
  const answer = await someone.signInBy(other.cas, 'ines')
  assert.equal(answer.status, 200, answer.text)
  const chief = await other.service.admin()
  const groups = async (): Promise<number> =>
    (await chief.get('management/groups?query=uni-&limit=1')).json<{ results: number }>().results
  assert.equal(await groups(), 200)
  await other.browser().signInBy(other.cas, 'ines')
  assert.equal(await groups(), 300)
  // A new group is one like any other: it has an entry, and the user is its member.
  const { groups: found } = (await chief.get('management/groups?query=uni-group%20299')).json<{
    groups: Array<{ id: string; members: number }>
  }>()
  assert.equal(found[0]?.members, 1)
  assert.equal((await chief.get(`_principals/entry/${found[0]?.id ?? ''}`)).status, 200)
})

interface Preview {
  readonly accepted: boolean
  readonly refusal?: { readonly check: string; readonly expected: string; readonly received: string }
  readonly name?: string
  readonly userId?: string
  readonly changes?: ReadonlyArray<{ readonly target: string; readonly before?: string; readonly after: string }>
  readonly groups?: Readonly<Record<'before' | 'after' | 'created' | 'missing' | 'unusable', readonly string[]>>
}

const preview = async (json: object): Promise<Preview> => {
  const answer = await admin.post('management/sso/preview', { provider: 'cas', ...json })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<object>() as Preview
}

test('administrators see what a sign-on would yield, and nothing is changed by it (D27.7)', async () => {
  const group = await addGroup('sso-preview')
  const stated = { memberOf: ['preview', 'not-there', 'a\nb'], displayName: ['Jo'] }
  const unknown = await preview({ name: 'Jo@Example.org', attributes: stated })
  assert.deepEqual(unknown, {
    accepted: true,
    name: 'jo@example.org',
    changes: [{ target: 'name', after: 'Jo' }],
    groups: {
      before: [],
      after: ['sso-preview'],
      created: [],
      missing: ['sso-not-there'],
      unusable: ['a\nb'],
    },
  })
  assert.deepEqual(await membersOf(group), [])
  assert.equal((await preview({ name: 'jo@example.org', attributes: {} })).userId, undefined)
  // Later than the sign-ons before, which can have come to other threads.
  service.system.jump(1)
  const someone = await signIn('jo@example.org', ['preview'], { displayName: 'Jo' })
  const latest = (await admin.get('management/sso/latest?provider=cas')).json()
  assert.deepEqual(
    [latest['name'], latest['attributes']],
    ['jo@example.org', { memberOf: ['preview'], displayName: ['Jo'] }],
  )
  const known = await preview({ name: 'jo@example.org', attributes: { memberOf: ['preview', 'store-admins'] } })
  assert.deepEqual([known.userId, known.groups?.after], [await idOf(someone), ['admins', 'sso-preview']])
  assert.deepEqual((await preview({ name: 'admin', attributes: {} })).refusal?.check, 'reserved-user')
})

test('what providers state is for administrators only (D27.7)', async () => {
  const someone = await signIn('kim', [])
  for (const visitor of [someone, service.visitor()]) {
    const status = visitor === someone ? 403 : 401
    assert.equal((await visitor.get('management/sso/latest?provider=cas')).status, status)
    const tried = { provider: 'cas', name: 'kim', attributes: {} }
    assert.equal((await visitor.post('management/sso/preview', tried)).status, status)
  }
  assert.equal((await admin.get('management/sso/latest?provider=nobody')).status, 404)
  assert.equal((await admin.post('management/sso/preview', { provider: 'x', attributes: {} })).status, 400)
})
