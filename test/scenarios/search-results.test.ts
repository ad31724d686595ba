import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { DCT, graphOf, textTerm, TITLE, uriTerm } from '../support/content.ts'
import { escaped, find, idsOf } from '../support/search.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { sql } from '../../src/stores/sql.ts'

const service = await startInProcess({ after }, { settings: { 'service.solr.max-limit': '60' } })
const admin = await service.admin()
const context = await newContext(admin)
const here = `context:${escaped(admin.base + context)}`
const resource = (id: string): string => `${admin.base}${context}/resource/${id}`
const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const titles = ['beta', 'Alpha', 'delta', 'Gamma', 'epsilon']
const ids: string[] = []
for (const [n, title] of titles.entries()) {
  service.system.pass(1000)
  const id = `t${n}`
  const subject = {
    [TITLE]: [textTerm(title)],
    [RDF_TYPE]: [uriTerm(n % 2 === 0 ? `${admin.base}even` : 'http://odd.example/')],
  }
  ids.push(await newEntry(admin, context, `?id=${id}`, { metadata: { [resource(id)]: subject } }))
}
const five = `${here} AND title:*`
const order = async (more: string, query = five): Promise<string> => idsOf(await find(admin, query, more)).join(' ')

test('a page has `limit` hits from `offset` on, the number is that of all (W3.10.1, W3.10.2)', async () => {
  const page = await find(admin, five, '&limit=2&offset=1')
  assert.deepEqual(idsOf(page), ['t3', 't2'])
  assert.deepEqual([page.results, page.limit, page.offset], [5, 2, 1])
  const last = await find(admin, five, '&limit=2&offset=4')
  assert.deepEqual([idsOf(last), last.results], [['t0'], 5])
  const beyond = await find(admin, five, '&limit=2&offset=99')
  assert.deepEqual([idsOf(beyond), beyond.results], [[], 5])
  const count = await find(admin, five, '&limit=0')
  assert.deepEqual([count.resource.children, count.results, count.limit], [[], 5, 0])
})

test('`limit` is 50 by default and for negative numbers, and at most that of the settings (W3.10.1)', async () => {
  assert.equal((await find(admin, five)).limit, 50)
  assert.equal((await find(admin, five, '&limit=-1')).limit, 50)
  assert.equal((await find(admin, five, '&limit=1000&offset=-5')).limit, 60)
})

test('without `sort` what has changed last comes first (W3.10.1)', async () => {
  assert.equal(await order(''), 't4 t3 t2 t1 t0')
})

test('hits with more of the terms come first, boosts count (W3.10.1)', async () => {
  const some = `${here} AND (title:beta OR title:alpha^3 OR title:bet)`
  assert.equal(await order('', some), 't1 t0')
  assert.equal(await order('', some.replace('^3', '')), 't0 t1')
})

test('`sort` names fields and directions; the second decides where the first is the same (W3.10.1)', async () => {
  assert.equal(await order('&sort=title+asc'), 't1 t0 t2 t4 t3')
  assert.equal(await order('&sort=title.nolang+desc'), 't3 t4 t2 t0 t1')
  assert.equal(await order('&sort=modified+asc'), 't0 t1 t2 t3 t4')
  assert.equal(await order('&sort=created+desc'), 't4 t3 t2 t1 t0')
  assert.equal(await order('&sort=graphType+asc,modified+asc'), 't0 t1 t2 t3 t4')
  assert.equal(await order('&sort=title.sv+asc'), 't4 t3 t2 t1 t0', 'none has such a title')
})

test('facets count the values of all hits, not only of the page (W3.10.1, W3.10.2)', async () => {
  const facets = async (more: string) => (await find(admin, five, `&limit=1&facetFields=rdfType${more}`)).facetFields
  const [even, odd] = [
    { name: `${admin.base}even`, count: 3 },
    { name: 'http://odd.example/', count: 2 },
  ]
  assert.deepEqual(await facets(''), [{ name: 'rdfType', valueCount: 2, values: [even, odd] }])
  assert.deepEqual((await facets('&facetMinCount=3'))[0]?.values, [even])
  assert.deepEqual((await facets('&facetLimit=1'))[0]?.values, [even])
  assert.deepEqual((await facets('&facetMatches=http://odd.*'))[0]?.values, [odd])
  const more = (await facets(',tag.uri,public&facetMissing=true')).map(({ values }) => values.at(-1))
  assert.deepEqual(
    more,
    [0, 5, 0].map(count => ({ name: null, count })),
  )
  assert.equal((await admin.get(`search?type=solr&query=title:*&facetFields=rdfType&facetMatches=(`)).status, 400)
})

