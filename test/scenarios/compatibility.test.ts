import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, RDF_TYPE, readEntry, STORE, textTerm, TITLE, uriTerm } from '../support/content.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

// What the predecessor of this interface answered and its clients know (issue of compatibility; docs/compatibility.md).

const SUBJECT = 'http://purl.org/dc/terms/subject'
const IS_ABOUT = 'http://www.cc.uah.es/ie/ont/OE-Predicates#IsAbout'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)

test('statistics have the types and members that clients know (D18.7)', async () => {
  const place = await newContext(admin)
  const about = 'http://ex.org/thing'
  await newEntry(admin, place, '', {
    metadata: { [about]: { [TITLE]: [textTerm('One')], [SUBJECT]: [textTerm('A Subject'), textTerm('a subject')] } },
  })
  await newEntry(admin, place, '', {
    metadata: { [about]: { [TITLE]: [textTerm('Two')], [IS_ABOUT]: [uriTerm('http://ex.org/onto#Term')] } },
  })
  const read = async (type: string) => (await admin.get(`${place}/statistics/${type}`)).json()
  const properties = await read('properties')
  assert.equal(properties['entryCount'], 2)
  assert.deepEqual(properties['propertyUsage'], [
    { property: SUBJECT, statements: 2, usedInCount: 1 },
    { property: TITLE, statements: 2, usedInCount: 2 },
    { property: IS_ABOUT, statements: 1, usedInCount: 1 },
  ])
  const keywords = await read('keywords')
  assert.deepEqual(
    [keywords['entryCount'], keywords['entryCountWithKeyword'], keywords['keywordUsage']],
    [2, 1, [{ title: 'a subject', totalCount: 2, usedInCount: 1 }]],
  )
  const ontology = await read('ontology')
  assert.deepEqual(ontology['predicateUsage'], [{ title: 'IsAbout', totalCount: 1, usedInCount: 1 }])
  assert.deepEqual(ontology['ontologyTermUsage'], [{ title: 'Term', totalCount: 1, usedInCount: 1 }])
  assertRefused(await admin.get(`${place}/statistics/competence`), 404, 'not-found')
})

test('the index of an entry has a single value by itself, not in a list (D18.7)', async () => {
  const id = await newEntry(admin, context, '', {
    metadata: { 'http://ex.org/a': { [TITLE]: [textTerm('Only one')] } },
  })
  const index = (await admin.get(`${context}/entry/${id}/index`)).json()
  assert.equal(index['uri'], `${admin.base}${context}/entry/${id}`)
})

test('the extended status names the engine and the figures of the process (D18.7)', async () => {
  const status = (await admin.get('management/status?extended')).json<{
    repositoryType: string
    process: Record<string, unknown>
  }>()
  assert.match(status.repositoryType, /^(sqlite|postgres)$/)
  for (const member of ['rss', 'heapUsed', 'heapTotal', 'uptime', 'cpus', 'load'])
    assert.equal(typeof status.process[member], 'number', member)
})

test('the empty graph is {} in JSON-LD too (D18.7)', async () => {
  const id = await newEntry(admin, context)
  const answer = await admin.get(`${context}/metadata/${id}?format=application/ld%2Bjson`)
  assert.deepEqual([answer.status, answer.text], [200, '{}'])
})

test('DELETE empties a String (D18.7)', async () => {
  const id = await newEntry(admin, context, '?graphtype=string', { resource: 'text' })
  assert.equal((await admin.delete(`${context}/resource/${id}`)).status, 204)
  const answer = await admin.get(`${context}/resource/${id}`)
  assert.deepEqual([answer.status, answer.text], [200, ''])
  const graph = await newEntry(admin, context, '?graphtype=graph')
  assertRefused(await admin.delete(`${context}/resource/${graph}`), 405, 'method-not-allowed')
})

test('a feed of a context is refused by either address of its resource (D18.7)', async () => {
  for (const path of [context, `_contexts/resource/${context}`])
    assertRefused(await admin.get(`${path}?syndication=rss_2.0`), 501, 'not-available', path)
})

test('a Link becomes a LinkReference before its external metadata are known (D18.7)', async () => {
  const id = await newEntry(admin, context, '?entrytype=link&resource=http://ex.org/page')
  const entry = `${admin.base}${context}/entry/${id}`
  const type = graphOf(entry, RDF_TYPE, uriTerm(`${STORE}LinkReference`))
  assert.equal((await admin.put(`${context}/entry/${id}`, type)).status, 204)
  assert.match(JSON.stringify((await readEntry(admin, context, id)).info), /terms\/LinkReference/)
  assert.equal((await admin.get(`${context}/cached-external-metadata/${id}`)).text, '{}')
})
