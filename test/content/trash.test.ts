import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import { Trash } from '../../src/features/trash/trash.ts'
import { Files } from '../../src/files/files.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { newEntry } from '../../src/model/entry.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { changesOf, insertEntry } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase, transactionOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

const DAY = 86_400_000

async function openTrash(t: TestContext, days: number) {
  const database = await newDatabase(t)
  const blobs = await FolderBlobStore.open(join(await temporaryFolder(), 'files'))
  const machine = { system: new FakeSystem(), log: createLog('silent') }
  const { system } = machine
  const ledger = new Ledger(database, system, quotas())
  const garbage = new Garbage(database, blobs, ledger, system)
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, { maxFileSize: -1 })
  const loader = new EntryLoader({ database, cache: new DependencyCache(database, 1000, new FakeSystem()) })
  const trash = () =>
    new Trash({ database, loader, changes: changesOf(database), files, system }, { retention: days * DAY })
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  await ledger.open(database, '3')
  /** An entry with a file, as it is in the trash. */
  const put = async (id: string): Promise<void> => {
    const incoming = {
      declaredSize: 5,
      open: async function* () {
        yield Buffer.from('bytes')
      },
      signal: new AbortController().signal,
    } // prettier-ignore
    await files.put({ context: '3', id, user: null }, incoming, {
      transaction: transactionOf(database),
      makeVisible: async () => {},
    })
    await insertEntry(database, newEntry({ context: '3', id, by: undefined, now: system.now() }))
    await database.run(sql`INSERT INTO trashed_entries
      SELECT ${id} AS root, CAST(${system.now()} AS BIGINT), '_admin', NULL, NULL, e.*, 1, NULL FROM entries e WHERE id = ${id}`)
    await database.run(sql`DELETE FROM entries WHERE id = ${id}`)
  }
  const left = async (): Promise<string[]> =>
    (await database.all<{ id: string }>(sql`SELECT id FROM trashed_entries ORDER BY id`)).map(({ id }) => id)
  const used = async (): Promise<number> => (await ledger.quotaOf(database, '3')).used.bytes
  return { trash, system, put, left, used }
}

test('the trash empties itself after its days, to the millisecond, however many nodes do it (D25.6)', async t => {
  const { trash, system, put, left, used } = await openTrash(t, 2)
  await put('old')
  system.pass(1)
  await put('young')
  system.pass(2 * DAY - 1)
  await trash().expire()
  assert.deepEqual([await left(), await used()], [['old', 'young'], 10])
  system.pass(1)
  await Promise.all([trash().expire(), trash().expire()])
  assert.deepEqual([await left(), await used()], [['young'], 5])
  system.pass(1)
  await trash().expire()
  assert.deepEqual([await left(), await used()], [[], 0])
})

test('with 0 days nothing leaves the trash by itself (D25.6)', async t => {
  const { trash, system, put, left } = await openTrash(t, 0)
  await put('old')
  system.pass(10_000 * DAY)
  await trash().expire()
  assert.deepEqual(await left(), ['old'])
})
