import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Conflict, NotFound, TooLarge } from '../../src/base/errors.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { QuotaOwners } from '../../src/files/quota-owners.ts'
import { STORE } from '../../src/files/quota-usage.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'
import { inContext, sameFiles, quotas, usedBytes } from '../support/quota.ts'

const CONTEXT = '3'

async function openBooks(t: TestContext, quota = 1000) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, quotas(quota))
  return { database, system, ledger }
}

let blobs = 0
const newBlob = (): string => `blob${++blobs}`

test('of 64 parallel reservations exactly as many are granted as fit, equality included (D7.3)', async t => {
  const { database, ledger } = await openBooks(t, 17 * 58)
  await ledger.open(database, CONTEXT)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 64 }, () => ledger.reserve(inContext(CONTEXT), newBlob(), 17)),
  )
  const refused = outcomes.filter(outcome => outcome.status === 'rejected')
  assert.equal(refused.length, 64 - 58)
  for (const { reason } of refused) assert.ok(reason instanceof TooLarge)
  assert.deepEqual(await usedBytes(database, CONTEXT), { used: 0, reserved: 17 * 58 })
})

test('an expired reservation cannot be grown or committed, and cancelling it is not an error', async t => {
  const { database, ledger } = await openBooks(t)
  await ledger.open(database, CONTEXT)
  const lease = await ledger.reserve(inContext(CONTEXT), newBlob(), 10)
  assert.equal(await ledger.cancel(lease), true)
  assert.equal(await ledger.cancel(lease), false)
  await assert.rejects(ledger.grow(lease, 1, 1), Conflict)
  await assert.rejects(
    database.transaction(tx => ledger.commit(tx, lease, sameFiles(10))),
    Conflict,
  )
  assert.deepEqual(await usedBytes(database, CONTEXT), { used: 0, reserved: 0 })
})

test('growing takes the step it prefers, else what it needs, else nothing', async t => {
  const { database, ledger } = await openBooks(t, 100)
  await ledger.open(database, CONTEXT)
  const lease = await ledger.reserve(inContext(CONTEXT), newBlob(), 0)
  assert.equal(await ledger.grow(lease, 10, 60), 60)
  assert.equal(await ledger.grow(lease, 30, 60), 30)
  await assert.rejects(ledger.grow(lease, 11, 60), TooLarge)
  assert.deepEqual(await usedBytes(database, CONTEXT), { used: 0, reserved: 90 })
})

test('an upload that is not renewed in time is taken for dead, one that is renewed is not', async t => {
  const { database, ledger } = await openBooks(t)
  const pass = (time: number) => database.run(sql`UPDATE uploads SET expires = expires - ${time}`)
  await ledger.open(database, CONTEXT)
  const [dead, alive] = [
    await ledger.reserve(inContext(CONTEXT), newBlob(), 1),
    await ledger.reserve(inContext(CONTEXT), newBlob(), 1),
  ]
  await pass(200_000)
  await ledger.renew(alive)
  await pass(100_001)
  const abandoned = await ledger.abandoned(false)
  assert.deepEqual(
    abandoned.map(({ blob }) => blob),
    [dead.blob],
  )
  assert.equal((await ledger.abandoned(true)).length, 2)
})

test('a context without books has no quota to read or to set', async t => {
  const { database, ledger } = await openBooks(t)
  await assert.rejects(ledger.quotaOf(database, 'none'), NotFound)
  await assert.rejects(ledger.setQuota(database, 'none', 5), NotFound)
})

test('a new quota of the store counts what an upload into a deleted context holds, until it ends (D41.1)', async t => {
  const { database, ledger } = await openBooks(t)
  await ledger.open(database, CONTEXT)
  await ledger.open(database, '4')
  const lease = await ledger.reserve(inContext(CONTEXT), newBlob(), 30)
  await ledger.reserve(inContext('4'), newBlob(), 5)
  await ledger.close(database, CONTEXT)
  const owners = new QuotaOwners(ledger.usage)
  await owners.setLimits(database, STORE, { bytes: 40, files: null })
  assert.deepEqual((await owners.read(database, STORE)).held, { bytes: 35, files: 2 })
  await assert.rejects(ledger.reserve(inContext('4'), newBlob(), 6), TooLarge)
  assert.equal(await ledger.cancel(lease), true)
  assert.deepEqual((await owners.read(database, STORE)).held, { bytes: 5, files: 1 })
})
