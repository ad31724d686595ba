import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, principal, RDF_TYPE, STORE, textTerm, TITLE, uriTerm } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const SUBJECT = 'http://purl.org/dc/terms/subject'
const KEYWORD = 'http://www.w3.org/ns/dcat#keyword'

const service = await startInProcess({ after })
const admin = await service.admin()
const reader = await newUser(service, admin)
const context = await newContext(admin)
const shared = graphOf(`${admin.base}${context}`, `${STORE}read`, principal(admin, reader.id))
assert.equal((await admin.put(`_contexts/entry/${context}`, shared)).status, 204)

const SECRET = 'classified'
const thing = 'http://ex.org/thing'
await newEntry(admin, context, '', {
  metadata: {
    [thing]: {
      [TITLE]: [textTerm('Birds')],
      [SUBJECT]: [textTerm('ducks'), { ...textTerm('Enten'), lang: 'de' }, uriTerm('http://ex.org/subject')],
      [RDF_TYPE]: [uriTerm('http://xmlns.com/foaf/0.1/Document')],
    },
  },
})
await newEntry(admin, context, '', {
  metadata: { [thing]: { [TITLE]: [textTerm('More')], [KEYWORD]: [textTerm('ducks')] } },
})
const hidden = await newEntry(admin, context, '', {
  metadata: { [thing]: { [KEYWORD]: [textTerm(SECRET)], [`http://${SECRET}.example/ns#p`]: [textTerm('x')] } },
})
const own = graphOf(`${admin.base}${context}/metadata/${hidden}`, `${STORE}read`, principal(admin, '_admin'))
assert.equal((await admin.put(`${context}/entry/${hidden}`, own)).status, 204)

const statistics = async (visitor: Visitor, type: string) => {
  const answer = await visitor.get(`${context}/statistics/${type}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{
    type: string
    entries: number
    complete: boolean
    counts: Array<{ name: string; lang?: string; count: number }>
  }>()
}

test('properties, keywords and vocabularies are counted, the most frequent first (W3.16)', async () => {
  const { type, entries, complete, counts } = await statistics(reader.visitor, 'property')
  assert.deepEqual(
    { type, entries, complete, counts },
    {
      type: 'property',
      entries: 2,
      complete: true,
      counts: [
        { name: SUBJECT, count: 3 },
        { name: TITLE, count: 2 },
        { name: RDF_TYPE, count: 1 },
        { name: KEYWORD, count: 1 },
      ],
    },
  )
  assert.deepEqual((await statistics(reader.visitor, 'keyword')).counts, [
    { name: 'ducks', count: 2 },
    { name: 'Enten', lang: 'de', count: 1 },
  ])
  assert.deepEqual((await statistics(reader.visitor, 'ontology')).counts, [
    { name: 'http://purl.org/dc/terms/', count: 5 },
    { name: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#', count: 1 },
    { name: 'http://www.w3.org/ns/dcat#', count: 1 },
    { name: 'http://xmlns.com/foaf/0.1/', count: 1 },
  ])
})

test('what the caller may not read is not counted, not even in number', async () => {
  for (const type of ['property', 'keyword', 'ontology']) {
    const seen = await statistics(reader.visitor, type)
    assert.equal(seen.entries, 2)
    assert.ok(!JSON.stringify(seen).includes(SECRET))
    assert.ok(JSON.stringify(await statistics(admin, type)).includes(SECRET))
  }
})

test('guests read the statistics of a public context, of what they may read in it', async () => {
  const open = await newContext(admin)
  const read = graphOf(`${admin.base}${open}`, `${STORE}read`, principal(admin, '_guest'))
  assert.equal((await admin.put(`_contexts/entry/${open}`, read)).status, 204)
  await newEntry(admin, open, '', { metadata: { [thing]: { [TITLE]: [textTerm('Birds')] } } })
  const closed = await newEntry(admin, open, '', { metadata: { [thing]: { [KEYWORD]: [textTerm(SECRET)] } } })
  const own = graphOf(`${admin.base}${open}/metadata/${closed}`, `${STORE}read`, principal(admin, '_admin'))
  assert.equal((await admin.put(`${open}/entry/${closed}`, own)).status, 204)
  const answer = await service.visitor().get(`${open}/statistics/properties`)
  assert.equal(answer.status, 200, answer.text)
  const { entryCount, propertyUsage } = answer.json()
  assert.deepEqual([entryCount, propertyUsage], [1, [{ property: TITLE, statements: 1, usedInCount: 1 }]])
})

test('statistics take the right to read the context, and know three types', async () => {
  const { visitor } = await newUser(service, admin)
  for (const type of ['property', 'keyword', 'ontology', 'no-such-type']) {
    assertRefused(await visitor.get(`${context}/statistics/${type}`), 403, 'not-allowed')
    assertRefused(await service.visitor().get(`${context}/statistics/${type}`), 401, 'not-signed-in')
  }
  for (const type of ['no-such-type', 'constructor', '__proto__']) {
    assertRefused(await admin.get(`${context}/statistics/${type}`), 404, 'not-found')
  }
  assertRefused(await admin.get('nowhere/statistics/property'), 404, 'not-found')
})

test('the statements of a large entry are counted like those of others, and the response is compressed', async () => {
  const large = await newContext(admin)
  const properties = Object.fromEntries(
    Array.from({ length: 2000 }, (_, n) => [`http://ex.org/terms/p${n}`, [textTerm(`"}],${n}\\`)]]),
  )
  const metadata = { [thing]: { ...properties, [SUBJECT]: [textTerm('"ducks"]}'), textTerm('Größe')] } }
  await newEntry(admin, large, '', { metadata })
  await newEntry(admin, large, '', { metadata: { [thing]: { [SUBJECT]: [textTerm('Größe')] } } })
  const ofLarge = async (type: string) => {
    const answer = await admin.get(`${large}/statistics/${type}`, { 'accept-encoding': 'gzip' })
    assert.equal(answer.status, 200, answer.text)
    return { answer, counts: answer.json<{ counts: unknown[] }>().counts }
  }
  const { answer, counts } = await ofLarge('property')
  assert.equal(counts.length, 2001)
  assert.deepEqual(counts[0], { name: SUBJECT, count: 3 })
  assert.equal(answer.headers['content-encoding'], 'gzip')
  assert.deepEqual((await ofLarge('keyword')).counts, [
    { name: 'Größe', count: 2 },
    { name: '"ducks"]}', count: 1 },
  ])
  assert.deepEqual((await ofLarge('ontology')).counts, [
    { name: 'http://ex.org/terms/', count: 2000 },
    { name: 'http://purl.org/dc/terms/', count: 3 },
  ])
})
