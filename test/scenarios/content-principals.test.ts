import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, principal, readEntry, STORE, textTerm, valuesOf } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

const createUser = (resource: unknown, query = '') =>
  admin.post(`_principals?graphtype=user${query}`, resource === undefined ? undefined : { resource })
const idsOf = async (context: string): Promise<string[]> => (await admin.get(context)).json<string[]>()

test('a user made with a password can sign in with it', async () => {
  assert.equal((await createUser({ name: 'nora', password: 'Winter-Snow-77' })).status, 201)
  assert.equal((await service.visitor().signIn('nora', 'Winter-Snow-77')).status, 200)
})

test('a password that breaks the rules is refused, and the user not created (D5.2)', async () => {
  const before = await idsOf('_principals')
  for (const password of ['short1A', 'no-capital-1-here', 'NO-SMALL-1-HERE', 'No-Digit-In-Here'])
    assertRefused(await createUser({ name: 'olaf', password }), 400, 'password-rules', password)
  assertRefused(await createUser({ name: 'olaf', password: `Aa1${'x'.repeat(2046)}` }), 400, 'password-too-long')
  assertRefused(await createUser({ name: 'olaf', password: '' }), 400, 'password-missing')
  assertRefused(await createUser({ name: 'olaf', password: 7 }), 400, 'invalid-value')
  assert.deepEqual(await idsOf('_principals'), before)
})

test('names are trimmed, lower-cased and taken once for users and groups together (W1.7, D1.7)', async () => {
  const id = (await createUser({ name: '  Karin@Ex.ORG ' })).json<{ entryId: string }>().entryId
  assert.equal((await admin.get(`_principals/entry/${id}/name`)).json()['name'], 'karin@ex.org')
  for (const name of ['karin@ex.org', 'KARIN@ex.org', '\u200bkarin@ex.org', 'ｋarin@ex.org', 'Admin', 'guest', 'users'])
    assertRefused(await createUser({ name }), 409, 'name-taken', name)
  assertRefused(
    await admin.post('_principals?graphtype=group', { resource: { name: 'Karin@ex.org' } }),
    409,
    'name-taken',
  )
  for (const name of ['', ' ', '\u200b', 'a\u0000b', 'x'.repeat(256)])
    assert.equal((await createUser({ name })).status, 400, JSON.stringify(name))
  assertRefused(await createUser({}), 400, 'invalid-name')
  assertRefused(await createUser('karin'), 400, 'invalid-value')
})

test('of twenty users with one name made at once, one is made (D1.7)', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => createUser({ name: 'Twin' })))
  const made = answers.filter(answer => answer.status === 201)
  assert.equal(made.length, 1)
  for (const answer of answers) if (answer !== made[0]) assertRefused(answer, 409, 'name-taken')
})

test('a user without a resource has no name and cannot sign in', async () => {
  const id = (await createUser(undefined)).json<{ entryId: string }>().entryId
  const { resource } = await readEntry(admin, '_principals', id)
  assert.deepEqual(resource, { customProperties: {} })
  assertRefused(await admin.get(`_principals/entry/${id}/name`), 404, 'not-found')
})

test('a new user writes itself and is visible to users; a group is read by its members (W3.2.1)', async () => {
  const { id, visitor } = await newUser(service, admin)
  const entry = await readEntry(admin, '_principals', id)
  const self = [`${admin.base}_principals/resource/${id}`]
  const everyone = [`${admin.base}_principals/resource/_users`]
  assert.deepEqual(valuesOf(admin, entry, `_principals/resource/${id}`, `${STORE}write`), self)
  assert.deepEqual(valuesOf(admin, entry, `_principals/metadata/${id}`, `${STORE}write`), self)
  assert.deepEqual(valuesOf(admin, entry, `_principals/metadata/${id}`, `${STORE}read`), everyone)
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  const about = await readEntry(admin, '_principals', group)
  assert.deepEqual(valuesOf(admin, about, `_principals/resource/${group}`, `${STORE}read`), [
    `${admin.base}_principals/resource/${group}`,
  ])
  assert.deepEqual(valuesOf(admin, about, `_principals/metadata/${group}`, `${STORE}read`), everyone)
  assertRefused(await visitor.get(`_principals/resource/${group}`), 403, 'not-allowed')
  assert.equal((await admin.put(`_principals/resource/${group}`, [id])).status, 204)
  assert.equal((await visitor.get(`_principals/resource/${group}`)).status, 200)
})

