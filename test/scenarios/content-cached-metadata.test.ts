import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, readEntry, textTerm, TITLE, valuesOf } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)

const elsewhere = (type: string, metadata = 'http://ex.org/m'): string =>
  `?entrytype=${type}&resource=http://ex.org/r&cached-external-metadata=${metadata}`
const one = graphOf('http://ex.org/r', TITLE, textTerm('One'))
const two = graphOf('http://ex.org/r', TITLE, textTerm('Two'))

for (const type of ['reference', 'linkreference']) {
  test(`${type}: cached metadata are empty at first, then what was put; store:cached says when (W3.6)`, async () => {
    const id = await newEntry(admin, context, elsewhere(type))
    const path = `${context}/cached-external-metadata/${id}`
    assert.deepEqual((await admin.get(path)).json(), {})
    const stored = await admin.put(path, one)
    assert.equal(stored.status, 204, stored.text)
    assert.ok(stored.headers['last-modified'])
    const read = await admin.get(path)
    assert.deepEqual(read.json(), one)
    assert.equal(read.headers.etag, stored.headers.etag)
    const cached = valuesOf(admin, await readEntry(admin, context, id), path, 'http://entrystore.org/terms/cached')
    assert.equal(cached.length, 1)
    const etag = String(read.headers.etag)
    assert.equal((await admin.get(path, { 'if-none-match': etag })).status, 304)
    service.system.pass(5000)
    assert.equal((await admin.put(`${context}/entry/${id}`, {})).status, 204)
    const conditional = (headers: Record<string, string>) => admin.ask(path, { method: 'PUT', json: two, headers })
    assertRefused(await conditional({ 'if-match': '"0"' }), 412, 'precondition-failed')
    const early = new Date(service.system.now() - 60_000).toUTCString()
    assertRefused(await conditional({ 'if-unmodified-since': early }), 412, 'precondition-failed')
    assert.equal((await conditional({ 'if-match': etag })).status, 204)
    assert.deepEqual((await admin.get(path)).json(), two)
    assert.equal((await admin.delete(path)).status, 204)
    assert.deepEqual((await admin.get(path)).json(), {})
  })
}

test('entries without metadata elsewhere: 404, and 405 for writing (W3.6)', async () => {
  for (const query of ['', '?entrytype=link&resource=http://ex.org/r']) {
    const path = `${context}/cached-external-metadata/${await newEntry(admin, context, query)}`
    assertRefused(await admin.get(path), 404, 'not-found')
    assertRefused(await admin.put(path, one), 405, 'method-not-allowed')
    assertRefused(await admin.delete(path), 405, 'method-not-allowed')
  }
  assertRefused(await admin.get(`${context}/cached-external-metadata/none`), 404, 'not-found')
})

test('the rights to read and write metadata apply to cached metadata (W3.6)', async () => {
  const path = `${context}/cached-external-metadata/${await newEntry(admin, context, elsewhere('reference'))}`
  const { visitor } = await newUser(service, admin)
  assertRefused(await visitor.get(path), 403, 'not-allowed')
  assertRefused(await visitor.put(path, one), 403, 'not-allowed')
  assertRefused(await service.visitor().get(path), 401, 'not-signed-in')
})

test('metadata of this service are shown unchanged to callers who may read them, and cannot be written (W3.6)', async () => {
  const { id: userId, visitor } = await newUser(service, admin)
  const own = await newContext(admin, [userId])
  const source = await newEntry(admin, context, '', { metadata: one })
  const open = await newEntry(visitor, own, elsewhere('linkreference', `${admin.base}${context}/metadata/${source}`))
  const path = `${own}/cached-external-metadata/${open}`
  assert.deepEqual((await admin.get(path)).json(), one)
  assert.equal((await admin.put(`${context}/metadata/${source}`, two)).status, 204)
  assert.deepEqual((await admin.get(path)).json(), two)
  assert.deepEqual((await admin.get(`${own}/merged-metadata/${open}`)).json(), two)
  assertRefused(await admin.put(path, one), 405, 'method-not-allowed')

  assertRefused(await visitor.get(path), 403, 'not-allowed')
  assert.deepEqual((await visitor.get(`${own}/merged-metadata/${open}`)).json(), {})
  const seen = (await visitor.get(`${own}/entry/${open}?includeAll`)).json()
  assert.equal('cached-external-metadata' in seen, false)
})

test('merged metadata are both, blank nodes apart, and only read (W1.1, W3.6)', async () => {
  const id = await newEntry(admin, context, elsewhere('linkreference'))
  const blank = (title: string) => graphOf('_:b0', TITLE, textTerm(title))
  assert.equal((await admin.put(`${context}/metadata/${id}`, { ...one, ...blank('Mine') })).status, 204)
  assert.equal(
    (await admin.put(`${context}/cached-external-metadata/${id}`, { ...two, ...blank('Theirs') })).status,
    204,
  )
  const merged = (await admin.get(`${context}/merged-metadata/${id}`)).json<Record<string, Record<string, unknown[]>>>()
  assert.equal(Object.keys(merged).length, 3)
  assert.equal(merged['http://ex.org/r']?.[TITLE]?.length, 2)
  const turtle = await admin.get(`${context}/merged-metadata/${id}`, { accept: 'text/turtle' })
  assert.match(turtle.text, /"Theirs"/)
  assertRefused(await admin.put(`${context}/merged-metadata/${id}`, one), 405, 'method-not-allowed')
})
