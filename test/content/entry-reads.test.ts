import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { realSystem } from '../../src/base/system.ts'
import { guestFrom } from '../../src/accounts/caller.ts'
import { schema } from '../../src/assembly/stores.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import { EntryViews } from '../../src/content/entry-view.ts'
import { insertEntryRow } from '../../src/content/entry-rows.ts'
import { fileKind } from '../../src/content/kinds/file.ts'
import { appendToList, leaveList } from '../../src/content/list-records.ts'
import { Revisions } from '../../src/content/revisions.ts'
import { everybody, newEntry } from '../../src/model/entry.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { insertEntry } from '../support/entries.ts'
import { countStatements } from '../support/statements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KEY = { context: '3', entry: '1' }
const SMALL = 1000

/** A store whose entry 1 is in a list, and reads of that entry that count their statements. */
async function openReads() {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'store.sqlite'))
  await migrate(database, schema)
  const own = { by: undefined, now: 0 }
  const entry = newEntry({ context: '3', id: '1', ...own })
  const list = newEntry({ context: '3', id: '2', ...own, graphType: 'List' })
  const acl = { rread: everybody }
  await database.transaction(async tx => {
    await tx.run(sql`INSERT INTO contexts (id) VALUES ('3'), ('_contexts')`)
    await insertEntry(tx, newEntry({ context: '_contexts', id: '3', ...own, graphType: 'Context', acl }))
    await insertEntry(tx, newEntry({ context: '_contexts', id: '_contexts', ...own, graphType: 'SystemContext' }))
    for (const one of [entry, list]) await insertEntry(tx, one)
    await appendToList(tx, list, { id: entry.id, isTrusted: true })
  })
  const { counted, statements } = countStatements(database)
  const cache = new DependencyCache(database, 16 * 2 ** 20, realSystem)
  const loader = new EntryLoader({ database: counted, cache })
  const file = fileKind({} as Parameters<typeof fileKind>[0])
  const deps = {
    database: counted,
    cache,
    loader,
    kinds: { of: () => file },
    ledger: { enforced: false },
    revisions: new Revisions(true),
  } as unknown as ConstructorParameters<typeof EntryViews>[0]
  const views = new EntryViews(deps, { publicInfo: true })
  const guest = guestFrom({ address: '127.0.0.1' } as Parameters<typeof guestFrom>[0])
  const read = async () => {
    statements.length = 0
    const summary = await loader.summary(KEY, SMALL)
    const { view } = await views.read(guest, KEY, true)
    const relations = typeof view.relations === 'string' ? view.relations : JSON.stringify(view.relations)
    return { summary, resource: view.resource, isInList: relations.includes(list.id), statements: statements.length }
  }
  return { database, cache, loader, views, guest, statements, read, list, close: () => database.close() }
}

test('a cached entry that has changed is loaded again', async t => {
  const { database, loader, read, close } = await openReads()
  t.after(close)
  await read()
  await database.run(sql`UPDATE entries SET modified = 5 WHERE context = '3' AND id = '1'`)
  assert.equal((await loader.get(KEY)).entry.modified, 5)
})

test('an entry that was read before is read again without a statement, and for the first time with few', async t => {
  const { read, close } = await openReads()
  t.after(close)
  const first = await read()
  // The entry with what other tables hold about it, its context (three), the heads of its list and of the context of that.
  assert.ok(first.statements <= 6, String(first.statements))
  assert.ok(first.isInList)
  const again = await read()
  assert.deepEqual(again, { ...first, statements: 0 })
})

test('a change of what other tables hold about an entry is seen by the next read', async t => {
  const { database, read, list, close } = await openReads()
  t.after(close)
  assert.deepEqual((await read()).resource, { form: 'value', value: {} })
  await database.run(sql`INSERT INTO files (context, entry, blob, size, sha256) VALUES ('3', '1', 'b', 1, 'abc')`)
  assert.deepEqual((await read()).resource, { form: 'value', value: { sha256: 'abc' } })
  await database.run(sql`DELETE FROM files`)
  assert.deepEqual((await read()).resource, { form: 'value', value: {} })
  await database.transaction(tx => leaveList(tx, { context: '3', id: '1' }))
  assert.equal((await read()).isInList, false)
  await database.transaction(tx => appendToList(tx, list, { id: '1', isTrusted: true }))
  assert.equal((await read()).isInList, true)
  // The guest may no longer read the members of the list.
  await database.run(sql`UPDATE entries SET acl = '{"rread":["./_principals/resource/5"]}' WHERE id = '2'`)
  assert.equal((await read()).isInList, false)
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function usedHeap(): number {
  for (let times = 0; times < 3; times++) collectGarbage()
  return process.memoryUsage().heapUsed
}

test('the cache counts about the memory that entries take', async t => {
  const { database, cache, loader, views, guest, statements, close } = await openReads()
  t.after(close)
  const count = 2000
  await database.transaction(async tx => {
    for (let n = 0; n < count; n++) {
      const title = { type: 'literal', value: `Title ${n}`, lang: 'en' } as const
      const metadata = { [`./3/resource/e${n}`]: { 'http://purl.org/dc/terms/title': [title] } }
      await insertEntryRow(tx, newEntry({ context: '3', id: `e${n}`, by: '_admin', now: 1_700_000_000_000, metadata }))
    }
  })
  const read = async (id: string) => {
    await views.read(guest, { context: '3', entry: id }, true)
    await loader.get({ context: '3', entry: id })
  }
  for (let n = 0; n < 20; n++) await read(`e${n}`)
  statements.length = 0
  const [before, counted] = [usedHeap(), cache.load.bytes]
  for (let n = 20; n < count; n++) await read(`e${n}`)
  statements.length = 0
  const ratio = (usedHeap() - before) / (cache.load.bytes - counted)
  assert.ok(cache.load.values > 2 * count, 'all are in the cache')
  assert.ok(ratio > 0.5 && ratio < 1.6, `${ratio} times as much as counted`)
})
