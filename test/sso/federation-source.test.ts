import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FederationSource, type FederationOptions } from '../../src/features/saml/federation.ts'
import type { FederationEntity } from '../../src/features/saml/federation-entity.ts'
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

const URL = 'https://federation.example/all.xml'
const ONE = 'https://one.example/idp'
const TWO = 'https://two.example/idp'
const END = Date.UTC(2027, 0, 1)
const one = entityNamed(ONE)
const two = entityNamed(TWO, { scopes: ['two.example'] })
const defaults: FederationOptions = {
  name: 'fed',
  kind: 'aggregate',
  url: URL,
  keys: ['pem 1', 'pem 2'],
  maxAge: 3600,
  requiredCategories: [],
}

function setUp(changes: Partial<FederationOptions> = {}) {
  const system = new FakeSystem()
  const store = new FakeFederationStore()
  const reader = new FakeReader(() => documentOf([[one], [two]]))
  const { log, lines } = keptLog()
  const open = (more: Partial<FederationOptions> = {}) =>
    new FederationSource({ ...defaults, ...changes, ...more }, { system, log, store: store.asStore, reader })
  return { system, store, reader, lines, open, source: open() }
}

const refusal = (check: string, expected: string, received: string) => ({
  code: 'sso-refused',
  failed: { check, expected, received },
})
const metadata = (received: string, expected = URL) => refusal('metadata', expected, received)
const everyone = { entityIds: [ONE, TWO], languages: [] }
const idsIn = async (source: FederationSource) => (await source.search(everyone)).hits.map(({ entityId }) => entityId)

test('an aggregate is read once, with limits, for all who wait for it (D31.1)', async () => {
  const { source, reader, system, lines } = setUp()
  const before = { kind: 'aggregate', url: URL, loadedAt: undefined, validUntil: undefined, offered: 0 } as const
  assert.deepEqual(await source.status(), { ...before, unusable: 0, reasons: [], problem: undefined })
  assert.equal(reader.tasks.length, 0)
  const found = await Promise.all(Array.from({ length: 100 }, () => source.find(ONE)))
  assert.deepEqual(
    found,
    Array.from({ length: 100 }, () => asStored(one)),
  )
  const limits = { timeout: 300_000, maxBytes: 268_435_456 }
  assert.deepEqual(reader.tasks, [{ url: URL, keys: ['pem 1', 'pem 2'], now: system.now(), ...limits }])
  const after = { ...before, loadedAt: system.now(), validUntil: END, offered: 2 }
  assert.deepEqual(await source.status(), { ...after, unusable: 0, reasons: [], problem: undefined })
  const counts = { count: 2, changed: 2, removed: 0, unusable: 0, bytes: 1234 }
  assert.deepEqual(lines, [{ level: 'info', idp: 'fed', url: URL, ...counts, msg: 'federation loaded' }])
  await assert.rejects(source.find('urn:other'), unknownEntity('urn:other'))
  assert.equal(reader.tasks.length, 1)
})

test('the text of a request is an entity id of at most 1,024 characters, or it is refused at once (D31.1)', async () => {
  const { source, reader } = setUp()
  const wrong = ['', ' ', 'urn:a b', 'urn:a\n', '\nurn:a', '\u007F', '\u009F', 'urn:\u0000', 'x'.repeat(1025)]
  for (const id of wrong) {
    const expected = refusal('unknown-entity', 'an entity id', id.slice(0, 1024))
    await assert.rejects(source.find(id), expected)
    await assert.rejects(source.findStored(id), expected)
  }
  assert.equal(reader.tasks.length, 0)
  for (const id of ['!', '~', '\u00A0', '\uFFFF', 'x'.repeat(1024)])
    await assert.rejects(source.find(id), unknownEntity(id))
  assert.equal(reader.tasks.length, 1)
})

