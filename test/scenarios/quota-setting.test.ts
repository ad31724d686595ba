import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, modifiedOf, type QuotaJson, readEntry, STORE, uriTerm } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const settings = { 'service.data.quota': 'on', 'service.data.quota.default': '2k' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const owner = await newUser(service, admin)
const stranger = await newUser(service, admin)
const context = await newContext(admin, [owner.id])
const quotaOf = async (place: string): Promise<QuotaJson> => (await admin.get(`${place}/quota`)).json<QuotaJson>()
const quota = (): Promise<QuotaJson> => quotaOf(context)

test('off: every method on quota is 501, and entries do not speak of it (I7, D7.1, D18.5)', async t => {
  const off = await startInProcess(t)
  const boss = await off.admin()
  const place = await newContext(boss)
  for (const visitor of [boss, off.visitor()]) {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      const answer = await visitor.ask(`${place}/quota`, {
        method,
        ...(method === 'PUT' ? { json: { quota: 5 } } : {}),
      })
      assert.equal(answer.status, 501, method)
      if (method !== 'HEAD') assertRefused(answer, 501, 'quota-not-supported', method)
    }
  }
  assertRefused(await boss.put(place, { quota: 5 }), 501, 'quota-not-supported')
  const created = await boss.post('_contexts?graphtype=context', { resource: { quota: 5 } })
  assertRefused(created, 501, 'quota-not-supported')
  assert.ok(!('quota' in (await readEntry(boss, '_contexts', place))))
})

test('the object has the default quota until one is set, and again after DELETE (I2.6, D7.1)', async () => {
  const place = await newContext(admin)
  const path = `${place}/quota`
  const unset = { quota: 2048, fillLevel: 0, hasDefaultQuota: true }
  assert.deepEqual((await admin.get(path)).json(), unset)
  const put = await admin.put(path, { quota: 2048 })
  assert.equal(put.status, 200)
  assert.deepEqual(put.json(), { ...unset, hasDefaultQuota: false })
  assert.ok(put.headers['last-modified'])
  const removed = await admin.delete(path)
  assert.equal(removed.status, 200)
  assert.deepEqual(removed.json(), unset)
})

test("quota is set at its own address and at the context's, to 0, to -1, to 2^53-1 (I2.6, D7.2)", async () => {
  for (const value of [0, 1, -1, Number.MAX_SAFE_INTEGER]) {
    assert.equal((await admin.put(`${context}/quota`, { quota: value })).status, 200)
    assert.equal((await quota()).quota, value)
    assert.equal((await admin.delete(`${context}/quota`)).status, 200)
    const put = await admin.put(context, { quota: value })
    assert.equal(put.status, 200)
    assert.deepEqual(put.json()['quota'], { quota: value, fillLevel: 0, hasDefaultQuota: false })
    assert.equal((await quota()).quota, value)
  }
  const both = await admin.put(context, { alias: 'Limited', quota: 77 })
  assert.deepEqual([both.json()['alias'], (await quota()).quota], ['Limited', 77])
})

test('a context may be created with a quota (W3.11)', async () => {
  const created = await admin.post('_contexts?graphtype=context', { resource: { quota: 99 } })
  const { entryId } = created.json<{ entryId: string }>()
  assert.equal((await readEntry(admin, '_contexts', entryId)).quota?.quota, 99)
  const before = (await admin.get('_contexts')).json()
  assertRefused(await admin.post('_contexts?graphtype=context', { resource: { quota: -2 } }), 400, 'invalid-quota')
  assert.deepEqual((await admin.get('_contexts')).json(), before)
})

