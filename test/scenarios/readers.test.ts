import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, readEntry, textTerm, TITLE } from '../support/content.ts'
import { find, idsOf, searchPath } from '../support/search.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

// Large entries are answered by other threads: what clients see is the same.
const service = await startInProcess({ after }, { settings: { 'service.jsonp': 'on' } })
const admin = await service.admin()
const context = await newContext(admin)
const subject = `${admin.base}${context}/resource/large`
const metadata = graphOf(subject, TITLE, textTerm('vast'), textTerm('x'.repeat(100_000)))
await newEntry(admin, context, '?id=large', { metadata })
const path = `${context}/entry/large`

test('a large entry is read in full, by GET and by HEAD, in JSON and in RDF (D15.4)', async () => {
  const whole = await admin.get(`${path}?includeAll`)
  assert.equal(whole.status, 200)
  assert.deepEqual(whole.json<{ metadata: unknown }>().metadata, metadata)
  const head = await admin.ask(`${path}?includeAll`, { method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [200, ''])
  const turtle = await admin.ask(`${context}/metadata/large`, { headers: { accept: 'text/turtle' } })
  assert.match(turtle.text, /"vast"/)
  assert.match(String(turtle.headers['content-type']), /^text\/turtle/)
})

test('what a client has already is not sent again (D15.4)', async () => {
  const { etag } = (await admin.get(`${context}/metadata/large`)).headers
  assert.ok(etag)
  const headers = { 'if-none-match': etag }
  assert.equal((await admin.ask(`${context}/metadata/large`, { headers })).status, 304)
})

test('rights and refusals are those of the request (D15.4)', async () => {
  const guest = service.visitor()
  const { visitor } = await newUser(service, admin)
  assertRefused(await guest.get(`${context}/metadata/large`), 401, 'not-signed-in')
  assertRefused(await visitor.get(`${context}/metadata/large`), 403, 'not-allowed')
  assertRefused(await admin.get(`${context}/metadata/nothing`), 404, 'not-found')
  assertRefused(await admin.get(`${context}/metadata/large?format=image/png`), 406, 'not-acceptable')
  assertRefused(await guest.get(searchPath('title:(')), 400, 'invalid-query')
  assert.deepEqual(idsOf(await find(admin, 'title:vast')), ['large'])
  assert.deepEqual(idsOf(await find(visitor, 'title:vast')), [])
})

test('the next request sees a change, and a page of another site gets its script (D15.4)', async () => {
  const changed = graphOf(subject, TITLE, textTerm('enormous'), textTerm('y'.repeat(100_000)))
  assert.equal((await admin.put(`${context}/metadata/large`, changed)).status, 204)
  assert.deepEqual((await admin.get(`${context}/metadata/large`)).json(), changed)
  assert.deepEqual(idsOf(await find(admin, 'title:enormous')), ['large'])
  const script = await service.visitor().get(searchPath('title:enormous', '&callback=show'))
  assert.match(script.text, /^\/\*\*\/show\(\{"resource"/)
})

test('an entry at which many others point is read with their statements, as far as the caller may read them (D15.4)', async () => {
  await newEntry(admin, context, '?id=hub')
  const hub = { type: 'uri', value: `${admin.base}${context}/resource/hub` }
  const from = (id: string) => `${admin.base}${context}/resource/${id}`
  const point = async (id: string, count: number): Promise<void> => {
    const predicates = Object.fromEntries(Array.from({ length: count }, (_, n) => [`http://ex.org/p${n}`, [hub]]))
    await newEntry(admin, context, `?id=${id}`, { metadata: { [from(id)]: predicates } })
  }
  const relations = async () => (await readEntry(admin, context, 'hub')).relations ?? {}
  await point('one', 150)
  assert.deepEqual(Object.keys(await relations()), [from('one')])
  // From here on another thread answers.
  await point('two', 100)
  assert.deepEqual(Object.keys(await relations()).sort(), [from('one'), from('two')])
  assert.equal((await admin.delete(`${context}/entry/one`)).status, 204)
  assert.deepEqual(Object.keys(await relations()), [from('two')])
  assertRefused(await service.visitor().get(`${context}/entry/hub?includeAll`), 401, 'not-signed-in')
  assertRefused(await admin.get(`nowhere/entry/hub?includeAll`), 404, 'not-found')
})
