import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, modifiedOf, principal, readEntry, STORE } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const owner = await newUser(service, admin)
const stranger = await newUser(service, admin)

const nameOf = async (context: string): Promise<string | undefined> =>
  (await readEntry(admin, '_contexts', context)).alias

test('the owner names a context, by its resource or its entry, and it answers by the name (D7.2, W1.2)', async () => {
  const context = await newContext(admin, [owner.id])
  const put = await owner.visitor.put(context, { alias: 'Field Notes 1' })
  assert.equal(put.status, 200, put.text)
  assert.equal(put.json()['alias'], 'Field Notes 1')
  assert.equal(await nameOf(context), 'Field Notes 1')
  assert.equal((await owner.visitor.put(`_contexts/entry/${context}/name`, { name: 'Feldbuch Ä' })).status, 204)
  const entry = await newEntry(owner.visitor, 'Feldbuch%20%C3%84')
  assert.equal((await owner.visitor.get(`${context}/entry/${entry}`)).status, 200)
  const created = await owner.visitor.post('Feldbuch%20%C3%84')
  assert.ok(String(created.headers.location).startsWith(`${admin.base}${context}/entry/`), 'addresses are told by id')
  assertRefused(await admin.get('Field%20Notes%201'), 404, 'not-found')
})

test('an empty name takes the name away (W3.4)', async () => {
  const context = await newContext(admin)
  await admin.put(context, { name: 'for a while' })
  assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name: '  ' })).status, 204)
  assert.equal(await nameOf(context), undefined)
  assertRefused(await admin.get(`_contexts/entry/${context}/name`), 404, 'not-found')
})

test('a name may have any characters of a title; in an address they are escaped (D18.25)', async () => {
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  for (const name of ['a / b', 'What? #1 \\ {[<>]} 100%', `new/${context}/entry/${entry}`]) {
    assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name })).status, 204, name)
    assert.equal(await nameOf(context), name)
    const read = await admin.get(`${encodeURIComponent(name)}/entry/${entry}`)
    assert.equal(read.json<{ entryId: string }>().entryId, entry)
    for (const place of [name, `${name}/${entry}`]) {
      const query = `management/audit?place=${encodeURIComponent(place)}&event=context-renamed`
      const { events } = (await admin.get(query)).json<{ events: unknown[] }>()
      assert.equal(events.length > 0, place === name, place)
    }
  }
})

test('null removes the name of a context, by either address (D18.25)', async () => {
  const context = await newContext(admin)
  for (const remove of [
    () => admin.put(`_contexts/entry/${context}/name`, { name: null }),
    () => admin.put(context, { alias: null }),
  ]) {
    await admin.put(context, { alias: 'for a while' })
    assert.ok((await remove()).status < 300)
    assert.equal(await nameOf(context), undefined)
  }
})

test('a name that is taken, reserved or the id of another context is refused, and nothing changes (W1.2)', async () => {
  const [one, two] = [await newContext(admin), await newContext(admin)]
  await admin.put(one, { alias: 'Taken' })
  const before = await readEntry(admin, '_contexts', two)
  for (const [name, status] of [
    ['Taken', 409],
    [one, 409],
    ['auth', 400],
    ['SEARCH', 400],
    ['_contexts', 400],
    ['_x', 400],
    ['a\u0007', 400],
    ['..', 400],
    ['x'.repeat(256), 400],
  ] as const) {
    const code = status === 409 ? 'name-taken' : 'invalid-name'
    assertRefused(await admin.put(two, { alias: name }), status, code, name)
    assertRefused(await admin.put(`_contexts/entry/${two}/name`, { name }), status, code, name)
  }
  for (const body of [{}, { name: 7 }, [], 'x'])
    assert.equal((await admin.put(`_contexts/entry/${two}/name`, body)).status, 400, JSON.stringify(body))
  for (const body of [[], 'x', { alias: 7 }, { other: 1 }, null])
    assert.equal((await admin.put(two, body)).status, 400, JSON.stringify(body))
  assert.deepEqual(await readEntry(admin, '_contexts', two), before)
})

test('a context may be named as its own id, and a name may differ in case from another', async () => {
  const [one, two] = [await newContext(admin), await newContext(admin)]
  assert.equal((await admin.put(one, { alias: one })).status, 200)
  assert.equal((await admin.put(one, { alias: 'Case' })).status, 200)
  assert.equal((await admin.put(two, { alias: 'case' })).status, 200)
})

