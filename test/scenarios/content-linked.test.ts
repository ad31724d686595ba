import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, DCT, type GraphJson, principal, STORE, textTerm, TITLE, uriTerm } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const PART = `${DCT}hasPart`
const service = await startInProcess({ after })
const admin = await service.admin()
const reader = await newUser(service, admin)

/** Entries `0`, `1`… each of which has the next as a part; the reader may read all but the one named. */
async function newChain(length: number, hidden?: number): Promise<string> {
  const context = await newContext(admin)
  const read = { [`${STORE}read`]: [principal(admin, reader.id)] }
  assert.equal((await admin.put(`_contexts/entry/${context}`, { [admin.base + context]: read })).status, 204)
  for (let number = 0; number < length; number++) {
    const resource = `${admin.base}${context}/resource/${number}`
    const next = `${admin.base}${context}/resource/${number + 1}`
    const metadata = { [resource]: { [TITLE]: [textTerm(String(number))], [PART]: [uriTerm(next)] } }
    await newEntry(admin, context, `?id=${number}`, { metadata })
    if (number !== hidden) continue
    const own = { [`${admin.base}${context}/metadata/${number}`]: { [`${STORE}read`]: [principal(admin, '_admin')] } }
    assert.equal((await admin.put(`${context}/entry/${number}`, own)).status, 204)
  }
  return context
}

async function titles(visitor: Visitor, path: string): Promise<string> {
  const answer = await visitor.get(path)
  assert.equal(answer.status, 200, answer.text)
  const values = Object.values(answer.json<GraphJson>()).flatMap(about =>
    (about[TITLE] ?? []).map(({ value }) => value),
  )
  return values.sort((a, b) => Number(a) - Number(b)).join(' ')
}

test('`recursive` adds the metadata of entries linked by these predicates, ten levels deep (W3.5)', async () => {
  const context = await newChain(13)
  const path = `${context}/metadata/0`
  assert.equal(await titles(admin, path), '0')
  for (const written of ['dcterms:hasPart', encodeURIComponent(PART), `dcterms:title,%20dcterms:hasPart`])
    assert.equal(await titles(admin, `${path}?recursive=${written}`), '0 1 2 3 4 5 6 7 8 9 10', written)
  assert.equal(await titles(admin, `${path}?recursive=dcterms:hasPart&depth=2`), '0 1 2')
  assert.equal(await titles(admin, `${path}?recursive=dcterms:hasPart&depth=0`), '0')
  assert.equal(await titles(admin, `${path}?recursive=dcterms:hasPart&depth=999`), '0 1 2 3 4 5 6 7 8 9 10')
  assert.equal(await titles(admin, `${path}?recursive=dcterms:relation`), '0')
  assert.match((await admin.get(`${path}?recursive=dcterms:hasPart&format=text/turtle`)).text, /"10"/)
})

test('what the caller may not read is not in it, nor what only that leads to (D1.5)', async () => {
  const context = await newChain(4, 2)
  assert.equal(await titles(reader.visitor, `${context}/metadata/0?recursive=dcterms:hasPart`), '0 1')
  assert.equal(await titles(admin, `${context}/metadata/0?recursive=dcterms:hasPart`), '0 1 2 3')
  assertRefused(await service.visitor().get(`${context}/metadata/0?recursive=dcterms:hasPart`), 401, 'not-signed-in')
  assertRefused(await reader.visitor.get(`${context}/metadata/2?recursive=dcterms:hasPart`), 403, 'not-allowed')
})

test('links of resources elsewhere are followed to the entries about them, circles end, `scope=context` stays', async () => {
  const [context, other] = [await newContext(admin), await newContext(admin)]
  const page = `http://ex.org/${context}`
  const first = `${admin.base}${context}/resource/0`
  const about = (subject: string, title: string, ...parts: string[]) => ({
    metadata: { [subject]: { [TITLE]: [textTerm(title)], [PART]: parts.map(uriTerm) } },
  })
  await newEntry(admin, context, '?id=0', about(first, '0', page, 'http://ex.org/nothing', first))
  await newEntry(admin, other, `?entrytype=link&resource=${page}`, about(page, '1', first))
  assert.equal(await titles(admin, `${context}/metadata/0?recursive=dcterms:hasPart`), '0 1')
  assert.equal(await titles(admin, `${context}/metadata/0?recursive=dcterms:hasPart&scope=context`), '0')
})

test('blank nodes of different entries stay apart', async () => {
  const context = await newContext(admin)
  const resource = (id: string): string => `${admin.base}${context}/resource/${id}`
  for (const id of ['0', '1', '2']) {
    const metadata = {
      [resource(id)]: { [PART]: ['1', '2'].map(other => uriTerm(resource(other))) },
      '_:same': { [TITLE]: [textTerm(id)] },
    }
    await newEntry(admin, context, `?id=${id}`, { metadata })
  }
  const graph = (await admin.get(`${context}/metadata/0?recursive=dcterms:hasPart`)).json<GraphJson>()
  const blank = Object.entries(graph).filter(([subject]) => subject.startsWith('_:'))
  assert.deepEqual(
    blank.map(([, about]) => about[TITLE]?.[0]?.value).sort((a, b) => Number(a) - Number(b)),
    ['0', '1', '2'],
  )
})

test('predicates that are none, and what is not offered, are refused (D18.17)', async () => {
  const path = `${await newChain(1)}/metadata/0`
  for (const query of ['recursive', 'recursive=profile', 'recursive=,', 'recursive=dcterms:hasPart&depth=-1'])
    assertRefused(await admin.get(`${path}?${query}`), 400, 'invalid-query', query)
  assertRefused(await admin.get(`${path}?graphQuery=CONSTRUCT`), 501, 'not-available')
})
