import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { Entries } from '../../src/content/entries.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import { fileKind } from '../../src/content/kinds/file.ts'
import type { Kinds } from '../../src/content/resource-kind.ts'
import { ResumableUploads } from '../../src/features/uploads/resumable-uploads.ts'
import { Files } from '../../src/files/files.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { ResumableFiles } from '../../src/features/uploads/resumable-files.ts'
import { CONTEXTS, principalUri } from '../../src/model/addresses.ts'
import { newEntry } from '../../src/model/entry.ts'
import type { Milliseconds } from '../../src/base/units.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { changesOf, insertEntry, updateEntry } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { quotas } from '../support/quota.ts'
import { newDatabase, transactionOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const DAY = 86_400_000

async function open(t: TestContext) {
  const database = await newDatabase(t)
  const blobs = await FolderBlobStore.open(join(await temporaryFolder(), 'files'))
  const machine = { system: new FakeSystem(), log: createLog('silent') }
  const { system } = machine
  const ledger = new Ledger(database, system, quotas())
  const files = new Files(
    { database, blobs },
    { ledger, garbage: new Garbage(database, blobs, ledger, system) },
    machine,
    { maxFileSize: -1 },
  )
  const loader = new EntryLoader({ database, cache: new DependencyCache(database, 1000, system) })
  const changes = changesOf(database)
  const file = fileKind({ changes, files })
  const kinds: Kinds = { ofType: { None: file } as Kinds['ofType'], of: () => file }
  const entries = new Entries({ database, loader, kinds, files, changes })
  const resumableFiles = new ResumableFiles({ database, blobs, ledger, system })
  const uploads = new ResumableUploads({ database, loader, changes, entries, files, resumableFiles })
  await database.run(sql`INSERT INTO principals (id, kind, name) VALUES ('u', 'user', 'u')`)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('_contexts'), ('3')`)
  await ledger.open(database, '3')
  /** Whether the uploader owns the context. */
  const own = async (isOwner: boolean): Promise<void> => {
    const acl = isOwner ? { admin: [principalUri('u')] } : {}
    const head = newEntry({ context: CONTEXTS, id: '3', graphType: 'Context', by: '_admin', now: system.now(), acl })
    await database.run(sql`DELETE FROM entries WHERE context = ${CONTEXTS}`)
    await insertEntry(database, head)
  }
  await own(true)
  /** An entry, and an upload to it. */
  const begin = async (id: string, isEntryNew: boolean) => {
    const entry = newEntry({ context: '3', id, by: 'u', now: system.now() })
    await insertEntry(database, entry)
    await expect(id, isEntryNew)
    return entry
  }
  const expect = (entry: string, isEntryNew: boolean) =>
    database.transaction(tx =>
      resumableFiles.create(tx, {
        uploader: 'u',
        hasShare: true,
        payers: { context: '3', user: null },
        entry,
        length: 5,
        mediaType: 'text/plain',
        fileName: undefined,
        metadata: undefined,
        isPartial: false,
        isEntryNew,
        replaced: undefined,
      }),
    )
  const put = (id: string) =>
    files.put(
      { context: '3', id, user: null },
      {
        declaredSize: 5,
        open: async function* () {
          yield Buffer.from('bytes')
        },
        signal: new AbortController().signal,
      },
      { transaction: transactionOf(database), makeVisible: async () => {} },
    )
  const pass = async (time: Milliseconds): Promise<void> => {
    system.pass(time)
    // This engine has a clock of its own.
    if (database.engine === 'postgres')
      await database.run(sql`UPDATE resumable_uploads SET expires = expires - ${time}`)
  }
  const left = async (): Promise<string[]> =>
    (await database.all<{ id: string }>(sql`SELECT id FROM entries WHERE context = '3' ORDER BY id`)).map(
      ({ id }) => id,
    )
  return { database, uploads, pass, begin, expect, put, left, own }
}

test('when an upload expires, the entry that was created for it goes, unless it serves something else (D42.5)', async t => {
  const { uploads, pass, database, begin, expect, put, left } = await open(t)
  await begin('unused', true)
  await begin('older', false)
  const changed = await begin('changed', true)
  await updateEntry(database, { ...changed, modified: changed.modified + 1 })
  await begin('filled', true)
  await put('filled')
  await begin('waiting', true)
  await pass(DAY - 60_000)
  await uploads.deleteUnusedEntries()
  assert.deepEqual(await left(), ['changed', 'filled', 'older', 'unused', 'waiting'])
  await expect('waiting', false)
  await pass(60_001)
  await Promise.all([uploads.deleteUnusedEntries(), uploads.deleteUnusedEntries()])
  assert.deepEqual(await left(), ['changed', 'filled', 'older', 'waiting'])
})

test('the entry stays if the user of its upload could not delete it by now (D42.5)', async t => {
  const { uploads, pass, begin, left, own } = await open(t)
  await begin('unused', true)
  await pass(DAY + 1)
  await own(false)
  await uploads.deleteUnusedEntries()
  await own(true)
  await uploads.deleteUnusedEntries()
  assert.deepEqual(await left(), ['unused'])
})
