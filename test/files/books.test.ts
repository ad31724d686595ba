import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { findFile, isFile, moveFile, putFile, removeFile, removeFilesOf } from '../../src/files/file-records.ts'
import { Ledger, quotaObject } from '../../src/files/quota-ledger.ts'
import { QuotaOwners } from '../../src/files/quota-owners.ts'
import { compareUsage } from '../../src/files/recount.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'
import { type QuotaOptions, STORE } from '../../src/files/quota-usage.ts'
import { inContext, quotas, sameFiles, usedBytes } from '../support/quota.ts'
import { MAX_CONTEXTS, StorageUsage } from '../../src/files/storage-usage.ts'

async function setUp(t: TestContext, options: QuotaOptions = quotas(100)) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, options)
  await ledger.open(database, '3')
  await ledger.open(database, '4')
  const space = (context = '3') => usedBytes(database, context)
  const commit = (blob: string, growth: number, context = '3') =>
    database.transaction(tx => ledger.commit(tx, { ...inContext(context), blob }, sameFiles(growth)))
  return { database, system, ledger, space, commit }
}

const tooLarge = (quota: number, fillLevel: number, needed: number) => ({
  name: 'QuotaExceeded',
  code: 'quota-exceeded',
  message: `The context has a quota of ${quota} bytes and holds ${fillLevel}; ${needed} more do not fit.`,
})
const reservationExpired = {
  code: 'conflict',
  message: 'The upload took too long, so its reservation has expired. Upload the file again.',
}
const record = (blob: string, size: number) => ({ blob, size, sha256: 'x' })

test('a context has the quota of the settings until it gets its own, which may be removed again (D7.3)', async t => {
  const { ledger, database, commit } = await setUp(t)
  assert.equal(ledger.enforced, true)
  await ledger.reserve(inContext('3'), 'a', 30)
  await commit('a', 30)
  assert.deepEqual(quotaObject(await ledger.quotaOf(database, '3')), {
    quota: 100,
    fillLevel: 30,
    hasDefaultQuota: true,
  })
  await ledger.setQuota(database, '3', 50)
  assert.deepEqual(quotaObject(await ledger.quotaOf(database, '3')), {
    quota: 50,
    fillLevel: 30,
    hasDefaultQuota: false,
  })
  await ledger.setQuota(database, '3', undefined)
  assert.deepEqual(quotaObject(await ledger.quotaOf(database, '3')), {
    quota: 100,
    fillLevel: 30,
    hasDefaultQuota: true,
  })
  await ledger.close(database, '3')
  const unknown = { code: 'not-found', message: 'There is no context "3".' }
  await assert.rejects(ledger.quotaOf(database, '3'), unknown)
  await assert.rejects(ledger.setQuota(database, '3', 5), unknown)
  assert.equal((await ledger.quotaOf(database, '4')).used.bytes, 0)
})

test('storage is reserved up to the quota and not a byte further; what is refused reserves nothing (D7.3)', async t => {
  const { ledger, space } = await setUp(t)
  assert.deepEqual(await ledger.reserve(inContext('3'), 'a', 60), { ...inContext('3'), blob: 'a', covered: 60 })
  await assert.rejects(ledger.reserve(inContext('3'), 'b', 41), tooLarge(100, 0, 41))
  assert.deepEqual(await space(), { used: 0, reserved: 60 })
  await ledger.reserve(inContext('3'), 'b', 40)
  await ledger.reserve(inContext('4'), 'c', 100)
  await ledger.reserve(inContext('3'), 'd', 0)
  assert.deepEqual(
    [await space(), await space('4')],
    [
      { used: 0, reserved: 100 },
      { used: 0, reserved: 100 },
    ],
  )
})