test('a provider needs all required categories, in a search as well (D31.1)', async () => {
  const { source, reader } = setUp({ requiredCategories: ['c1', 'c2'] })
  const some = entityNamed(ONE, { categories: ['c2', 'c3'] })
  const all = entityNamed(TWO, { categories: ['c2', 'c1'] })
  reader.answer = () => documentOf([[some, all, entityNamed('urn:none')]])
  assert.deepEqual(await source.find(TWO), asStored(all))
  await assert.rejects(source.find(ONE), refusal('entity-category', 'c1', `c2, c3 of ${ONE}`))
  await assert.rejects(source.find('urn:none'), refusal('entity-category', 'c1, c2', 'none of urn:none'))
  assert.deepEqual(await source.findStored(ONE), asStored(some))
  assert.deepEqual(await idsIn(source), [TWO])
  assert.equal((await source.status()).offered, 1)
})

test('a provider with an end of its own is refused from then on (D31.1)', async () => {
  const { source, reader, system } = setUp()
  const end = system.now() + 1000
  reader.answer = () => documentOf([[entityNamed(ONE, { idp: { validUntil: end } }), two]])
  system.pass(999)
  assert.equal((await source.find(ONE)).entityId, ONE)
  system.pass(1)
  const received = 'metadata that were valid until 2026-11-21T10:00:01.000Z'
  await assert.rejects(source.find(ONE), metadata(received, ONE))
  await assert.rejects(source.findStored(ONE), metadata(received, ONE))
  assert.equal((await source.find(TWO)).entityId, TWO)
})

test('a federation that cannot be read is left alone for a second, then twice as long each time up to a minute (D31.1)', async () => {
  const { source, reader, system, lines } = setUp()
  reader.answer = () => ({ refused: 'status 500', status: 500 })
  await assert.rejects(source.find(ONE), metadata('status 500'))
  assert.deepEqual(await source.search(everyone), { hits: [], hasMore: false })
  const line = { level: 'error', idp: 'fed', url: URL, err: 'status 500', keepsLastCopy: false }
  assert.deepEqual(lines, [{ ...line, msg: 'loading a federation failed' }])
  assert.equal((await source.status()).problem, 'status 500')
  reader.answer = () => documentOf([[one]])
  system.pass(999)
  await source.refresh()
  await assert.rejects(source.find(ONE), metadata('status 500'))
  assert.equal(reader.tasks.length, 1)
  system.pass(1)
  assert.deepEqual(await source.find(ONE), asStored(one))
  assert.deepEqual([reader.tasks.length, (await source.status()).problem], [2, undefined])

  const other = setUp()
  other.reader.answer = () => ({ refused: 'away' })
  await other.source.refresh()
  for (const [attempt, pause] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
    other.system.pass(pause * 1000 - 1)
    await other.source.refresh()
    assert.equal(other.reader.tasks.length, attempt + 1, `before ${pause} s`)
    other.system.pass(1)
    await other.source.refresh()
    assert.equal(other.reader.tasks.length, attempt + 2, `after ${pause} s`)
  }
})

test('the last copy serves until its end while a refresh fails, and no longer (D31.1)', async () => {
  const { source, reader, system, lines } = setUp()
  const validUntil = system.now() + 7_200_000
  reader.answer = () => documentOf([[one]], { validUntil })
  await source.find(ONE)
  reader.answer = () => ({ refused: 'away' })
  system.pass(3_600_000)
  await source.refresh()
  const line = { level: 'error', idp: 'fed', url: URL, err: 'away', keepsLastCopy: true }
  assert.deepEqual(lines.at(-1), { ...line, msg: 'loading a federation failed' })
  system.pass(3_599_999)
  assert.deepEqual(await source.find(ONE), asStored(one))
  assert.deepEqual(await idsIn(source), [ONE])
  await turns()
  system.pass(1)
  await assert.rejects(source.find(ONE), metadata('away'))
  assert.deepEqual(await idsIn(source), [])
  reader.answer = () => documentOf([[two]], { validUntil: system.now() })
  system.pass(60_000)
  await assert.rejects(source.find(TWO), metadata('a copy that is no longer valid'))
})