test('a hit contains type and address, without the resource (W3.10.2)', async () => {
  const [hit] = (await find(admin, `${here} AND title:beta`)).resource.children
  assert.ok(hit)
  assert.deepEqual([hit.entryId, hit.contextId, hit.rights, hit.relations], ['t0', context, ['administer'], {}])
  assert.ok(hit.info[`${admin.base}${context}/entry/t0`])
  assert.equal(hit.metadata?.[resource('t0')]?.[TITLE]?.[0]?.value, 'beta')
  assert.equal(hit.resource, undefined)
})

test('contexts are found by name and show it as alias; users show their name and whether they are disabled (W3.10.2)', async () => {
  assert.equal((await admin.put(context, { alias: 'Searched' })).status, 200)
  const [found] = (await find(admin, 'contextname:Searched')).resource.children
  assert.deepEqual([found?.entryId, found?.alias, found?.name], [context, 'Searched', undefined])
  assert.equal((await admin.put(context, { alias: 'Renamed' })).status, 200)
  assert.equal((await find(admin, 'contextname:Searched')).results, 0)
  assert.equal((await find(admin, 'contextname:Ren*')).results, 1)
  const user = await newUser(service, admin)
  assert.equal((await admin.put(`_principals/resource/${user.id}`, { name: 'ursula', disabled: true })).status, 204)
  const [hit] = (await find(admin, 'username:ursula')).resource.children
  assert.deepEqual([hit?.name, hit?.disabled, hit?.alias], ['ursula', true, undefined])
  assert.equal((await find(admin, `username:${user.name}`)).results, 0)
  assert.equal((await admin.delete(`_principals/entry/${user.id}`)).status, 204)
  assert.equal((await find(admin, 'username:ursula')).results, 0)
})

test('changed metadata, a deleted entry and a deleted context count with the next search (W3.10.5)', async () => {
  const gone = await newContext(admin)
  const subject = `${admin.base}${gone}/resource/a`
  await newEntry(admin, gone, '?id=a', { metadata: graphOf(subject, TITLE, textTerm('wallaby')) })
  await newEntry(admin, gone, '?id=b', { metadata: graphOf(subject, `${DCT}source`, textTerm('wallaby')) })
  const hits = async (query: string): Promise<number> => (await find(admin, query)).results
  assert.equal(await hits('metadata.object.literal:wallaby'), 2)
  assert.equal((await admin.put(`${gone}/metadata/a`, graphOf(subject, TITLE, textTerm('wombat')))).status, 204)
  assert.deepEqual([await hits('title:wallaby'), await hits('title:wombat')], [0, 1])
  assert.equal((await admin.delete(`${gone}/entry/b`)).status, 204)
  assert.equal(await hits('metadata.object.literal:wallaby'), 0)
  assert.equal((await admin.delete(`_contexts/entry/${gone}`)).status, 204)
  assert.equal(await hits('title:wombat'), 0)
  assert.equal(await hits(`context:${escaped(admin.base + gone)}`), 0)
})

test('a store whose index is empty, as after an upgrade, is searched in full after a start (W3.10.5)', async t => {
  const earlier = await startInProcess({ after: work => t.after(work) })
  const first = await earlier.admin()
  const place = await newContext(first)
  const metadata = graphOf(`${first.base}${place}/resource/1`, TITLE, textTerm('axolotl'))
  await newEntry(first, place, '', { metadata })
  const database = await openStore(t, earlier)
  await database.run(sql`DELETE FROM search_entries`)
  assert.equal((await find(first, 'title:axolotl')).results, 0)
  await earlier.close()
  const later = await startInProcess(t, { folder: earlier.folder })
  assert.equal((await find(await later.admin(), 'title:axolotl')).results, 1)
})
