import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { Conflict } from '../../src/base/errors.ts'
import { type StagedImport, StagedImports } from '../../src/features/archives/staged-import.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { RESERVATION_TTL, Ledger } from '../../src/files/quota-ledger.ts'
import type { BlobStore } from '../../src/stores/blob-store.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** An empty store with a quota of 100 bytes for context 3. */
async function openStore(t: TestContext, wrap: (blobs: BlobStore) => BlobStore = blobs => blobs) {
  const folder = await temporaryFolder()
  const database = await openSqliteDatabase(join(folder, 'store.sqlite'))
  t.after(() => database.close())
  await migrate(database, schema)
  const blobs = wrap(await FolderBlobStore.open(join(folder, 'files')))
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, quotas(100))
  const garbage = new Garbage(database, blobs, ledger, system)
  await ledger.open(database, '3')
  const files = { options: { maxFileSize: -1 } }
  const deps = { database, blobs, files, ledger, garbage, system, log: createLog('silent') }
  return { deps, database, blobs, garbage, system }
}

for (const isExclusive of [true, false]) {
  const how = isExclusive ? 'at the next start' : 'by the sweep, once its lease has lapsed'
  test(`an import that died is undone with all its parts ${how}, and cannot be committed then (D7.3, D7.5)`, async t => {
    const { deps, database, blobs, garbage, system } = await openStore(t)
    const stagedImports = new StagedImports(deps)
    const spaces = async () =>
      (await database.all<object>(sql`SELECT used, reserved FROM quota_usage`)).map(row => ({ ...row }))
    const present = async (): Promise<number> => {
      let count = 0
      for await (const _blob of blobs.list()) count++
      return count
    }

    const incoming = { declaredSize: undefined, open: () => bytesOf('archive'), signal: new AbortController().signal }
    const ended = stagedImports.receive('3', incoming, async (staged: StagedImport) => {
      await staged.reserve({ count: 2, total: 9, largest: 5 })
      for (const text of ['five5', 'four']) await staged.stage(bytesOf(text))
      assert.deepEqual(await spaces(), [{ used: 0, reserved: 9 }])
      assert.equal(await present(), 3)
      // Nothing is taken for dead while its lease holds.
      await garbage.recover(false)
      assert.equal(await present(), 3)

      system.pass(RESERVATION_TTL + 1)
      await garbage.recover(isExclusive)
      assert.equal(await present(), 0)
      assert.deepEqual(await spaces(), [{ used: 0, reserved: 0 }])
      assert.deepEqual(await database.all(sql`SELECT blob FROM uploads`), [])
      await database.transaction(tx => staged.replaceFiles(tx, async () => {}))
    })
    await assert.rejects(ended, Conflict)
    assert.deepEqual(await spaces(), [{ used: 0, reserved: 0 }])
    assert.deepEqual(await database.all(sql`SELECT blob FROM discarded_blobs`), [])
  })
}

for (const late of ['the archive', 'a part'] as const) {
  test(`bytes of ${late} that are stored only after the import has been given up go as well (D7.5)`, async t => {
    const { deps, database, blobs, garbage, system } = await openStore(t, storingAtTheEnd)
    const lapsing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('some')
      system.pass(RESERVATION_TTL + 1)
      await garbage.recover(false)
    }
    const open = (): AsyncGenerator<Uint8Array> => (late === 'the archive' ? lapsing() : bytesOf('archive'))
    const incoming = { declaredSize: undefined, open, signal: new AbortController().signal }
    const ended = new StagedImports(deps).receive('3', incoming, async (staged: StagedImport) => {
      await staged.stage(late === 'a part' ? lapsing() : bytesOf('part'))
      await database.transaction(tx => staged.replaceFiles(tx, async () => {}))
    })
    await assert.rejects(ended, Conflict)
    for await (const { key } of blobs.list()) assert.fail(`${key} is left`)
  })
}

test('an import whose client leaves after the last byte changes nothing (D7.4)', async t => {
  const { deps, database, blobs } = await openStore(t)
  const client = new AbortController()
  const incoming = { declaredSize: undefined, open: () => bytesOf('archive'), signal: client.signal }
  const ended = new StagedImports(deps).receive('3', incoming, async staged => {
    await staged.reserve({ count: 1, total: 4, largest: 4 })
    await staged.stage(bytesOf('part'))
    client.abort(new Error('the client has gone'))
    await database.transaction(tx => staged.replaceFiles(tx, async () => {}))
  })
  await assert.rejects(ended, /the client has gone/)
  assert.deepEqual(
    { ...(await database.get<object>(sql`SELECT used, reserved FROM quota_usage`)) },
    { used: 0, reserved: 0 },
  )
  for await (const { key } of blobs.list()) assert.fail(`${key} is left`)
})

/** As a bucket does it: an object is there when all of it has come, whatever was deleted before. */
function storingAtTheEnd(blobs: BlobStore): BlobStore {
  return {
    write: async (key, bytes, signal) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes) chunks.push(chunk)
      return await blobs.write(key, bytesOf(Buffer.concat(chunks).toString()), signal)
    },
    append: (key, offset, bytes) => blobs.append(key, offset, bytes),
    readPieces: (key, size) => blobs.readPieces(key, size),
    complete: (key, size) => blobs.complete(key, size),
    read: (key, range) => blobs.read(key, range),
    delete: key => blobs.delete(key),
    list: () => blobs.list(),
    unfinished: () => blobs.unfinished(),
    setAside: key => blobs.setAside(key),
    close: () => blobs.close(),
  }
}