test('info without an ACL keeps the automatic one, info with one replaces it (W3.2.1)', async () => {
  const r = `${admin.base}_principals/resource/_newId`
  const make = async (info: unknown): Promise<string> =>
    (await admin.post('_principals?graphtype=user', { info })).json<{ entryId: string }>().entryId
  const plain = await make(graphOf(r, 'http://ex.org/p', textTerm('x')))
  const own = await make(graphOf(r, `${STORE}read`, principal(admin, '_guest')))
  const acl = async (id: string) => {
    const entry = await readEntry(admin, '_principals', id)
    return [`${STORE}read`, `${STORE}write`].map(p => valuesOf(admin, entry, `_principals/resource/${id}`, p).length)
  }
  assert.deepEqual(await acl(plain), [0, 1])
  assert.deepEqual(await acl(own), [1, 0])
})

test('groupURI makes the new user a member; anything but a group is refused, and no user is created (W3.2.1)', async () => {
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  const uri = (id: string) => `&groupURI=${encodeURIComponent(`${admin.base}_principals/entry/${id}`)}`
  const { entryId } = (await createUser({ name: 'joiner' }, uri(group))).json<{ entryId: string }>()
  const { children } = (await admin.get(`_principals/resource/${group}`)).json<{
    children: Array<{ entryId: string }>
  }>()
  assert.deepEqual(
    children.map(child => child.entryId),
    [entryId],
  )
  const before = await idsOf('_principals')
  for (const query of [uri('_users'), uri(entryId), uri('none'), '&groupURI=http://ex.org/', '&groupURI=x'])
    assert.equal((await createUser({ name: 'outsider' }, query)).status, 400, query)
  assert.deepEqual(await idsOf('_principals'), before)
})

test('a home context must exist (W3.8.4)', async () => {
  const context = await newContext(admin)
  const { entryId } = (await createUser({ name: 'homely', homecontext: context })).json<{ entryId: string }>()
  const entry = await readEntry(admin, '_principals', entryId)
  assert.equal((entry.resource as { homecontext: string }).homecontext, context)
  assert.deepEqual(valuesOf(admin, entry, `_principals/resource/${entryId}`, `${STORE}homeContext`), [
    `${admin.base}_contexts/entry/${context}`,
  ])
  assertRefused(await createUser({ name: 'homeless', homecontext: 'nowhere' }), 400, 'invalid-value')
})

test('a context may be born with a name; a taken one is 409, an impossible one 400', async () => {
  const make = (name: unknown, query = '') => admin.post(`_contexts?graphtype=context${query}`, { resource: { name } })
  const created = await make('Field Notes')
  const id = created.json<{ entryId: string }>().entryId
  const entry = await readEntry(admin, '_contexts', id)
  assert.deepEqual([entry.name, entry.alias], ['Field Notes', 'Field Notes'])
  assert.equal((await admin.get('Field%20Notes')).status, 200)
  const before = await idsOf('_contexts')
  assertRefused(await make('Field Notes'), 409, 'name-taken')
  assertRefused(await make(id), 409, 'name-taken', 'the id of another context')
  for (const name of ['auth', 'Search', '_mine', 'a\u0007', '..', ''])
    assertRefused(await make(name), 400, 'invalid-name', name)
  assertRefused(await make(7), 400, 'invalid-value')
  assertRefused(await make('free', '&id=Field%20Notes'), 400, 'invalid-id')
  assert.deepEqual(await idsOf('_contexts'), before)
})

test('an id that is the name of a context is not given to another', async () => {
  await admin.post('_contexts?graphtype=context', { resource: { name: 'notes' } })
  assertRefused(await admin.post('_contexts?graphtype=context&id=notes'), 409, 'id-taken')
  const next = Number(await newContext(admin)) + 1
  assert.equal((await admin.post('_contexts?graphtype=context', { resource: { name: String(next + 1) } })).status, 201)
  assert.equal(await newContext(admin), String(next + 2), 'the number that is a name was skipped')
})

test('only administrators make groups with a context, unless it is open to all (W3.9)', async () => {
  const { visitor } = await newUser(service, admin)
  assertRefused(await service.visitor().post('_principals/groups?name=x'), 401, 'not-signed-in')
  assertRefused(await visitor.post('_principals/groups?name=x'), 403, 'not-allowed')
  assert.equal((await admin.post('_principals/groups?name=Admins%20own')).status, 201)
})

test('a new user gets all members of the resource, and none is dropped silently (I2.2)', async () => {
  const resource = { name: 'greta', language: 'sv', customProperties: { theme: 'dark' }, disabled: true }
  const { entryId } = (await createUser(resource)).json<{ entryId: string }>()
  assert.deepEqual((await admin.get(`_principals/resource/${entryId}`)).json(), resource)
  assertRefused(await createUser({ name: 'helge', language: 'not a tag' }), 400, 'invalid-value')
})
