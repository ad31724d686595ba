import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overloaded } from '../../src/base/errors.ts'
import { MetadataQueries, queryAddress } from '../../src/features/saml/metadata-queries.ts'
import type { FederationOutcome } from '../../src/features/saml/federation-worker.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { keptLog } from '../support/kept-log.ts'
import {
  asStored,
  documentOf,
  entityNamed,
  FakeFederationStore,
  FakeReader,
  rowOf,
  unknownEntity,
} from '../support/stored-federation.ts'
import { turns } from '../support/waiting.ts'

const ID = 'https://idp.example/idp'
const URL = 'https://mdq.example/'
const ADDRESS = `${URL}entities/https%3A%2F%2Fidp.example%2Fidp`
const END = Date.UTC(2027, 0, 1)
const idp = { validUntil: END }
const entity = entityNamed(ID, { idp })

function setUp({ kind = 'mdq', maxAge = 3600 }: { readonly kind?: 'mdq' | 'mdq-sha1'; readonly maxAge?: number } = {}) {
  const system = new FakeSystem()
  const store = new FakeFederationStore()
  const reader = new FakeReader(() => documentOf([[entity]]))
  const { log, lines } = keptLog()
  const options = { name: 'fed', kind, url: URL, keys: ['pem'], maxAge }
  const queries = new MetadataQueries(options, { system, log, store: store.asStore, reader })
  const freshFor = async (id = ID) => {
    const found = await store.find('fed', id)
    return found?.freshUntil === undefined ? undefined : found.freshUntil - system.now()
  }
  return { system, store, reader, lines, queries, freshFor }
}

const notFound: FederationOutcome = { refused: 'status 404', status: 404 }
const failing = (received: string) => ({ failed: { check: 'metadata', expected: ADDRESS, received } })

test('an entity is asked for at its address, with limits, and stored while it is fresh (D31.2)', async () => {
  const { queries, reader, system, freshFor, lines } = setUp()
  assert.deepEqual([queries.stored, queries.problem], [0, undefined])
  assert.deepEqual(await queries.find(ID), asStored(entity))
  const task = { url: ADDRESS, keys: ['pem'], now: system.now(), timeout: 10_000, maxBytes: 1_048_576 }
  assert.deepEqual(reader.tasks, [task])
  assert.deepEqual([queries.stored, queries.problem, await freshFor(), lines], [1, undefined, 3_600_000, []])
  system.pass(3_599_999)
  await queries.find(ID)
  assert.equal(reader.tasks.length, 1)
  system.pass(1)
  await queries.find(ID)
  assert.equal(reader.tasks.length, 2)
  assert.deepEqual([queries.stored, await freshFor()], [2, 3_600_000])
})

test('an entity is fresh for as long as it says, between ten minutes and the maximum age (D31.2)', async () => {
  const freshWith = async (cacheDuration: number | undefined, maxAge = 3600) => {
    const { queries, reader, freshFor } = setUp({ maxAge })
    reader.answer = () => documentOf([[entity]], { cacheDuration })
    await queries.find(ID)
    return await freshFor()
  }
  assert.equal(await freshWith(1), 600_000)
  assert.equal(await freshWith(600_001), 600_001)
  assert.equal(await freshWith(3_600_001), 3_600_000)
  assert.equal(await freshWith(undefined, 60), 60_000)
})

test('a query service is asked by the id of an entity, or by its SHA-1 (D31.2)', () => {
  const at = (kind: 'mdq' | 'mdq-sha1', url: string) => queryAddress({ kind, url }, ID)
  assert.equal(at('mdq', URL), ADDRESS)
  assert.equal(at('mdq', 'https://mdq.example'), ADDRESS)
  const sha1 = '2c592501afd3dace97a22adc36a015a0fc06e02e'
  assert.equal(at('mdq-sha1', 'https://mdq.example/x'), `https://mdq.example/x/entities/%7Bsha1%7D${sha1}`)
})

