import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { assertRefused, graphOf, modifiedOf, readEntry, textTerm } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
const resource = (id: string): string => `${context}/resource/${id}`
const raw = (id: string, body: string, type = 'application/json') =>
  admin.ask(resource(id), { method: 'PUT', body, headers: { 'content-type': type } })

test('a string is stored unchanged, whatever its media type, and returned as text (W3.8.2)', async () => {
  const id = await newEntry(admin, context, '?graphtype=string')
  assert.equal((await admin.get(resource(id))).text, '')
  for (const text of ['hello', '{"not": parsed', '', ' Grüße \n', '"quoted"']) {
    const put = await raw(id, text)
    assert.equal(put.status, 204, put.text)
    assert.ok(put.headers['last-modified'])
    const got = await admin.get(resource(id), { accept: 'text/plain' })
    assert.equal(got.status, 200)
    assert.equal(got.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(got.text, text)
    assert.equal((await readEntry(admin, context, id)).resource, text)
  }
  assertRefused(await admin.ask(resource(id), { method: 'PUT', body: Buffer.from([0xff, 0xfe]) }), 400, 'bad-request')
  assertRefused(await raw(id, 'a\u0000b'), 400, 'invalid-value')
})

test('graphs and pipelines hold RDF, and start empty (W3.8.3)', async () => {
  for (const type of ['graph', 'pipeline']) {
    const id = await newEntry(admin, context, `?graphtype=${type}`)
    assert.deepEqual((await admin.get(resource(id))).json(), {})
    assert.deepEqual((await readEntry(admin, context, id)).resource, {})
    const graph = { '_:a': { 'http://ex.org/p': [{ type: 'bnode', value: '_:b' }, textTerm('x')] } }
    assert.equal((await admin.put(resource(id), graph)).status, 204)
    assert.deepEqual((await admin.get(resource(id))).json(), graph)
    assertRefused(await raw(id, '[1]'), 400, 'invalid-graph')
    assertRefused(await raw(id, '{}', 'text/plain'), 415, 'unsupported-type')
    assert.deepEqual((await admin.get(resource(id))).json(), graph)
  }
})

test('a list keeps its order; unknown members are 400, doubles 409, and nothing changes (W3.8.5)', async () => {
  const [a, b, c] = [
    await newEntry(admin, context),
    await newEntry(admin, context),
    await newEntry(admin, context, '?id=c_'),
  ]
  const list = await newEntry(admin, context, '?graphtype=list')
  assert.deepEqual((await admin.get(resource(list))).json(), [])
  assert.equal((await admin.put(resource(list), [c, Number(a), b])).status, 204)
  assert.deepEqual((await admin.get(resource(list))).json(), [c, a, b])
  const before = await readEntry(admin, context, list)
  assertRefused(await admin.put(resource(list), [a, 'none']), 400, 'invalid-member')
  assertRefused(await admin.put(resource(list), [a, b, Number(a)]), 409, 'conflict')
  for (const body of [{}, 'x', [null], [{}], [''], ['a/b'], [1.5]])
    assertRefused(await admin.put(resource(list), body), 400, 'invalid-member', JSON.stringify(body))
  assertRefused(await raw(list, ''), 400, 'invalid-json')
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  assertRefused(await raw(list, deep), 400, 'invalid-json', 'nested too deep to be parsed')
  assert.deepEqual(await readEntry(admin, context, list), before)
})

test('members of a group are users; guests, groups and strangers are refused (W3.8.5)', async () => {
  const [one, two] = [await newUser(service, admin), await newUser(service, admin)]
  const group = await newEntry(admin, '_principals', '?graphtype=group', { resource: { name: 'Crew' } })
  const path = `_principals/resource/${group}`
  assert.equal((await admin.put(path, [two.id, Number(one.id)])).status, 204)
  const members = async () => (await admin.get(path)).json<{ name: string; children: Array<{ entryId: string }> }>()
  const reported = await members()
  assert.equal(reported.name, 'crew')
  assert.deepEqual(
    reported.children.map(child => child.entryId),
    [two.id, one.id],
  )
  for (const body of [['_guest'], [group], ['nobody'], ['_admins']])
    assertRefused(await admin.put(path, body), 400, 'invalid-member', JSON.stringify(body))
  assertRefused(await admin.put(path, [one.id, one.id]), 409, 'conflict')
  assertRefused(await one.visitor.put(path, [one.id]), 403, 'not-allowed')
  assertRefused(await service.visitor().put(path, []), 401, 'not-signed-in')
  assert.deepEqual(await members(), reported)
})

test('the members of _users cannot be set, those of _admins can, with the next request (W1.6)', async () => {
  const { id, visitor } = await newUser(service, admin)
  assertRefused(await admin.put('_principals/resource/_users', [id]), 403, 'not-allowed')
  assertRefused(await visitor.put('_principals/resource/_admins', [id]), 403, 'not-allowed')
  assertRefused(await visitor.get(context), 403, 'not-allowed')
  assert.equal((await admin.put('_principals/resource/_admins', [id])).status, 204)
  assert.equal((await visitor.get(context)).status, 200)
  assert.equal((await admin.put('_principals/resource/_admins', [])).status, 204)
  assertRefused(await visitor.get(context), 403, 'not-allowed')
})

test('a user reads itself and sets its language, home context and properties (W3.8.4)', async () => {
  const { id, name, visitor } = await newUser(service, admin)
  const path = `_principals/resource/${id}`
  const home = await newContext(admin)
  for (const wish of [{ language: 'sv' }, { homecontext: home }, { customProperties: { Key: 'v', __proto__x: '1' } }])
    assert.equal((await visitor.put(path, wish)).status, 204, JSON.stringify(wish))
  assert.deepEqual((await visitor.get(path)).json(), {
    name,
    homecontext: home,
    language: 'sv',
    customProperties: { key: 'v', __proto__x: '1' },
  })
  assert.equal((await visitor.put(path, { language: '', homecontext: '', customProperties: {} })).status, 204)
  assert.deepEqual((await visitor.get(path)).json(), { name, customProperties: {} })
})

test('a change of a user is all or nothing (D5.4)', async () => {
  const { id, visitor } = await newUser(service, admin)
  const path = `_principals/resource/${id}`
  const before = await readEntry(admin, '_principals', id)
  for (const wish of [
    { language: 'sv', homecontext: 'nowhere' },
    { language: 'sv', customProperties: { a: 7 } },
    { language: 'sv', customProperties: [] },
    { language: 'not a tag' },
    { language: 'sv', unknown: true },
    { language: 7 },
    { language: 'sv', disabled: 'maybe' },
    { customProperties: { big: 'x'.repeat(70_000) } },
    [],
    'x',
  ])
    assert.equal((await visitor.put(path, wish)).status, 400, JSON.stringify(wish).slice(0, 80))
  assertRefused(await visitor.put(path, { language: 'sv', name: 'other' }), 403, 'not-allowed')
  assertRefused(await visitor.put(path, { language: 'sv', disabled: true }), 403, 'not-allowed')
  assert.deepEqual(await readEntry(admin, '_principals', id), before)
})

test('a stranger neither reads nor changes a user (D1.5)', async () => {
  const [one, two] = [await newUser(service, admin), await newUser(service, admin)]
  const path = `_principals/resource/${one.id}`
  assertRefused(await two.visitor.get(path), 403, 'not-allowed')
  assertRefused(await two.visitor.put(path, { language: 'sv' }), 403, 'not-allowed')
  assertRefused(await service.visitor().put(path, { language: 'sv' }), 401, 'not-signed-in')
  assertRefused(await service.visitor().put('_principals/resource/_guest', { language: 'sv' }), 401, 'not-signed-in')
})

test('writing updates the date of the entry and returns it, for every graph type', async () => {
  const written: ReadonlyArray<readonly [type: string, body: unknown]> = [
    ['string', 'x'],
    ['graph', {}],
    ['list', []],
  ]
  for (const [type, body] of written) {
    const id = await newEntry(admin, context, `?graphtype=${type}`)
    service.system.pass(3000)
    const answer = await admin.put(resource(id), body)
    const modified = Date.parse(modifiedOf(admin, context, await readEntry(admin, context, id)))
    assert.equal(modified, service.system.now())
    assert.equal(answer.headers['last-modified'], new Date(modified).toUTCString())
    assert.equal(answer.headers.etag, `"${modified}"`)
  }
})

test('the resource of a context has two addresses (W3.8.6)', async () => {
  assert.deepEqual((await admin.get(`_contexts/resource/${context}`)).json(), (await admin.get(context)).json())
})

test('a JSON body over the limit is 413 before and in the midst of it', async t => {
  const small = await startInProcess(t, { settings: { 'service.http.json.max-size': '1k' } })
  const boss = await small.admin()
  const place = await newContext(boss)
  const id = await newEntry(boss, place)
  const big = graphOf('http://ex.org/', 'http://ex.org/p', textTerm('x'.repeat(2000)))
  assertRefused(await boss.put(`${place}/metadata/${id}`, big), 413, 'body-too-large')
  const body = Readable.from([Buffer.from(JSON.stringify(big))])
  const headers = { 'content-type': 'application/json' }
  assertRefused(await boss.ask(`${place}/metadata/${id}`, { method: 'PUT', body, headers }), 413, 'body-too-large')
})
