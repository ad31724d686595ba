import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Conflict, StoreUnavailable } from '../../src/base/errors.ts'
import { areBlobsHeld, Garbage, holdBlobs } from '../../src/files/garbage.ts'
import { RESERVATION_TTL, Ledger } from '../../src/files/quota-ledger.ts'
import type { BlobStore } from '../../src/stores/blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'
import { inContext, quotas, sameFiles } from '../support/quota.ts'

test('the bytes of an upload taken for dead go only after it can no longer be committed (D7.3, D7.5)', async t => {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, quotas(1000))
  await ledger.open(database, '3')
  const lease = await ledger.reserve(inContext('3'), 'blob', 10)
  // The machine slept: the upload goes on, but its lease has lapsed.
  await database.run(sql`UPDATE uploads SET expires = expires - ${RESERVATION_TTL + 1}`)
  const deleted: string[] = []
  const blobs: Pick<BlobStore, 'delete' | 'unfinished'> = {
    unfinished: async () => [],
    async delete(key) {
      await assert.rejects(
        database.transaction(tx => ledger.commit(tx, lease, sameFiles(10))),
        Conflict,
      )
      deleted.push(key)
    },
  }
  await new Garbage(database, blobs, ledger, system).recover(false)
  assert.deepEqual(deleted, ['blob'])
  const space = await database.get<{ used: number; reserved: number }>(sql`SELECT used, reserved FROM quota_usage`)
  assert.deepEqual([space?.used, space?.reserved], [0, 0])
  assert.deepEqual(await database.all(sql`SELECT blob FROM discarded_blobs`), [])
})

test('while a copy of the store is made, garbage waits; it goes when the hold is released, or has lapsed with its owner', async t => {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, quotas(1000))
  const deleted: string[] = []
  const blobs = { delete: async (key: string) => void deleted.push(key), unfinished: async () => [] }
  const garbage = new Garbage(database, blobs, ledger, system)
  const discard = (blob: string) => database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${blob})`)

  await discard('one')
  const hold = await holdBlobs(database, system)
  await garbage.collect()
  await garbage.delete('one')
  assert.deepEqual(deleted, [])
  await hold.require()
  await hold.release()
  await garbage.collect()
  assert.deepEqual(deleted, ['one'])

  await discard('two')
  const forgotten = await holdBlobs(database, system)
  await garbage.collect()
  assert.deepEqual(deleted, ['one'])
  // In the database, whose server has a clock of its own.
  await database.run(sql`UPDATE blob_holds SET expires = expires - ${RESERVATION_TTL + 1}`)
  await garbage.collect()
  assert.deepEqual(deleted, ['one', 'two'])
  await assert.rejects(forgotten.require(), /the hold on the files has expired/)
  await forgotten.release()
  assert.equal(await areBlobsHeld(database, system), false)
})

test('a sweep leaves the bytes of running uploads alone; a start on its own removes what no record names (D7.5)', async t => {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, quotas(1000))
  const deleted: string[] = []
  const blobs = { delete: async (key: string) => void deleted.push(key), unfinished: async () => ['running'] }
  const garbage = new Garbage(database, blobs, ledger, system)
  await garbage.recover(false)
  assert.deepEqual(deleted, [])
  await garbage.recover(true)
  assert.deepEqual(deleted, ['running'])
})

test('a file that has both of its names after a power failure is not deleted', async t => {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, quotas(1000))
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  await database.run(sql`INSERT INTO files (context, entry, blob, size, sha256) VALUES ('3', '1', 'stored', 1, 'x')`)
  const deleted: string[] = []
  const blobs = { delete: async (key: string) => void deleted.push(key), unfinished: async () => ['stored', 'lost'] }
  await new Garbage(database, blobs, ledger, system).recover(true)
  assert.deepEqual(deleted, ['lost'])
})

for (const [what, failure, left] of [
  ['a file that cannot be deleted keeps no other one', new Error('not permitted'), ['b1']],
  [
    'a store that cannot be reached is not asked for one file after the other',
    new StoreUnavailable('S3'),
    ['b1', 'b2', 'b3'],
  ],
] as const) {
  test(what, async t => {
    const database = await newDatabase(t)
    const system = new FakeSystem()
    const ledger = new Ledger(database, system, quotas(1000))
    const asked: string[] = []
    const blobs = {
      unfinished: async () => [],
      async delete(key: string): Promise<void> {
        asked.push(key)
        if (key === 'b1') throw failure
      },
    }
    for (const key of ['b2', 'b1', 'a0', 'b3'])
      await database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${key})`)
    await assert.rejects(new Garbage(database, blobs, ledger, system).collect(), error => error === failure)
    const rows = await database.all<{ blob: string }>(sql`SELECT blob FROM discarded_blobs ORDER BY blob`)
    assert.deepEqual(
      rows.map(({ blob }) => blob),
      left,
    )
    assert.equal(asked.filter(key => key === 'b1').length, 1)
  })
}
