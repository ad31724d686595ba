import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { areBlobsHeld, Garbage, holdBlobs } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { copyTables } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

/** On SQLite in every run: there the clock of a test decides when a hold ends. */
async function setUp(t: TestContext) {
  const database = await openSqliteDatabase(await copyTables(await temporaryFolder()))
  t.after(() => database.close())
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, quotas(1000))
  const deleted: string[] = []
  const blobs = { delete: async (key: string) => void deleted.push(key), unfinished: async () => [] as string[] }
  const garbage = new Garbage(database, blobs, ledger, system)
  const discard = (blob: string) => database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${blob})`)
  const left = async () => (await database.all(sql`SELECT blob FROM discarded_blobs`)).length
  return { database, system, blobs, deleted, garbage, discard, left }
}

test('a hold on the files ends five minutes after its owner has died, not before', async t => {
  const { database, system } = await setUp(t)
  const hold = await holdBlobs(database, system)
  system.pass(300_000)
  assert.equal(await areBlobsHeld(database, system), true)
  system.pass(1)
  assert.equal(await areBlobsHeld(database, system), false)
  await assert.rejects(hold.require(), /the hold on the files has expired/)
  // A hold that has ended never comes back: files may have gone meanwhile.
  assert.equal(await areBlobsHeld(database, system), false)
  await hold.release()
})

test('a hold is renewed each minute while its owner lives, and no longer', async t => {
  const { database, system } = await setUp(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  // Transactions run one after the other, so a renewal that has begun comes first.
  const expiry = () =>
    database.transaction(async tx => (await tx.get<{ expires: number }>(sql`SELECT expires FROM blob_holds`))?.expires)
  const hold = await holdBlobs(database, system)
  const first = system.now() + 300_000
  system.pass(59_999)
  t.mock.timers.tick(59_999)
  assert.equal(await expiry(), first)
  system.pass(1)
  t.mock.timers.tick(1)
  assert.equal(await expiry(), first + 60_000)
  system.pass(300_000)
  await hold.require()
  assert.equal(await expiry(), first + 360_000)
  await hold.release()
  t.mock.timers.tick(600_000)
  assert.equal(await expiry(), undefined)
})

test('a new hold removes those of dead owners and none of a living one', async t => {
  const { database, system } = await setUp(t)
  const count = async () => (await database.all(sql`SELECT id FROM blob_holds`)).length
  const holds = [await holdBlobs(database, system)]
  system.pass(300_000)
  holds.push(await holdBlobs(database, system))
  assert.equal(await count(), 2)
  system.pass(1)
  holds.push(await holdBlobs(database, system))
  assert.equal(await count(), 2)
  await holds[1]?.release()
  await holds[0]?.release()
  assert.equal(await areBlobsHeld(database, system), true, 'each owner releases only its own hold')
  await holds[2]?.release()
  assert.equal(await areBlobsHeld(database, system), false)
})

test('all discarded bytes go, also more than one batch of 200', async t => {
  const { database, deleted, garbage, left } = await setUp(t)
  const names = Array.from({ length: 401 }, (_, n) => `blob-${n}`)
  for (const name of names) await database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${name})`)
  await garbage.collect()
  assert.deepEqual(deleted.toSorted(), names.toSorted())
  assert.equal(await left(), 0)
})

test('a collection asked for during another one runs after it, so that nothing discarded meanwhile stays', async t => {
  const { blobs, deleted, garbage, discard, left } = await setUp(t)
  let later: Promise<void> | undefined
  blobs.delete = async key => {
    deleted.push(key)
    if (key !== 'one') return
    later = garbage.collect()
    await discard('two')
  }
  await discard('one')
  await garbage.collect()
  await later
  assert.deepEqual(deleted, ['one', 'two'])
  assert.equal(await left(), 0)
})

test('bytes that could not be deleted stay on the list, and the next collection tries again', async t => {
  const { blobs, deleted, garbage, discard, left } = await setUp(t)
  await discard('one')
  const works = blobs.delete
  blobs.delete = async () => Promise.reject(new Error('disk'))
  await assert.rejects(garbage.collect(), /disk/)
  assert.equal(await left(), 1)
  blobs.delete = works
  await garbage.collect()
  assert.deepEqual(deleted, ['one'])
  assert.equal(await left(), 0)
})