test('without a limit, and where quotas are only counted, everything fits (D7.3)', async t => {
  for (const options of [quotas(), quotas(100, { enforced: false })]) {
    const { ledger, space, commit, database } = await setUp(t, options)
    await ledger.reserve(inContext('3'), 'a', 10 ** 12)
    await commit('a', 10 ** 12)
    assert.deepEqual(await space(), { used: 10 ** 12, reserved: 0 })
    await ledger.setQuota(database, '3', 5)
    const more = ledger.reserve(inContext('3'), 'b', 1)
    await (!options.enforced ? more : assert.rejects(more, tooLarge(5, 10 ** 12, 1)))
  }
})

test('a commit counts what has grown, against the quota of that moment; less always fits (D7.3)', async t => {
  const { ledger, space, commit, database } = await setUp(t)
  await ledger.reserve(inContext('3'), 'a', 50)
  await commit('a', 40)
  assert.deepEqual(await space(), { used: 40, reserved: 0 })
  await ledger.reserve(inContext('3'), 'b', 60)
  await ledger.setQuota(database, '3', 99)
  await assert.rejects(commit('b', 60), tooLarge(99, 40, 60))
  assert.deepEqual(await space(), { used: 40, reserved: 60 }, 'nothing has changed')
  await commit('b', 59)
  await ledger.setQuota(database, '3', 1)
  await ledger.reserve(inContext('3'), 'c', 0)
  await assert.rejects(commit('c', 1), tooLarge(1, 99, 1))
  await commit('c', -9)
  assert.deepEqual(await space(), { used: 90, reserved: 0 })
  await assert.rejects(commit('c', 0), reservationExpired)
  await ledger.releaseUsage(database, inContext('3'), sameFiles(90))
  assert.deepEqual(await space(), { used: 0, reserved: 0 })
})

test('an upload that replaces a file reserves only the rest, and of several only the first (D20.1)', async t => {
  const { ledger, space, database } = await setUp(t)
  const old = record('old', 40)
  await putFile(database, { context: '3', id: '1', user: null }, old)
  assert.equal((await ledger.reserve(inContext('3'), 'a', 50, old)).covered, 50)
  assert.deepEqual(await space(), { used: 0, reserved: 10 })
  assert.equal((await ledger.reserve(inContext('3'), 'b', 30, old)).covered, 30)
  assert.deepEqual(await space(), { used: 0, reserved: 40 })
  await ledger.cancel({ ...inContext('3'), blob: 'a' })
  assert.equal((await ledger.reserve(inContext('3'), 'c', 30, old)).covered, 40, 'smaller than the old one')
  assert.deepEqual(await space(), { used: 0, reserved: 30 })
  assert.equal((await ledger.reserve(inContext('3'), 'd', 5, record('gone', 40))).covered, 5, 'of a file that is gone')
  assert.deepEqual(await space(), { used: 0, reserved: 35 })
})

test('an upload whose old file is taken away reserves its storage after all (D20.1)', async t => {
  const at = { context: '3', id: '1', user: null }
  for (const [what, act] of [
    ['replaced', (tx: never) => putFile(tx, at, record('new', 1))],
    ['removed', (tx: never) => removeFile(tx, at)],
    ['moved', (tx: never) => moveFile(tx, at, { context: '4', id: '2' })],
    ['removed with its context', (tx: never) => removeFilesOf(tx, '3')],
  ] as const) {
    const { ledger, space, database } = await setUp(t)
    const old = record('old', 40)
    await putFile(database, at, old)
    await putFile(database, { context: '3', id: '9', user: null }, record('other', 7))
    await ledger.reserve(inContext('3'), 'a', 50, old)
    await act(database as never)
    assert.deepEqual(await space(), { used: 0, reserved: 50 }, what)
    assert.equal(await isFile(database, 'old'), what === 'moved')
    const moved = await findFile(database, { context: '4', id: '2' })
    assert.deepEqual(moved && { ...moved }, what === 'moved' ? old : undefined)
    const others = await database.all<{ blob: string }>(sql`SELECT blob FROM discarded_blobs ORDER BY blob`)
    const discarded = what === 'removed with its context' ? ['old', 'other'] : []
    assert.deepEqual(
      others.map(({ blob }) => blob),
      discarded,
    )
  }
})