test('an entity that the service does not have is removed, and not asked for again for ten minutes (D31.2)', async () => {
  const { queries, reader, store, system, lines } = setUp()
  await store.put('fed', rowOf(entity), system.now())
  reader.answer = () => notFound
  await assert.rejects(queries.find(ID), unknownEntity(ID))
  assert.equal(await store.find('fed', ID), undefined)
  system.pass(599_999)
  await assert.rejects(queries.find(ID), unknownEntity(ID))
  assert.equal(reader.tasks.length, 1)
  system.pass(1)
  reader.answer = () => documentOf([[entity]])
  assert.deepEqual(await queries.find(ID), asStored(entity))
  assert.deepEqual([reader.tasks.length, queries.problem, lines], [2, undefined, []])
})

test('a query that fails is reported and repeated after a second, then twice as long each time up to a minute (D31.2)', async () => {
  const { queries, reader, system, lines } = setUp()
  reader.answer = () => ({ refused: 'status 500', status: 500 })
  await assert.rejects(queries.find(ID), failing('status 500'))
  assert.equal(queries.problem, 'status 500')
  const line = { level: 'warn', idp: 'fed', url: ADDRESS, problem: 'status 500', msg: 'a metadata query failed' }
  assert.deepEqual(lines, [line])
  for (const [attempt, pause] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
    system.pass(pause * 1000 - 1)
    await assert.rejects(queries.find(ID), failing('status 500'))
    assert.equal(reader.tasks.length, attempt + 1, `before ${pause} s`)
    system.pass(1)
    await assert.rejects(queries.find(ID), failing('status 500'))
    assert.equal(reader.tasks.length, attempt + 2, `after ${pause} s`)
  }
  reader.answer = () => notFound
  await assert.rejects(queries.find('urn:other'), unknownEntity('urn:other'))
  assert.equal(queries.problem, undefined)
  reader.answer = () => ({ refused: 'no answer' })
  await assert.rejects(queries.find('urn:third'))
  assert.equal(queries.problem, 'no answer')
  reader.answer = () => documentOf([[entity]])
  system.pass(60_000)
  await queries.find(ID)
  assert.deepEqual([queries.problem, queries.stored], [undefined, 1])
})

test('exactly the entity that was asked for is taken (D31.2)', async () => {
  const other = entityNamed('urn:other', { idp })
  for (const [document, received] of [
    [documentOf([[other]]), 'it is not the metadata of this provider'],
    [documentOf([[entity, other]]), 'it is not the metadata of this provider'],
    [documentOf([[entity], [other]]), 'it is not the metadata of this provider'],
    [documentOf([[], []]), 'it is not the metadata of this provider'],
    [documentOf([], { reasons: ['urn:x: no key', 'more'] }), 'urn:x: no key'],
  ] as const) {
    const { queries, reader, store } = setUp()
    reader.answer = () => document
    await assert.rejects(queries.find(ID), failing(received))
    assert.equal(store.entities.size, 0)
  }
})

test('a stored entity is not used without an end, or after it (D31.2)', async () => {
  const { queries, reader, store, system } = setUp({ maxAge: 86_400 * 90 })
  await store.put('fed', rowOf(entityNamed(ID)), system.now() + 1)
  assert.deepEqual(await queries.find(ID), asStored(entity))
  assert.equal(reader.tasks.length, 1)
  reader.answer = () => ({ refused: 'gone' })
  system.pass(END - 1 - system.now())
  assert.deepEqual(await queries.find(ID), asStored(entity))
  assert.equal(reader.tasks.length, 1)
  system.pass(1)
  await assert.rejects(queries.find(ID), failing('gone'))
})

