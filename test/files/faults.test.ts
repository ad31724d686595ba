import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { Files } from '../../src/files/files.ts'
import type { Incoming } from '../../src/files/staging.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { type FileCalls, FolderBlobStore, nodeFileCalls } from '../../src/stores/folder-blob-store.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { type Fault, Faults, faultyDatabase, faultyFiles } from '../support/faults.ts'
import { transactionOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

const PLACE = { context: '3', id: '1' }
const OLD = randomBytes(20_000)
/** Three batches of the blob store, in chunks that do not divide them. */
const NEW = randomBytes(600_000)
/** More than a step of the ledger, which books the bytes of an upload of unknown length in steps. */
const LONG = randomBytes(1_100_000)

/** A power cut is not what is tried here. */
const quickFiles: FileCalls = { ...nodeFileCalls, sync: async () => undefined }

/** A store with one context, whose every call may be made to fail. */
async function openStore(t: TestContext) {
  const folder = await temporaryFolder()
  const faults = new Faults()
  const real = await openSqliteDatabase(':memory:')
  t.after(() => real.close())
  await migrate(real, schema)
  const database = faultyDatabase(real, faults)
  const blobs = await FolderBlobStore.open(join(folder, 'files'), faultyFiles(quickFiles, faults))
  const machine = { system: new FakeSystem(folder), log: createLog('silent') }
  const ledger = new Ledger(database, machine.system, quotas(10_000_000))
  const garbage = new Garbage(database, blobs, ledger, machine.system)
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, { maxFileSize: -1 })
  await ledger.open(real, PLACE.context)
  return { faults, real, database, blobs, ledger, garbage, files }
}

type Store = Awaited<ReturnType<typeof openStore>>

function incoming(bytes: Buffer, isDeclared: boolean): Incoming {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.length; from += 100_003) yield bytes.subarray(from, from + 100_003)
  }
  const declaredSize = isDeclared ? bytes.length : undefined
  return { declaredSize, open: chunks, signal: new AbortController().signal }
}

const put = (bytes: Buffer, isDeclared = true) => ({
  run: async ({ files, database }: Store) =>
    await files.put({ ...PLACE, user: null }, incoming(bytes, isDeclared), {
      transaction: transactionOf(database),
      makeVisible: async () => undefined,
    }),
  after: bytes,
})
const operations = {
  upload: { before: undefined, ...put(NEW) },
  'upload of unknown length': { before: undefined, ...put(LONG, false) },
  replacement: { before: OLD, ...put(NEW) },
  'replacement by less': { before: NEW, ...put(OLD) },
  deletion: {
    before: OLD,
    after: undefined,
    run: async ({ files, database }: Store) => {
      await database.transaction(tx => files.remove(tx, PLACE))
      await files.collectGarbage()
    },
  },
}

/** What the place holds; torn bytes would be neither old nor new. */
async function held({ files }: Store): Promise<Buffer | undefined> {
  const found = await files.read(PLACE, () => 'all')
  return found?.bytes && (await buffer(found.bytes))
}

const isSame = (one: Buffer | undefined, other: Buffer | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.equals(other)

async function prepare(store: Store, before: Buffer | undefined): Promise<void> {
  store.faults.heal()
  await store.database.transaction(tx => store.files.remove(tx, PLACE))
  await store.files.collectGarbage()
  if (before) await put(before).run(store)
}

/** The books agree with the bytes at once; what is left over is gone once the store was opened anew. */
async function requireCompleteStore(store: Store, bytes: Buffer | undefined, what: string): Promise<void> {
  const { used } = (await store.real.get<{ used: number }>(sql`SELECT used FROM quota_usage`)) ?? {}
  assert.equal(used, bytes?.length ?? 0, `${what}: the fill level`)
  await store.garbage.recover(true)
  await store.garbage.collect()
  const space = await store.real.get<{ used: number; reserved: number }>(sql`SELECT used, reserved FROM quota_usage`)
  assert.deepEqual({ ...space }, { used, reserved: 0 }, `${what}: nothing stays reserved`)
  assert.ok(isSame(await held(store), bytes), `${what}: the bytes stay after a start`)
  const listed = []
  for await (const { key } of store.blobs.list()) listed.push(key)
  assert.equal(listed.length, bytes === undefined ? 0 : 1, `${what}: no bytes are left over`)
}

const faults: readonly Fault[] = ['ENOSPC', 'EIO', 'EMFILE', 'short', 'unsure']

for (const [name, { before, after, run }] of Object.entries(operations)) {
  test(`${name}: whichever call fails, there is the old file or the new one, whole and counted right (D7.3, D7.4)`, async t => {
    const store = await openStore(t)
    await prepare(store, before)
    store.faults.heal()
    await run(store)
    const count = store.faults.calls.length
    assert.ok(count > 5)
    for (const fault of faults) {
      for (const lasting of [false, true]) {
        for (let at = 1; at <= count; at++) {
          await prepare(store, before)
          store.faults.plan(at, fault, lasting)
          const outcome = await run(store).then(
            () => 'done',
            () => 'failed',
          )
          const what = `${fault} at call ${at} (${store.faults.calls[at - 1]})${lasting ? ' and after it' : ''}`
          store.faults.heal()
          const now = await held(store)
          const isNew = isSame(now, after)
          assert.ok(isNew || isSame(now, before), `${what}: neither old nor new`)
          if (outcome === 'done') assert.ok(isNew, `${what}: acknowledged, but not there`)
          else if (fault !== 'unsure') assert.ok(!isNew, `${what}: refused, but there`)
          await requireCompleteStore(store, now, what)
        }
      }
    }
  })
}