test('what is not a quota is 400, at either address, and nothing changes (D7.1)', async () => {
  await admin.put(`${context}/quota`, { quota: 500 })
  const before = await readEntry(admin, '_contexts', context)
  const bodies = [
    ...['1.5', '"5"', '-2', '-0', '9007199254740992', '1e400', 'null', 'true', '[]', '{}'].map(
      value => `{"quota":${value}}`,
    ),
    '{"quota":{"quota":"5"}}',
    '{"quota":{"fillLevel":1}}',
    '{"quota":{"quota":5,"extra":1}}',
    '{"quota":5,"extra":1}',
    '{"quota":',
    '[5]',
    '5',
    'null',
  ]
  const raw = (path: string, body: string, type = 'application/json') =>
    admin.ask(path, { method: 'PUT', body, headers: { 'content-type': type } })
  for (const body of [...bodies, '', '{}', '{"fillLevel":7}', '{"quota":{"quota":5}}']) {
    const answer = await raw(`${context}/quota`, body)
    assert.equal(answer.status, 400, body)
  }
  for (const body of bodies) assert.equal((await raw(context, body)).status, 400, body)
  assertRefused(await raw(`${context}/quota`, '{"quota":5}', 'text/plain'), 415, 'unsupported-type')
  assertRefused(await raw(context, '{"quota":5}', 'text/plain'), 415, 'unsupported-type')
  const afterwards = await readEntry(admin, '_contexts', context)
  assert.deepEqual(afterwards, before)
  assert.equal(modifiedOf(admin, '_contexts', afterwards), modifiedOf(admin, '_contexts', before))
})

test('only administrators set it: guest 401, user 403, owner 403, member of _admins 200 (I5.10, D7.1)', async () => {
  await admin.put(`${context}/quota`, { quota: 500 })
  const before = await readEntry(admin, '_contexts', context)
  const boss = await newUser(service, admin)
  await admin.put('_principals/resource/_admins', [boss.id])
  const garbage = { method: 'PUT', body: '{', headers: { 'content-type': 'application/json' } }
  for (const path of [`${context}/quota`, context]) {
    for (const [visitor, status, code] of [
      [service.visitor(), 401, 'not-signed-in'],
      [stranger.visitor, 403, 'not-allowed'],
      [owner.visitor, 403, 'not-allowed'],
    ] as const) {
      assertRefused(await visitor.put(path, { quota: 5 }), status, code, path)
      if (path !== context) {
        assertRefused(await visitor.ask(path, garbage), status, code, 'the right is judged before the body')
        assertRefused(await visitor.delete(path), status, code)
      }
    }
  }
  assert.deepEqual(await readEntry(admin, '_contexts', context), before)
  assert.equal((await boss.visitor.put(`${context}/quota`, { quota: 600 })).status, 200)
  assert.equal((await boss.visitor.put(context, { quota: 700 })).status, 200)
  assert.equal((await boss.visitor.delete(`${context}/quota`)).status, 200)
})

test('the right to read the resource of a context includes its quota, also in the entry; for others it is omitted (D7.1)', async () => {
  assert.equal((await owner.visitor.get(`${context}/quota`)).status, 200)
  assert.ok((await readEntry(owner.visitor, '_contexts', context)).quota)
  assert.ok((await owner.visitor.get(`_contexts/entry/${context}`)).json()['quota'], 'also without includeAll')
  assertRefused(await stranger.visitor.get(`${context}/quota`), 403, 'not-allowed')
  assertRefused(await service.visitor().get(`${context}/quota`), 401, 'not-signed-in')
  const everybody = uriTerm(`${admin.base}_principals/resource/_guest`)
  const info = (await readEntry(admin, '_contexts', context)).info
  const open = graphOf(`${admin.base}_contexts/metadata/${context}`, `${STORE}read`, everybody)
  assert.equal((await admin.put(`_contexts/entry/${context}`, { ...info, ...open })).status, 204)
  assert.ok(!('quota' in (await readEntry(stranger.visitor, '_contexts', context))))
  assert.ok(!('quota' in (await readEntry(service.visitor(), '_contexts', context))))
})