test('with a good copy a slow service delays a sign-on by a second, and a failing one does not refuse it (D31.2)', async t => {
  const { queries, reader, store, system } = setUp()
  await store.put('fed', rowOf(entity), undefined)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answer = reader.hold()
  let found: unknown
  const finding = queries.find(ID).then(one => (found = one))
  await turns()
  t.mock.timers.tick(999)
  await turns()
  assert.equal(found, undefined)
  t.mock.timers.tick(1)
  await finding
  assert.deepEqual(found, asStored(entity))
  const changed = entityNamed(ID, { idp, keywords: 'new' })
  await answer(documentOf([[changed]]))
  await turns()
  assert.deepEqual(await queries.find(ID), asStored(changed))
  assert.equal(reader.tasks.length, 1)
  system.pass(3_600_000)
  reader.answer = () => Promise.reject(new Error('broken'))
  assert.deepEqual(await queries.find(ID), asStored(changed))
  await assert.rejects(queries.find('urn:other'), { message: 'broken' })
})

test('an entity is asked for once, however many wait for it (D31.2)', async () => {
  const { queries, reader } = setUp()
  const all = await Promise.all(Array.from({ length: 100 }, () => queries.find(ID)))
  assert.equal(new Set(all.map(one => JSON.stringify(one))).size, 1)
  assert.equal(reader.tasks.length, 1)
  await queries.ask(ID)
  assert.equal(reader.tasks.length, 2)
})

test('a wrong signature asks for an entity once a minute (D31.2)', async () => {
  const { queries, reader, system } = setUp()
  await queries.askEarly(ID)
  system.pass(59_999)
  await queries.askEarly(ID)
  assert.equal(reader.tasks.length, 1)
  await queries.askEarly('urn:other')
  assert.equal(reader.tasks.length, 2)
  system.pass(1)
  await queries.askEarly(ID)
  assert.equal(reader.tasks.length, 3)
})

test('120 queries are sent in a minute (D31.2)', async () => {
  const { queries, reader, system } = setUp()
  reader.answer = () => notFound
  const ask = async (from: number, count: number) => {
    for (let at = from; at < from + count; at++) await queries.ask(`urn:${at}`)
  }
  await ask(0, 100)
  system.pass(59_999)
  await ask(100, 20)
  const tooMany = (error: unknown) => {
    assert.ok(error instanceof Overloaded)
    assert.deepEqual(
      [error.message, error.retryAfter],
      ['Too many unknown identity providers were requested. Try again in a minute.', 60],
    )
    return true
  }
  await assert.rejects(queries.ask('urn:121'), tooMany)
  await assert.rejects(queries.find('urn:122'), tooMany)
  assert.equal(reader.tasks.length, 120)
  await queries.ask('urn:1')
  system.pass(1)
  await ask(200, 120)
  await assert.rejects(queries.ask('urn:123'), tooMany)
  assert.equal(reader.tasks.length, 240)
})

test('one network sends at most 30 of the queries of a minute, so that others can sign on (D31.2)', async () => {
  const { queries, reader, system } = setUp()
  reader.answer = () => notFound
  for (let at = 0; at < 30; at++) await queries.ask(`urn:${at}`, '192.0.2.1')
  await assert.rejects(queries.ask('urn:30', '192.0.2.1'), Overloaded)
  await assert.rejects(queries.find('urn:31', '192.0.2.1'), Overloaded)
  await queries.ask('urn:32', '192.0.2.2')
  assert.equal(reader.tasks.length, 31)
  system.pass(60_000)
  await queries.ask('urn:33', '192.0.2.1')
})

test('two queries run at once, fifty wait, and the next one is refused (D31.2)', async () => {
  const { queries, reader } = setUp()
  const answers: Array<(outcome: FederationOutcome) => void> = []
  reader.answer = () => new Promise(resolve => answers.push(resolve))
  const asking = Array.from({ length: 52 }, (_, at) => queries.ask(`urn:${at}`))
  await turns()
  assert.equal(reader.tasks.length, 2)
  await assert.rejects(queries.ask('urn:more'), { name: 'Overloaded', message: 'Too many metadata queries at once.' })
  reader.answer = () => notFound
  for (const answer of answers) answer(notFound)
  await Promise.all(asking)
  assert.equal(reader.tasks.length, 52)
  await queries.ask('urn:more')
  assert.equal(reader.tasks.length, 53)
})