test('the id of a deleted context is not free as a name, so old addresses lead nowhere else', async () => {
  const [gone, other] = [await newContext(admin), await newContext(admin)]
  await admin.delete(`_contexts/entry/${gone}`)
  assertRefused(await admin.put(other, { alias: gone }), 409, 'name-taken')
})

test('only the owner names the context: guests get 401, users 403 (D7.2)', async () => {
  const context = await newContext(admin, [owner.id])
  for (const [path, body] of [
    [context, { alias: 'mine' }],
    [`_contexts/entry/${context}/name`, { name: 'mine' }],
  ] as const) {
    assertRefused(await service.visitor().put(path, body), 401, 'not-signed-in')
    assertRefused(await stranger.visitor.put(path, body), 403, 'not-allowed')
  }
  assert.equal(await nameOf(context), undefined)
})

test('alias and quota are set together or not at all (D7.2)', async () => {
  const context = await newContext(admin, [owner.id])
  const before = modifiedOf(admin, '_contexts', await readEntry(admin, '_contexts', context))
  assertRefused(await owner.visitor.put(context, { alias: 'both', quota: 5 }), 403, 'not-allowed')
  assertRefused(await admin.put(context, { alias: 'both', quota: 5 }), 501, 'quota-not-supported')
  const entry = await readEntry(admin, '_contexts', context)
  assert.equal(entry.alias, undefined)
  assert.equal(modifiedOf(admin, '_contexts', entry), before)
})

test('only administrators rename users; groups share their name space (D5.4, W1.7)', async () => {
  const path = `_principals/entry/${stranger.id}/name`
  assertRefused(await stranger.visitor.put(path, { name: 'boss@ex.org' }), 403, 'not-allowed')
  assert.equal((await admin.put(path, { name: ' Boss@EX.org ' })).status, 204)
  assert.deepEqual((await stranger.visitor.get(path)).json(), { name: 'boss@ex.org' })
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  assertRefused(await admin.put(`_principals/entry/${group}/name`, { name: 'BOSS@ex.org' }), 409, 'name-taken')
  assertRefused(await admin.put(path, { name: '' }), 400, 'invalid-name')
  assert.equal((await admin.put(`_principals/entry/${group}/name`, { name: 'Crew' })).status, 204)
  assert.equal((await admin.put(`_principals/entry/${group}/name`, { name: '' })).status, 204)
})

test('who administers the entry of a user may not rename them, at any address (D5.4)', async () => {
  const user = await newUser(service, admin)
  const delegate = await newUser(service, admin)
  const entry = `_principals/entry/${user.id}`
  const acl = graphOf(`${admin.base}${entry}`, `${STORE}write`, principal(admin, delegate.id))
  assert.equal((await admin.put(entry, acl)).status, 204)
  assert.deepEqual((await readEntry(delegate.visitor, '_principals', user.id)).rights, ['administer'])
  for (const path of [`${entry}/name`, `_principals/resource/${user.id}`])
    assertRefused(await delegate.visitor.put(path, { name: 'mine@ex.org' }), 403, 'not-allowed', path)
  assert.equal((await delegate.visitor.put(`_principals/resource/${user.id}`, { language: 'sv' })).status, 204)
  assert.deepEqual((await admin.get(`${entry}/name`)).json(), { name: user.name })
})

test('names of system entries stay (W1.6)', async () => {
  for (const path of ['_principals/entry/_admin', '_principals/entry/_users', '_contexts/entry/_principals'])
    assertRefused(await admin.put(`${path}/name`, { name: 'other' }), 403, 'not-allowed', path)
  assertRefused(await admin.put('_principals/resource/_admin', { name: 'other' }), 403, 'not-allowed')
})

test('an administrator finds contexts and principals by their names (W3.2.2)', async () => {
  const context = await newContext(admin)
  assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name: 'Findable' })).status, 204)
  const user = await newUser(service, admin)
  const ids = async (path: string) => (await admin.get(path)).json<string[]>()
  assert.deepEqual(await ids('_contexts?entryname=Findable'), [context])
  assert.deepEqual(await ids('_contexts?entryname=findable'), [])
  assert.deepEqual(await ids(`_contexts?entryname=${context}`), [])
  assert.deepEqual(await ids(`_principals?entryname=${user.name.toUpperCase()}`), [user.id])
  assert.deepEqual(await ids('_principals?entryname=admins'), ['_admins'])
  assert.deepEqual(await ids(`${context}?entryname=Findable`), [])
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  assertRefused(await user.visitor.get('_contexts?entryname=Findable'), 403, 'not-allowed')
})