test('an unknown context is 404 for every method (W3.11)', async () => {
  for (const answer of [
    await admin.get('none/quota'),
    await admin.put('none/quota', { quota: 5 }),
    await admin.delete('none/quota'),
    await admin.put('none', { quota: 5 }),
  ])
    assertRefused(answer, 404, 'not-found')
})

test('a quota set by name or by id is one and the same', async () => {
  await admin.put(context, { alias: 'By name' })
  await admin.put('By%20name/quota', { quota: 321 })
  assert.equal((await quota()).quota, 321)
})

test('entries of other kinds, and the context of no file, do not carry a quota', async () => {
  const id = await newEntry(admin, context)
  assert.equal((await putFile(admin, `${context}/resource/${id}`, 'x')).status, 201)
  assert.ok(!('quota' in (await readEntry(admin, context, id))))
  assert.equal((await quota()).fillLevel, 1)
})

test('the object that GET returned can be sent back at any time; what cannot be set is ignored, whatever it is (I2.6, D7.1)', async () => {
  const place = await newContext(admin)
  const path = `${place}/quota`
  const first = await quotaOf(place)
  const id = await newEntry(admin, place)
  assert.equal((await putFile(admin, `${place}/resource/${id}`, 'xyz')).status, 201)
  for (let round = 0; round < 2; round++) {
    const answer = await admin.put(path, first)
    assert.deepEqual([answer.status, answer.json()], [200, { quota: 2048, fillLevel: 3, hasDefaultQuota: false }])
  }
  for (const other of [{ fillLevel: -7 }, { fillLevel: 'all' }, { hasDefaultQuota: true }, { hasDefaultQuota: null }]) {
    const answer = await admin.put(path, { ...first, quota: 77, ...other })
    assert.deepEqual([answer.status, answer.json()], [200, { quota: 77, fillLevel: 3, hasDefaultQuota: false }])
  }
})

test("the object can be sent back to the context's resource, as its entry and the answer to PUT show it (I2.6, D7.2)", async () => {
  for (const at of [(place: string) => place, (place: string) => `_contexts/resource/${place}`]) {
    const place = await newContext(admin)
    const shown = (await readEntry(admin, '_contexts', place)).quota
    assert.ok(shown)
    const id = await newEntry(admin, place)
    assert.equal((await putFile(admin, `${place}/resource/${id}`, 'xyz')).status, 201)
    const answer = await admin.put(at(place), { alias: `whole-${place}`, quota: { ...shown, quota: 55 } })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(await quotaOf(place), { quota: 55, fillLevel: 3, hasDefaultQuota: false })
    assert.equal((await admin.put(at(place), answer.json())).status, 200, 'what PUT returned')
    assert.equal((await admin.put(at(place), { ...shown, quota: 44 })).status, 200, 'beside each other')
    assert.deepEqual(await quotaOf(place), { quota: 44, fillLevel: 3, hasDefaultQuota: false })
    assert.equal((await admin.put(at(place), { fillLevel: 7 })).status, 200)
    assert.deepEqual(await quotaOf(place), { quota: 44, fillLevel: 3, hasDefaultQuota: false })
  }
  const resource = { quota: await quotaOf(context) }
  const created = await admin.post('_contexts?graphtype=context', { resource })
  assert.equal(created.status, 201, created.text)
})

test("the context's resource has a second address, where PUT sets quota and name as well (I2.6, D7.2)", async () => {
  const place = await newContext(admin)
  const answer = await admin.put(`_contexts/resource/${place}`, { quota: 88, alias: `second-${place}` })
  assert.equal(answer.status, 200, answer.text)
  assert.equal((await admin.get(`${place}/quota`)).json<QuotaJson>().quota, 88)
  assert.equal((await admin.get(`_contexts/entry/${place}/name`)).json()['name'], `second-${place}`)
  assertRefused(await owner.visitor.put(`_contexts/resource/${place}`, { quota: 99 }), 403, 'not-allowed')
  assert.equal((await admin.get(`${place}/quota`)).json<QuotaJson>().quota, 88)
})