test('a request waits a minute for the first copy (D31.1)', async t => {
  const { source, reader } = setUp()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answer = reader.hold()
  let isOver = false
  const finding = assert.rejects(source.find(ONE), metadata('nothing yet')).finally(() => (isOver = true))
  await turns()
  t.mock.timers.tick(59_999)
  await turns()
  assert.equal(isOver, false)
  t.mock.timers.tick(1)
  await finding
  await answer(documentOf([[one]]))
  assert.deepEqual(await source.find(ONE), asStored(one))
  assert.equal(reader.tasks.length, 1)
})

test('an aggregate is read again at its age, at the latest after the maximum and not before ten minutes (D31.1)', async () => {
  const ageOf = async (cacheDuration: number | undefined, maxAge: number) => {
    const { source, reader, system } = setUp({ maxAge })
    reader.answer = () => documentOf([[one]], { cacheDuration })
    await source.refresh()
    for (const age of [60_000, 600_000, 1_200_000, 3_600_000]) {
      const start = system.monotonic()
      system.pass(age - 1 - (start - 1000))
      await source.refresh()
      const isEarly = reader.tasks.length > 1
      system.pass(1)
      await source.refresh()
      if (reader.tasks.length > 1) return isEarly ? 'before' : age
    }
    return undefined
  }
  assert.equal(await ageOf(undefined, 3600), 3_600_000)
  assert.equal(await ageOf(1_200_000, 3600), 1_200_000)
  assert.equal(await ageOf(1000, 3600), 600_000)
  assert.equal(await ageOf(86_400_000, 3600), 3_600_000)
  assert.equal(await ageOf(undefined, 60), 60_000)
})

test('requests have the old copy while a new one is read (D31.1)', async () => {
  const { source, reader, system } = setUp()
  await source.find(ONE)
  const answer = reader.hold()
  system.pass(3_600_000)
  assert.deepEqual(await source.find(ONE), asStored(one))
  assert.deepEqual(await idsIn(source), [ONE, TWO])
  const changed = entityNamed(ONE, { keywords: 'new' })
  await answer(documentOf([[changed]]))
  assert.deepEqual(await source.find(ONE), asStored(changed))
  assert.deepEqual(await idsIn(source), [ONE])
  assert.equal(reader.tasks.length, 2)
})

test('entities that occur more than once are left out and reported, ten reasons at most (D31.1)', async () => {
  const { source, reader } = setUp()
  const reasons = Array.from({ length: 9 }, (_, at) => `urn:${at}: no key`)
  reader.answer = () => documentOf([[one], [two]], { unusable: 9, reasons, duplicates: [ONE, 'urn:x'] })
  await assert.rejects(source.find(ONE), unknownEntity(ONE))
  const { unusable, reasons: shown } = await source.status()
  assert.deepEqual([unusable, shown], [11, [...reasons, `${ONE}: it occurs more than once`]])
})

test('a restarted service has the stored copy at once, and reads the document behind it (D31.1)', async () => {
  const { source, open, reader, system } = setUp()
  await source.find(ONE)
  const loadedAt = system.now()
  system.pass(5000)
  const answer = reader.hold()
  const restarted = open()
  const { loadedAt: restored, offered } = await restarted.status()
  assert.deepEqual([restored, offered, reader.tasks.length], [loadedAt, 2, 1])
  assert.deepEqual(await restarted.find(ONE), asStored(one))
  assert.deepEqual(await idsIn(restarted), [ONE, TWO])
  await answer(documentOf([[one]]))
  assert.deepEqual([(await restarted.status()).loadedAt, reader.tasks.length], [system.now(), 2])
})

