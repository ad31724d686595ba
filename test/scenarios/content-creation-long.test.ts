import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, type GraphJson, readEntry, textTerm, TITLE, uriTerm } from '../support/content.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const { id: userId, visitor: writer } = await newUser(service, admin)
const context = await newContext(admin, [userId])

/** More than is read on the thread that answers. */
const LONG = 'x'.repeat(70_000)
const COUNT = 2000
const LINK = 'http://example.com/link'

const metadataFor = (id: string): GraphJson => ({
  [`${admin.base}${context}/resource/${id}`]: {
    [TITLE]: Array.from({ length: COUNT }, (_, n) => textTerm(`Title ${n}`)),
    [LINK]: [uriTerm(`${admin.base}${context}/resource/other`), uriTerm('http://example.com/')],
  },
})

test('a long body of a creation means what a short one means: its graphs, their addresses and the new id (D35.13)', async () => {
  const created = await writer.post(context, {
    metadata: metadataFor('_newId'),
    info: graphOf(`${admin.base}${context}/entry/_newId`, LINK, uriTerm('http://example.com/info')),
    unknown: { anything: 1 },
  })
  assert.equal(created.status, 201, created.text)
  const { entryId } = created.json<{ entryId: string }>()
  assert.deepEqual((await writer.get(`${context}/metadata/${entryId}`)).json(), metadataFor(entryId))
  const { info } = await readEntry(writer, context, entryId)
  assert.deepEqual(info[`${admin.base}${context}/entry/${entryId}`]?.[LINK], [uriTerm('http://example.com/info')])
})

test('graphs in another syntax are read in a long body as well, relative to the new entry (D35.13)', async () => {
  const nodes = Array.from({ length: COUNT }, (_, n) => ({ '@id': '', [TITLE]: `Title ${n}` }))
  const created = await writer.post(`${context}?rdfFormat=application/ld%2Bjson`, { metadata: { '@graph': nodes } })
  assert.equal(created.status, 201, created.text)
  const { entryId } = created.json<{ entryId: string }>()
  const read = (await writer.get(`${context}/metadata/${entryId}`)).json<GraphJson>()
  assert.deepEqual(Object.keys(read), [`${admin.base}${context}/metadata/${entryId}`])
  assert.equal(Object.values(read)[0]?.[TITLE]?.length, COUNT)
})

test('the resource of a graph, of a text and of a list are read in a long body (D35.13)', async () => {
  const graph = await writer.post(`${context}?graphtype=graph`, { resource: metadataFor('_newId') })
  assert.equal(graph.status, 201, graph.text)
  const { entryId } = graph.json<{ entryId: string }>()
  assert.deepEqual((await writer.get(`${context}/resource/${entryId}`)).json(), metadataFor(entryId))

  const text = await writer.post(`${context}?graphtype=string`, { resource: LONG })
  const { entryId: textId } = text.json<{ entryId: string }>()
  assert.equal((await writer.get(`${context}/resource/${textId}`)).text, LONG)

  const ids = [entryId, textId]
  const list = await writer.post(`${context}?graphtype=list`, { resource: ids, padding: LONG })
  assert.equal(list.status, 201, list.text)
  const { entryId: listId } = list.json<{ entryId: string }>()
  assert.deepEqual((await writer.get(`${context}/resource/${listId}`)).json(), ids)
})

test('what is wrong in a long body is refused as in a short one (D35.13)', async () => {
  const refused = async (body: unknown, query = '') => await writer.post(`${context}${query}`, body)
  assertRefused(await refused({ metadata: { 'no iri': {} }, padding: LONG }), 400, 'invalid-graph')
  assertRefused(await refused({ metadata: [], padding: LONG }), 400, 'invalid-graph')
  assertRefused(await refused([LONG]), 400, 'invalid-json')
  assertRefused(await refused({ metadata: LONG }, '?rdfFormat=text/turtle'), 400, 'invalid-graph')
  assertRefused(await refused({ padding: LONG }, '?rdfFormat=text/plain'), 415, 'unsupported-type')
  assertRefused(await refused({ resource: Array.from({ length: 150_000 }, () => 1) }), 413, 'body-too-large')
})

test('what no part of a creation is costs no more than reading it elsewhere (D35.13)', async () => {
  const created = await writer.post(context, { junk: Array.from({ length: 200_000 }, () => ({})) })
  assert.equal(created.status, 201, created.text)
})

test('other bodies are small, or have at most as many values as are parsed in one step (D35.12)', async () => {
  assertRefused(await writer.post('auth/fresh', { password: LONG }), 413, 'body-too-large')
  const { id: list } = { id: (await writer.post(`${context}?graphtype=list`)).json<{ entryId: string }>().entryId }
  const put = (value: unknown) => writer.put(`${context}/resource/${list}`, value)
  assertRefused(await put(Array.from({ length: 75_000 }, () => ({}))), 413, 'body-too-large')
  assertRefused(await put(Array.from({ length: 149_000 }, (_, n) => `none${n}`)), 400, 'invalid-member')
})
