import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, RDF_TYPE, readEntry, STORE, textTerm, TITLE, uriTerm } from '../support/content.ts'
import type { Graph } from '../../src/graph/graph.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

// What the predecessor of this interface answered and its clients know (issue of compatibility; docs/compatibility.md).

const SUBJECT = 'http://purl.org/dc/terms/subject'
const IS_ABOUT = 'http://www.cc.uah.es/ie/ont/OE-Predicates#IsAbout'

const publicRead = ({ base }: { readonly base: string }, context: string, id: string) =>
  graphOf(`${base}${context}/resource/${id}`, `${STORE}read`, uriTerm(`${base}_principals/resource/_guest`))

const OF_JAVA = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'

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
  // The interface has no profiles of mandatory and recommended properties.
  for (const type of ['properties', 'properties?profile=some']) {
    const { entryCountValidated, entryCountMandatory, entryCountRecommended } = await read(type)
    assert.deepEqual([entryCountValidated, entryCountMandatory, entryCountRecommended], [0, 0, 0], type)
  }
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

test('no downloads are counted, and clients that show them get an empty list, guests too (D18.7)', async () => {
  for (const visitor of [admin, service.visitor()]) {
    for (const period of ['2036', '2036/02', '2036/02/29']) {
      const answer = await visitor.get(`statistics/${context}/top/file/${period}/`)
      assertRefused(answer, 404, 'not-found')
      assert.match(answer.text, /counts no downloads/)
    }
  }
  assertRefused(await admin.post(`statistics/${context}/top/file/2036`, {}), 405, 'method-not-allowed')
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

test('a text is sent as JSON to who accepts only JSON, as its bytes are (D18.7)', async () => {
  const service = await startInProcess({ after })
  const admin = await service.admin()
  const context = await newContext(admin)
  const id = await newEntry(admin, context, '?graphtype=string', { resource: 'alert(1)' })
  await admin.put(`${context}/entry/${id}`, publicRead(admin, context, id))
  const path = `${context}/resource/${id}`
  const sent = async (accept: string | undefined, query = '') => {
    const { text, headers } = await service.visitor().get(path + query, accept === undefined ? {} : { accept })
    return [text, headers['content-type']]
  }
  assert.deepEqual(await sent('application/json'), ['alert(1)', 'application/json; charset=utf-8'])
  for (const accept of [undefined, '*/*', 'text/plain', 'application/json;q=0.5, text/plain', 'image/png'])
    assert.deepEqual(await sent(accept), ['alert(1)', 'text/plain; charset=utf-8'], accept)
  // The author of a text must not choose what a page runs.
  assert.deepEqual(await sent('application/json', '?callback=f'), ['alert(1)', 'text/plain; charset=utf-8'])
})

test('a Link becomes a LinkReference before its external metadata are known (D18.7)', async () => {
  const id = await newEntry(admin, context, '?entrytype=link&resource=http://ex.org/page')
  const entry = `${admin.base}${context}/entry/${id}`
  const type = graphOf(entry, RDF_TYPE, uriTerm(`${STORE}LinkReference`))
  assert.equal((await admin.put(`${context}/entry/${id}`, type)).status, 204)
  const { info } = await readEntry(admin, context, id)
  assert.match(JSON.stringify(info), /terms\/LinkReference/)
  const copy = `${admin.base}${context}/cached-external-metadata/${id}`
  assert.deepEqual(info[entry]?.[`${STORE}cachedExternalMetadata`], [uriTerm(copy)])
  assert.equal(info[entry]?.[`${STORE}externalMetadata`], undefined)
  assert.equal((await admin.get(`${context}/cached-external-metadata/${id}`)).text, '{}')
})

test('users and groups of the system have a title and a description that everybody reads (D18.24)', async () => {
  for (const id of ['_admin', '_guest', '_admins', '_users']) {
    const graph = (await service.visitor().get(`_principals/metadata/${id}`)).json<Graph>()
    const said = graph[`${admin.base}_principals/resource/${id}`]
    assert.equal(said?.[TITLE]?.[0]?.lang, 'en', id)
    assert.ok(said?.['http://purl.org/dc/terms/description']?.[0]?.value)
  }
  const admins = (await admin.get('_principals/metadata/_admin')).text
  assert.match(admins, /"Admin user"/)
  const path = 'search?type=solr&query=title:%22admin+user%22+AND+graphType:User'
  assert.equal((await admin.get(path)).json<{ results: number }>().results, 1)
})

test('what is different from the predecessor is as docs/compatibility.md says (D18.7)', async () => {
  const text = await newEntry(admin, context, '?graphtype=string', { resource: 'some text' })
  assert.equal((await admin.delete(`${context}/resource/${text}`)).status, 204)
  assert.equal((await admin.get(`${context}/resource/${text}`)).text, '')
  assertRefused(await admin.delete('_principals/resource/_guest'), 405, 'method-not-allowed')
  const status = (await admin.get('management/status?extended&includeStats')).json<{ stats: object }>()
  assert.deepEqual(['process' in status, 'jvm' in status], [true, false])
  for (const [member, isThere] of [
    ['entryCount', true],
    ['fileCount', true],
    ['fileBytes', true],
    ['tripleCount', false],
  ])
    assert.equal(String(member) in status.stats, isThere, String(member))
  const { status: code, headers } = await admin.get(`${context}/entry/nothing/name`, { accept: OF_JAVA })
  assert.deepEqual([code, headers['content-type']], [404, 'application/problem+json; charset=utf-8'])
  const { visitor: stranger } = await newUser(service, admin)
  assertRefused(await stranger.get(`${context}/statistics/properties`), 403, 'not-allowed')
  assertRefused(await service.visitor().get(`${context}/statistics/properties`), 401, 'not-signed-in')
})

test('file names keep their endings, and IRIs a full stop at their end (D18.7)', async () => {
  const id = await newEntry(admin, context)
  const headers = {
    'content-disposition': 'attachment; filename="setup.exe"',
    'content-type': 'application/x-msdownload',
  }
  assert.equal((await putFile(admin, `${context}/resource/${id}`, 'bytes', headers)).status, 201)
  const answer = await admin.get(`${context}/resource/${id}`)
  assert.match(String(answer.headers['content-disposition']), /^attachment; filename=setup\.exe$/)
  const graph = graphOf('http://ex.org/about.', TITLE, uriTerm('http://ex.org/end.'))
  assert.equal((await admin.put(`${context}/metadata/${id}`, graph)).status, 204)
  assert.deepEqual((await admin.get(`${context}/metadata/${id}`)).json(), graph)
})