test('a stored copy from another address, of another kind or with other keys is removed (D31.1)', async () => {
  for (const changes of [{ url: `${URL}x` }, { keys: ['pem 1'] }, { keys: [] }, { kind: 'mdq' }] as const) {
    const { source, open, reader, store } = setUp()
    await store.put('other', rowOf(one), undefined)
    await source.find(ONE)
    reader.answer = () => ({ refused: 'away' })
    const changed = open(changes)
    await assert.rejects(changed.findStored(ONE), unknownEntity(ONE))
    assert.deepEqual([...store.entities.keys()], [`other ${ONE}`])
    assert.equal((await changed.status()).loadedAt, undefined)
  }
})

test('a message of a stranger leads to no query (D31.6)', async () => {
  for (const kind of ['aggregate', 'mdq'] as const) {
    const { source, reader } = setUp({ kind })
    await assert.rejects(source.findStored(ONE), unknownEntity(ONE))
    assert.equal(reader.tasks.length, 0)
  }
})

test('a store that fails is reported, and tried again by the next request (D31.1)', async () => {
  const { source, store, lines, reader } = setUp()
  store.failure = new Error('no disk')
  await source.refresh()
  const line = { level: 'error', idp: 'fed', err: 'no disk', msg: 'reading the stored federation failed' }
  assert.deepEqual([lines, reader.tasks.length], [[line], 0])
  assert.deepEqual(await source.find(ONE), asStored(one))
  store.failure = new Error('not asked again')
  await source.find(ONE)
  assert.equal(reader.tasks.length, 1)
})

test('a store that fails while the providers are listed is tried again after a second (D31.1)', async () => {
  const { source, store, system, reader } = setUp()
  await source.status()
  const list = store.list.bind(store)
  store.list = () => assert.fail('no disk')
  await source.refresh()
  assert.equal((await source.status()).problem, 'no disk')
  store.list = list
  system.pass(1000)
  await source.refresh()
  assert.deepEqual([await idsIn(source), reader.tasks.length], [[ONE, TWO], 2])
})

const withKeys = (...keys: readonly string[]): FederationEntity => entityNamed(ONE, { idp: { keys } })

test('a signature by an unknown key reads an aggregate early, once an hour (D31.1)', async () => {
  const { source, reader, system } = setUp()
  reader.answer = () => documentOf([[withKeys('old')]])
  await source.find(ONE)
  reader.answer = () => documentOf([[withKeys('old', 'new')]])
  assert.equal(await source.reloadForUnknownKey(ONE, ['old']), true)
  assert.equal(await source.reloadForUnknownKey(ONE, ['old']), true, 'also one that comes later with the old copy')
  assert.equal(reader.tasks.length, 2)
  reader.answer = () => documentOf([[withKeys('newer')]])
  system.pass(3_599_999)
  assert.equal(await source.reloadForUnknownKey(ONE, ['old', 'new']), false)
  assert.equal(reader.tasks.length, 2)
  system.pass(1)
  assert.equal(await source.reloadForUnknownKey(ONE, ['old', 'new']), true)
  system.pass(3_600_000)
  assert.equal(await source.reloadForUnknownKey(ONE, ['newer']), false, 'the keys are the same')
  system.pass(3_600_000)
  assert.equal(await source.reloadForUnknownKey('urn:other', []), false)
  assert.equal(reader.tasks.length, 5)
})

test('a federation that has just failed is not read early (D31.1)', async () => {
  const { source, reader, system } = setUp()
  reader.answer = () => ({ refused: 'away' })
  await source.refresh()
  reader.answer = () => documentOf([[one]])
  system.pass(999)
  assert.equal(await source.reloadForUnknownKey(ONE, ['old']), false)
  assert.equal(reader.tasks.length, 1)
  system.pass(1)
  assert.equal(await source.reloadForUnknownKey(ONE, ['old']), true)
})

