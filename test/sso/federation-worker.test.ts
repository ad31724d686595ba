import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FederationEntity } from '../../src/features/saml/federation-entity.ts'
import { FederationReader } from '../../src/features/saml/federation-reader.ts'
import { listedEntity } from '../../src/features/saml/federation-directory.ts'
import type { EntityRow } from '../../src/features/saml/federation-store.ts'
import { type FederationTask, work } from '../../src/features/saml/federation-worker.ts'
import { after } from '../support/after.ts'
import { startFederationServer } from '../support/federation-service.ts'
import { aggregateXml, type EntityShape, entityXml, signFederation } from '../support/federation.ts'
import { keyNamed, NOW } from '../support/saml-idp.ts'

const signed = (...entities: readonly EntityShape[]): string => signFederation(aggregateXml(entities.map(entityXml)))
const [one, two] = [{ entityId: 'https://one.example/' }, { entityId: 'https://two.example/' }]
let document = ''
const server = await startFederationServer({ after }, path => (path === '/metadata' ? document : undefined))
const task: FederationTask = {
  url: server.url,
  keys: [keyNamed('idp').pem, keyNamed('other').pem],
  now: NOW,
  timeout: 60_000,
  maxBytes: 1_000_000,
}

const read = async (text: string, changes: Partial<FederationTask> = {}) => {
  document = text
  return await work({ ...task, ...changes })
}
const packsOf = async (text: string) => {
  const outcome = await read(text)
  assert.ok('packs' in outcome, 'refused' in outcome ? outcome.refused : '')
  return outcome.packs.map(pack => JSON.parse(Buffer.from(pack).toString('utf8')) as EntityRow[])
}

test('the entities of a document become rows, with a digest of what is kept of each (D31.1)', async () => {
  const [rows = [], ...more] = await packsOf(signed(one, two))
  assert.deepEqual(more, [])
  assert.deepEqual(
    rows.map(([id]) => id),
    [one.entityId, two.entityId],
  )
  for (const [id, digest, listed, whole] of rows) {
    const entity = JSON.parse(whole) as FederationEntity
    assert.deepEqual([entity.entityId, entity.scopes], [id, ['uni.example']])
    assert.equal(listed, JSON.stringify(listedEntity(entity)))
    assert.match(digest, /^[\w+/]{43}=$/)
  }
  const digests = async (...entities: readonly EntityShape[]) =>
    (await packsOf(signed(...entities))).flat().map(([, digest]) => digest)
  const known = rows.map(([, digest]) => digest)
  assert.notEqual(known[0], known[1])
  assert.deepEqual(await digests(two, one), known.toReversed())
  const [otherName] = await digests({ ...one, names: { en: 'Other' } })
  const [otherKey] = await digests({ ...one, sso: 'https://one.example/other' })
  assert.equal(new Set([...known, otherName, otherKey]).size, 4)
})

test('rows are handed over in packs, none of them empty (D31.1)', async () => {
  const wide = (at: number): EntityShape => ({
    entityId: `https://${at}.example/`,
    scopes: Array.from({ length: 200 }, (_, index) => `${'s'.repeat(180)}${index}.example`),
  })
  const packs = await packsOf(signed(...Array.from({ length: 5 }, (_, at) => wide(at))))
  assert.deepEqual(
    packs.map(rows => rows.length),
    [3, 2],
  )
  assert.deepEqual(await packsOf(signed()), [])
})

test('ids that occur more than once are reported (D31.1)', async () => {
  const outcome = await read(signed(one, two, one, one))
  assert.ok('packs' in outcome)
  assert.deepEqual([outcome.duplicates, outcome.providers], [[one.entityId], 2])
  const { bytes, validUntil, cacheDuration, unusable, reasons } = outcome.summary
  const rest = { validUntil, cacheDuration, unusable, reasons }
  assert.equal(bytes, Buffer.byteLength(document))
  assert.deepEqual(rest, { validUntil: Date.UTC(2026, 11, 21, 10), cacheDuration: undefined, unusable: 0, reasons: [] })
})

test('a document that cannot be had or read is refused with the reason (D31.1)', async () => {
  const url = `${server.url}/none`
  assert.deepEqual(await read('', { url }), { refused: `${url}: status 404`, status: 404 })
  const long = signed(one)
  const tooLarge = { refused: `${server.url}: more than 100 bytes`, status: undefined }
  assert.deepEqual(await read(long, { maxBytes: 100 }), tooLarge)
  for (const [text, changes] of [
    [aggregateXml([entityXml(one)]), {}],
    [long, { keys: [keyNamed('idp').pem] }],
    [long, { now: Date.UTC(2026, 11, 21, 10) }],
    [signFederation(aggregateXml([entityXml(one)], '')), {}],
  ] as const) {
    const outcome = await read(text, changes)
    assert.deepEqual(Object.keys(outcome), ['refused'])
  }
  await assert.rejects(read(long, { keys: ['no key'] }))
})

test('the thread of the reader gives the same outcomes, and errors as refusals (D31.1)', async t => {
  const reader = new FederationReader()
  t.after(() => reader.close())
  document = signed(one, two)
  const expected = await work(task)
  assert.deepEqual(await reader.read(task), expected)
  const url = `${server.url}/none`
  assert.deepEqual(await reader.read({ ...task, url }), { refused: `${url}: status 404`, status: 404 })
  const broken = await reader.read({ ...task, keys: ['no key'] })
  assert.ok('refused' in broken && broken.refused.startsWith(`${server.url}: `), JSON.stringify(broken))
})
