import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEntry as newContentEntry } from '../../src/model/entry.ts'
import { after } from '../support/after.ts'
import { insertEntry } from '../support/entries.ts'
import { graphOf as storedGraph, literal } from '../../src/graph/graph.ts'
import { openStore } from '../support/accounts.ts'
import { assertRefused, DCT, type GraphJson, graphOf, textTerm, TITLE, uriTerm } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const { id: userId, visitor: owner } = await newUser(service, admin)
const context = await newContext(admin, [userId])
const PART = `${DCT}hasPart`
const uriOf = (id: string, inContext = context): string => `${admin.base}${inContext}/resource/${id}`

/** An entry that leads to others by `dcterms:hasPart`. */
const newLinked = (id: string, to: readonly string[], inContext = context): Promise<string> =>
  newEntry(admin, inContext, `?id=${id}`, {
    metadata: { [uriOf(id, inContext)]: { [TITLE]: [textTerm(id)], [PART]: to.map(uriTerm) } },
  })

async function walk(visitor: Visitor, id: string, query: string): Promise<string[]> {
  const answer = await visitor.get(`${context}/metadata/${id}?${query}`)
  assert.equal(answer.status, 200, answer.text)
  const titles = Object.values(answer.json<GraphJson>()).flatMap(said => said[TITLE] ?? [])
  return titles.map(({ value }) => value).sort()
}

test('metadata of an entry and of those it leads to come in one graph, also round in circles (W3.5)', async () => {
  await newLinked('a', [uriOf('b'), uriOf('c'), 'http://example.org/elsewhere'])
  await newLinked('b', [uriOf('d')])
  await newLinked('c', [`${admin.base}${context}/entry/d`])
  await newLinked('d', [uriOf('a'), uriOf('missing')])
  assert.deepEqual(await walk(owner, 'a', 'recursive=dcterms:hasPart'), ['a', 'b', 'c', 'd'])
  assert.deepEqual(await walk(owner, 'a', `recursive=${encodeURIComponent(`${DCT}relation,${PART}`)}&depth=1`), [
    'a',
    'b',
    'c',
  ])
  assert.deepEqual(await walk(owner, 'b', 'recursive=dcterms:hasPart&depth=0'), ['b'])
  assert.deepEqual(await walk(owner, 'a', 'recursive=dcterms:relation'), ['a'])
  const plain = await owner.get(`${context}/metadata/a`)
  const linked = await owner.get(`${context}/metadata/a?recursive=dcterms:hasPart`, {
    'if-none-match': plain.headers.etag,
  })
  assert.equal(linked.status, 200, 'it changes without the entry')
  assert.equal((await owner.get(`${context}/metadata/a?recursive=dcterms:hasPart&format=text/turtle`)).status, 200)
})

test('what the caller may not read is left out, with what only it leads to (D1.5)', async () => {
  const elsewhere = await newContext(admin)
  await newLinked('open', [uriOf('secret', elsewhere), uriOf('seen')])
  await newLinked('seen', [])
  await newLinked('behind', [])
  await newLinked('secret', [uriOf('behind')], elsewhere)
  assert.deepEqual(await walk(owner, 'open', 'recursive=dcterms:hasPart'), ['open', 'seen'])
  assert.deepEqual(await walk(admin, 'open', 'recursive=dcterms:hasPart'), ['behind', 'open', 'secret', 'seen'])
  assert.deepEqual(await walk(admin, 'open', 'recursive=dcterms:hasPart&scope=context'), ['open', 'seen'])
  assertRefused(await service.visitor().get(`${context}/metadata/open?recursive=dcterms:hasPart`), 401, 'not-signed-in')
})

test('ten links are followed, no more; blank nodes of different entries stay apart (W3.5)', async () => {
  for (let n = 0; n <= 12; n++) {
    const blank = { [`${DCT}publisher`]: [{ type: 'bnode', value: '_:b' }] }
    const said = { [TITLE]: [textTerm(String(n))], [PART]: [uriTerm(uriOf(`chain${n + 1}`))], ...blank }
    const metadata = { [uriOf(`chain${n}`)]: said, ...graphOf('_:b', `${DCT}extent`, textTerm(String(n))) }
    await newEntry(admin, context, `?id=chain${n}`, { metadata })
  }
  const found = await owner.get(`${context}/metadata/chain0?recursive=dcterms:hasPart&depth=99`)
  const graph = found.json<GraphJson>()
  assert.equal(Object.values(graph).filter(said => said[TITLE]).length, 11)
  for (const said of Object.values(graph).filter(said => said[TITLE])) {
    const node = said[`${DCT}publisher`]?.[0]?.value ?? ''
    assert.deepEqual(graph[node]?.[`${DCT}extent`], said[TITLE])
  }
})

test('a thousand entries are taken, no more (W3.5)', async t => {
  const ids = Array.from({ length: 1100 }, (_, n) => `many${n}`)
  await newLinked(
    'hub',
    ids.map(id => uriOf(id)),
  )
  const database = await openStore(t, service)
  await database.transaction(async tx => {
    for (const id of ids) {
      const title = { subject: `./${context}/resource/${id}`, predicate: TITLE, object: literal(id) }
      const metadata = storedGraph([title])
      await insertEntry(tx, newContentEntry({ context, id, by: undefined, now: 0, metadata }))
    }
  })
  assert.equal((await walk(owner, 'hub', 'recursive=dcterms:hasPart')).length, 1000)
})

test('what names no predicate, no depth or no scope is 400 (W3.5)', async () => {
  await newLinked('here', [])
  for (const query of [
    'recursive=',
    'recursive',
    'recursive=dcat-profile',
    'recursive=constructor:x%20y',
    'recursive=dcterms:hasPart&depth=-1',
    'recursive=dcterms:hasPart&depth=x',
    'recursive=dcterms:hasPart&scope=all',
  ]) {
    assertRefused(await owner.get(`${context}/metadata/here?${query}`), 400, 'invalid-query', query)
  }
})
