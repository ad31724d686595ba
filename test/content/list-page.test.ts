import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import { guestFrom } from '../../src/accounts/caller.ts'
import { schema } from '../../src/assembly/stores.ts'
import { appendToList, leaveList } from '../../src/content/list-records.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import { listPage } from '../../src/content/kinds/list.ts'
import { newEntry } from '../../src/model/entry.ts'
import { wholeList } from '../../src/model/list-order.ts'
import { ResponseBudget } from '../../src/model/response-budget.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { insertEntry } from '../support/entries.ts'
import { countStatements } from '../support/statements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const LONG = 5000
const SHORT = 100
const PAGE = { ...wholeList, offset: 40, limit: 20 }

test('a page of a long list takes the statements of a short one, and none reads all members until the list changes', async t => {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'store.sqlite'))
  t.after(() => database.close())
  await migrate(database, schema)
  const contextEntry = newEntry({ context: '_contexts', id: '3', by: undefined, now: 0, graphType: 'Context' })
  const list = (id: string) => newEntry({ context: '3', id, by: undefined, now: 0, graphType: 'List' })
  const lists = { long: list('long'), short: list('short') }
  await database.transaction(async tx => {
    await tx.run(sql`INSERT INTO contexts (id) VALUES ('3'), ('_contexts')`)
    for (const entry of [contextEntry, lists.long, lists.short]) await insertEntry(tx, entry)
    for (const [id, size] of [
      ['long', LONG],
      ['short', SHORT],
    ] as const) {
      // Entries only where a page shows them.
      for (let n = 0; n < SHORT; n++) {
        await insertEntry(tx, newEntry({ context: '3', id: `${id}${n}`, by: undefined, now: 0 }))
      }
      for (let n = 0; n < size; n++) {
        await tx.run(
          sql`INSERT INTO list_members (context, member, list, position) VALUES ('3', ${id + n}, ${id}, ${n})`,
        )
      }
    }
  })

  const { counted, statements } = countStatements(database)
  const cache = new DependencyCache(database, 4 * 2 ** 20, realSystem)
  const guest = guestFrom({ address: '127.0.0.1' } as Parameters<typeof guestFrom>[0])
  const page = async (id: 'long' | 'short') => {
    statements.length = 0
    const read = await listPage(
      { database: counted, cache, loader: new EntryLoader({ database: counted, cache }) },
      guest,
      { entry: lists[id], contextEntry },
      PAGE,
      ResponseBudget.forMany(),
    )
    const texts = statements.map(({ parts }) => parts.join('?'))
    const ofMembers = texts.filter(text => text.includes('list_members') && !text.includes('FROM entries'))
    return { ...read, statements: statements.length, readsMembers: ofMembers.length }
  }

  const first = { long: await page('long'), short: await page('short') }
  assert.deepEqual(
    first.long.children.map(({ id }) => id),
    Array.from({ length: 20 }, (_, n) => `long${40 + n}`),
  )
  assert.deepEqual([first.long.size, first.long.readsMembers], [LONG, 1])

  const again = { long: await page('long'), short: await page('short') }
  assert.equal(again.long.readsMembers, 0)
  assert.equal(again.long.statements, again.short.statements)
  assert.equal(again.long.allUnsorted, first.long.allUnsorted)

  // Another list's members, and other entries, change nothing here.
  await database.transaction(tx => leaveList(tx, { context: '3', id: 'short7' }))
  assert.equal((await page('long')).readsMembers, 0)
  await database.transaction(tx => appendToList(tx, lists.long, { id: 'short7', isTrusted: true }))
  const changed = await page('long')
  assert.deepEqual([changed.readsMembers, changed.size, changed.allUnsorted.slice(LONG)], [1, LONG + 1, ['short7']])
})
