import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Conflict, TooLarge } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { Files } from '../../src/files/files.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { StagedImports } from '../../src/features/archives/staged-import.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase, transactionOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

const CONTEXT = '3'
const QUOTA = 1000
const placeOf = (id: string) => ({ context: CONTEXT, id })

async function openStore(t: TestContext) {
  const database = await newDatabase(t)
  const blobs = await FolderBlobStore.open(join(await temporaryFolder(), 'files'))
  const machine = { system: new FakeSystem(), log: createLog('silent') }
  const ledger = new Ledger(database, machine.system, quotas(QUOTA))
  const garbage = new Garbage(database, blobs, ledger, machine.system)
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, { maxFileSize: -1 })
  const imports = new StagedImports({ database, blobs, files, ledger, garbage, ...machine })
  await ledger.open(database, CONTEXT)
  const usage = async () => ({ ...(await database.get<object>(sql`SELECT used, reserved FROM quota_usage`)) })
  return { database, blobs, files, imports, usage }
}

type Store = Awaited<ReturnType<typeof openStore>>

/** An upload whose first byte has been asked for, and that ends when the test says so. */
async function begin({ files, database }: Store, id: string, size: number, isDeclared = true) {
  let end = (): void => {}
  const ended = new Promise<void>(resolve => (end = resolve))
  let begun = (): void => {}
  const asked = new Promise<void>(resolve => (begun = resolve))
  async function* bytes(): AsyncGenerator<Uint8Array> {
    begun()
    await ended
    yield Buffer.alloc(size)
  }
  const declaredSize = isDeclared ? size : undefined
  const incoming = { declaredSize, open: bytes, signal: new AbortController().signal }
  const stored = files.put({ ...placeOf(id), user: null }, incoming, {
    transaction: transactionOf(database),
    makeVisible: async () => undefined,
  })
  stored.catch(() => {})
  await Promise.race([asked, stored])
  return async () => {
    end()
    await stored
  }
}

const put = async (store: Store, id: string, size: number): Promise<void> => await (await begin(store, id, size))()

for (const isDeclared of [true, false]) {
  const how = isDeclared ? 'declared' : 'unknown'
  test(`of forty replacements of one file at once, of ${how} size, one counts on its storage (D20.1)`, async t => {
    const store = await openStore(t)
    await put(store, '1', 800)
    const replacements = Array.from({ length: 40 }, () => begin(store, '1', 800, isDeclared).then(end => end()))
    const outcomes = await Promise.allSettled(replacements)
    const refused = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    // Writes may begin after the end of the first; no two run at once.
    assert.ok(refused.length > 0)
    for (const reason of refused) assert.ok(reason instanceof TooLarge, String(reason))
    assert.deepEqual(await store.usage(), { used: 800, reserved: 0 })
  })
}

test('bytes in flight are always reserved or covered by an existing file (D20.1)', async t => {
  const store = await openStore(t)
  await put(store, '1', 800)
  const first = await begin(store, '1', 800)
  assert.deepEqual(await store.usage(), { used: 800, reserved: 0 })
  await assert.rejects(begin(store, '1', 800), TooLarge)

  await store.database.transaction(tx => store.files.remove(tx, placeOf('1')))
  assert.deepEqual(await store.usage(), { used: 0, reserved: 800 })
  // The deleted file left no storage to a newcomer: the upload in progress needs it.
  await assert.rejects(begin(store, '2', 300), TooLarge)
  await put(store, '2', 200)
  await first()
  assert.deepEqual(await store.usage(), { used: 1000, reserved: 0 })
})

test('an upload without credit that is quicker leaves its storage to the credited one (D20.1)', async t => {
  const store = await openStore(t)
  await put(store, '1', 400)
  const credited = await begin(store, '1', 400)
  const quicker = await begin(store, '1', 500)
  assert.deepEqual(await store.usage(), { used: 400, reserved: 500 })
  await quicker()
  assert.deepEqual(await store.usage(), { used: 500, reserved: 400 })
  await credited()
  assert.deepEqual(await store.usage(), { used: 400, reserved: 0 })
})

test('one import at a time into a context, and no archive far beyond its quota (D20.1)', async t => {
  const { imports, usage } = await openStore(t)
  const { signal } = new AbortController()
  async function* archive(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('archive')
  }
  const one = { declaredSize: 7, open: archive, signal }
  const first = imports.receive(CONTEXT, one, async () => {
    await assert.rejects(
      imports.receive(CONTEXT, one, async () => undefined),
      Conflict,
    )
    throw new Error('the first ends')
  })
  await assert.rejects(first, /the first ends/)
  const unread = (): never => assert.fail('the archive was read')
  const large = { declaredSize: QUOTA + 2 ** 28 + 1, open: unread, signal }
  await assert.rejects(
    imports.receive(CONTEXT, large, async () => undefined),
    TooLarge,
  )
  assert.deepEqual(await usage(), { used: 0, reserved: 0 })
})