test('one import at a time goes into a context (D7.5)', async t => {
  const { ledger, space } = await setUp(t)
  const first = await ledger.reserveImport('3', 'a')
  assert.deepEqual(first, { ...inContext('3'), blob: 'a' })
  await assert.rejects(ledger.reserveImport('3', 'b'), {
    code: 'conflict',
    message: 'Another import into this context is in progress. Wait until it has finished.',
  })
  await ledger.reserveImport('4', 'c')
  assert.equal(await ledger.grow(first, 10, 20), 20)
  assert.deepEqual(await space(), { used: 0, reserved: 20 })
  await ledger.cancel(first)
  await ledger.reserveImport('3', 'd')
})

test('what an import reserves for a context that it makes counts for the store, and from its commit also for context and group (D7.3)', async t => {
  const { ledger, database } = await setUp(t)
  const owners = new QuotaOwners(ledger.usage)
  const group = { kind: 'group', id: 'lab' } as const
  const limits = { bytes: 50, files: null }
  await owners.setLimits(database, STORE, limits)
  const levels = async () => {
    assert.deepEqual(
      (await compareUsage(database)).filter(row => row.used !== row.usedSum || row.reserved !== row.reservedSum),
      [],
    )
    const [store, context, lab] = await Promise.all(
      [STORE, { kind: 'context', id: '5' } as const, group].map(owner => ledger.usage.find(database, owner)),
    )
    return [store, context, lab].map(usage => usage && [usage.used.bytes, usage.held.bytes])
  }
  const begun = async (blob: string) => {
    const reservation = await ledger.reserveImport('5', blob)
    await assert.rejects(ledger.growImport(reservation, { bytes: 51, files: 1 }), { code: 'quota-exceeded' })
    await ledger.growImport(reservation, { bytes: 50, files: 1 })
    assert.deepEqual(await levels(), [[0, 50], undefined, undefined])
    return reservation
  }
  const make = (blob: string, quota: number) =>
    database.transaction(async tx => {
      await tx.run(sql`INSERT INTO contexts (id) VALUES ('5')`)
      await ledger.open(tx, '5')
      await owners.setLimits(tx, group, { bytes: quota, files: null })
      await owners.setContexts(tx, 'lab', ['5'])
      await ledger.commit(tx, { ...inContext('5'), blob }, { bytes: 50, files: 1 })
      await putFile(tx, { context: '5', id: '1', user: null }, record(blob, 50))
    })
  const killed = await begun('a')
  await assert.rejects(make('a', 49), { code: 'quota-exceeded' })
  assert.deepEqual(await levels(), [[0, 50], undefined, undefined])
  await ledger.cancel(killed)
  assert.deepEqual(await levels(), [[0, 0], undefined, undefined])
  await begun('b')
  await make('b', 50)
  assert.deepEqual(await levels(), [
    [50, 50],
    [50, 50],
    [50, 50],
  ])
})

test('parts of an upload are kept, committed and cancelled with it (D7.5)', async t => {
  const { ledger, database, commit, space } = await setUp(t)
  const uploads = async () => (await database.all<{ blob: string }>(sql`SELECT blob FROM uploads`)).length
  const reservation = await ledger.reserve(inContext('3'), 'a', 10)
  await ledger.addBlob(reservation, 'part')
  assert.equal(await uploads(), 2)
  assert.deepEqual(
    (await ledger.abandoned(true)).map(({ blob }) => blob),
    ['a'],
  )
  await commit('a', 10)
  assert.equal(await uploads(), 0)
  await assert.rejects(ledger.addBlob(reservation, 'late'), reservationExpired)
  await assert.rejects(ledger.grow(reservation, 1, 1), reservationExpired)
  const second = await ledger.reserve(inContext('3'), 'b', 10)
  await ledger.addBlob(second, 'part 2')
  assert.equal(await ledger.cancel(second), true)
  assert.equal(await ledger.cancel(second), false)
  assert.equal(await uploads(), 0)
  const discarded = await database.all<{ blob: string }>(sql`SELECT blob FROM discarded_blobs ORDER BY blob`)
  assert.deepEqual(
    discarded.map(({ blob }) => blob),
    ['b', 'part 2'],
  )
  assert.deepEqual(await space(), { used: 10, reserved: 0 })
})