test('a signature by an unknown key waits for a reading that has begun, also within the hour (D31.1)', async () => {
  const { source, reader, system } = setUp({ maxAge: 600 })
  reader.answer = () => documentOf([[withKeys('old')]])
  await source.find(ONE)
  await source.reloadForUnknownKey(ONE, ['old'])
  system.pass(600_000)
  const answer = reader.hold()
  void source.refresh()
  await turns(3)
  const reloading = source.reloadForUnknownKey(ONE, ['old'])
  await answer(documentOf([[withKeys('new')]]))
  assert.equal(await reloading, true)
  assert.equal(reader.tasks.length, 3)
})

test('a closed federation ends its reader, waits for it and reports nothing more', async () => {
  const { source, reader, lines } = setUp()
  const answer = reader.hold()
  const finding = assert.rejects(source.find(ONE), metadata('nothing yet'))
  await turns()
  let isClosed = false
  const closing = source.close().then(() => (isClosed = true))
  await turns()
  assert.deepEqual([reader.isClosed, isClosed], [true, false])
  await answer({ refused: 'the thread has ended' })
  await closing
  await finding
  assert.deepEqual(lines, [])
})

test('a query service answers for single providers, which can then be searched for (D31.2)', async () => {
  const { source, reader, store, system } = setUp({ kind: 'mdq', url: 'https://mdq.example' })
  const idp = { validUntil: END }
  await source.refresh()
  assert.equal(reader.tasks.length, 0)
  const status = { kind: 'mdq', url: 'https://mdq.example', loadedAt: undefined, validUntil: undefined } as const
  const rest = { unusable: 0, reasons: [], problem: undefined }
  assert.deepEqual(await source.status(), { ...status, ...rest, offered: 0 })
  assert.deepEqual(await idsIn(source), [])
  reader.answer = () => documentOf([[entityNamed(ONE, { idp })]])
  assert.equal((await source.find(ONE)).entityId, ONE)
  assert.equal(reader.tasks[0]?.url, 'https://mdq.example/entities/https%3A%2F%2Fone.example%2Fidp')
  assert.deepEqual(await idsIn(source), [ONE])
  assert.deepEqual(await source.status(), { ...status, ...rest, offered: 1 })
  await store.put('fed', rowOf(entityNamed(TWO, { idp })), system.now() + 1)
  await source.find(TWO)
  assert.deepEqual(await idsIn(source), [ONE], 'the list is made again when this process has stored something')
  reader.answer = () => ({ refused: 'away' })
  await assert.rejects(source.find('urn:other'), metadata('away', 'https://mdq.example/entities/urn%3Aother'))
  assert.equal((await source.status()).problem, 'away')
})

test('a restarted service keeps the answers of a query service, and does not say that it has loaded a document (D31.2)', async () => {
  const { source, open, reader } = setUp({ kind: 'mdq' })
  reader.answer = () => documentOf([[entityNamed(ONE, { idp: { validUntil: END } })]])
  await source.find(ONE)
  const restarted = open()
  const { loadedAt, offered } = await restarted.status()
  assert.deepEqual([loadedAt, offered], [undefined, 1])
  assert.equal((await restarted.findStored(ONE)).entityId, ONE)
  assert.equal(reader.tasks.length, 1)
})

test('a signature by an unknown key asks a query service for this provider, once a minute (D31.2)', async () => {
  const { source, reader, system } = setUp({ kind: 'mdq' })
  const published = (...keys: readonly string[]) => documentOf([[entityNamed(ONE, { idp: { keys, validUntil: END } })]])
  reader.answer = () => published('old')
  await source.find(ONE)
  reader.answer = () => published('new')
  assert.equal(await source.reloadForUnknownKey(ONE, ['old']), true)
  reader.answer = () => published('newer')
  assert.equal(await source.reloadForUnknownKey(ONE, ['new']), false)
  assert.equal(reader.tasks.length, 2)
  system.pass(60_000)
  reader.answer = () => Promise.reject(new Error('broken'))
  assert.equal(await source.reloadForUnknownKey(ONE, ['new']), false)
  assert.equal(reader.tasks.length, 3)
})