test('files that move take their usage along, if it fits (D7.8)', async t => {
  const { ledger, database, commit, space } = await setUp(t)
  await ledger.reserve(inContext('3'), 'a', 60)
  await commit('a', 60)
  await ledger.reserve(inContext('4'), 'b', 41)
  const move = () => database.transaction(tx => ledger.transfer(tx, '3', '4', sameFiles(60)))
  await assert.rejects(move(), tooLarge(100, 0, 60))
  assert.deepEqual(await space(), { used: 60, reserved: 0 })
  await ledger.cancel({ ...inContext('4'), blob: 'b' })
  await ledger.reserve(inContext('4'), 'c', 40)
  await move()
  assert.deepEqual(
    [await space(), await space('4')],
    [
      { used: 0, reserved: 0 },
      { used: 60, reserved: 40 },
    ],
  )
})

test('the use of the store is measured with the fullest contexts and those at each level, every ten seconds', async t => {
  const { database, system, ledger } = await setUp(t)
  const fill = async (context: string, used: number, quota: number | null = null) => {
    await database.run(sql`INSERT INTO quota_usage (kind, owner, used, quota) VALUES ('context', ${context}, ${used}, ${quota})
      ON CONFLICT (kind, owner) DO UPDATE SET used = excluded.used, quota = excluded.quota`)
  }
  const usage = new StorageUsage(database, system, ledger)
  for (const [context, used, quota] of [
    ['3', 79],
    ['4', 80],
    ['5', 90],
    ['6', 100],
    ['7', 500, -1],
    ['8', 79, 50],
  ] as const)
    await fill(context, used, quota)
  for (let context = 10; context < 20; context++) await fill(String(context), 0)
  const measured = await usage.measure()
  assert.equal(measured.total, 928)
  assert.equal(measured.contexts.length, MAX_CONTEXTS)
  assert.deepEqual(
    measured.contexts.slice(0, 3).map(row => ({ ...row })),
    [
      { context: '7', used: 500 },
      { context: '6', used: 100 },
      { context: '5', used: 90 },
    ],
  )
  const filled = [
    { percent: 80, count: 4 },
    { percent: 90, count: 3 },
    { percent: 100, count: 2 },
  ]
  assert.deepEqual(measured.filled, filled)
  await fill('3', 0)
  system.pass(10_000)
  assert.equal((await usage.measure()).total, 928)
  system.pass(1)
  assert.equal((await usage.measure()).total, 849)
  const uncounted = new StorageUsage(database, system, new Ledger(database, system, quotas(100, { enforced: false })))
  assert.deepEqual((await uncounted.measure()).filled, [])
  await database.run(sql`DELETE FROM quota_usage`)
  assert.deepEqual(await new StorageUsage(database, system, ledger).measure(), {
    total: 0,
    contexts: [],
    filled: filled.map(({ percent }) => ({ percent, count: 0 })),
  })
})

test('a failed measurement is not kept', async t => {
  const { system, ledger, database } = await setUp(t)
  let isBroken = true
  const failing = {
    all: database.all.bind(database),
    get: async (query: never) => (isBroken ? Promise.reject(new Error('away')) : database.get(query)),
  }
  const usage = new StorageUsage(failing as never, system, ledger)
  await assert.rejects(usage.measure(), /away/)
  isBroken = false
  assert.equal((await usage.measure()).total, 0)
})
