import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { guestFrom } from '../../src/accounts/caller.ts'
import { findEntry, findEntryHead } from '../../src/content/entry-records.ts'
import { findTrashedEntry } from '../../src/content/trash-rows.ts'
import type { EntryAddress } from '../../src/model/addresses.ts'
import { type Entry, newEntry } from '../../src/model/entry.ts'
import { indexEntries, removeFromIndex } from '../../src/search/index-records.ts'
import { newSearch } from '../support/search-engine.ts'
import { literal } from '../../src/graph/graph.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/schema.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { changesOf } from '../support/entries.ts'

const guest = guestFrom({ address: '', userAgent: '' })
const contexts = ['3', '4']
const ids = ['1', '2']
/** A long text. */
const LARGE = 'large '.repeat(3000)

const named = (context: string, id: string, title: string, now: number): Entry =>
  newEntry({
    context,
    id,
    by: '_admin',
    now,
    metadata: { [`./${context}/resource/${id}`]: { 'http://purl.org/dc/terms/title': [literal(title)] } },
  })

/** All rows of the index, with the address in place of the number of the document. */
async function indexOf(database: Database): Promise<unknown[]> {
  const rowsOf = (rows: ReturnType<typeof sql>): ReturnType<typeof sql> =>
    sql`SELECT e.context, e.id, e.modified, f.name, r.value FROM (${rows}) r
      LEFT JOIN search_entries e ON e.doc = r.doc LEFT JOIN search_fields f ON f.number = r.field ORDER BY 1, 2, 3, 4, 5`
  const found = []
  for (const rows of [
    sql`SELECT doc, field, value FROM search_strings`,
    sql`SELECT doc, field, value FROM search_numbers`,
    sql`SELECT rowid % 4294967296 AS doc, rowid / 4294967296 AS field, 'n' AS value FROM search_ngrams`,
    sql`SELECT rowid % 4294967296 AS doc, rowid / 4294967296 AS field, 't' AS value FROM search_texts`,
    sql`SELECT e.doc, 0 AS field, a.principals AS value FROM search_entries e
      LEFT JOIN search_audiences a ON a.audience = e.audience`,
  ])
    found.push((await database.all<object>(rowsOf(rows))).map(row => ({ ...row })))
  for (const word of ['red', 'green', 'blue', 'large']) {
    const match = sql`SELECT rowid % 4294967296 AS doc, 0 AS field, 'm' AS value FROM search_texts WHERE search_texts MATCH ${word}`
    found.push((await database.all<object>(rowsOf(match))).map(row => ({ ...row })))
  }
  return found
}

/** Rows of the index that belong to no entry, neither to one in the trash. */
const leftovers = (database: Database): Promise<unknown[]> =>
  database.all(sql`SELECT s.doc FROM search_strings s
    WHERE NOT EXISTS (SELECT 1 FROM search_entries e WHERE e.doc = s.doc)
      AND NOT EXISTS (SELECT 1 FROM search_trashed h JOIN trashed_entries t ON t.context = h.context AND t.id = h.id
        WHERE h.doc = s.doc)`)

/** The index is as if these entries were indexed now, and has nothing else. */
async function assertIndexed(database: Database, addresses: readonly EntryAddress[]): Promise<void> {
  const found = await indexOf(database)
  assert.deepEqual(await leftovers(database), [])
  await database.transaction(async tx => {
    for (const address of addresses) {
      await removeFromIndex(tx, address)
      const entry = await findEntry(tx, address)
      if (entry) await indexEntries(tx, [entry])
    }
  })
  assert.deepEqual(found, await indexOf(database))
}

test('however transactions that share a commit change, delete, move to the trash and fail, the index is that of the entries (D35.17)', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  for (const context of contexts) await database.run(sql`INSERT INTO contexts (id) VALUES (${context})`)
  const changes = changesOf(database)
  const step = fc.record({
    context: fc.constantFrom(...contexts),
    id: fc.constantFrom(...ids),
    title: fc.constantFrom('red', 'green', 'blue', LARGE),
    does: fc.constantFrom(
      'write',
      'write',
      'write',
      'access',
      'access',
      'trash',
      'restore',
      'purge',
      'delete',
      'empty',
    ),
  })
  const plan = fc.array(fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 6 }), fails: fc.boolean() }), {
    maxLength: 12,
  })
  let now = 0
  await fc.assert(
    fc.asyncProperty(plan, async transactions => {
      const all = transactions.map(({ steps, fails }) =>
        changes.run(guest, async writer => {
          for (const { context, id, title, does } of steps) {
            const present = await findEntry(writer.tx, { context, id })
            const entry = named(context, id, title, ++now)
            const trashed = await findTrashedEntry(writer.tx, { context, id })
            if (does === 'empty') await writer.deleteAllOf(context)
            else if (does === 'purge') await writer.deleteFromTrash(entry)
            else if (does === 'delete') await writer.delete(entry)
            else if (does === 'access') {
              if (present) await writer.updateHead(present, { ...present, acl: { mread: [`x:${title.slice(0, 5)}`] } })
            } else if (does === 'trash') {
              if (present) await writer.moveToTrash(entry, id)
            } else if (does === 'restore') {
              if (trashed) await writer.restore(trashed)
            } else if (trashed) continue
            else if (present) await writer.update(present, { ...present, metadata: entry.metadata }, '_admin')
            else await writer.insert(entry)
          }
          if (fails) throw new Error('planned')
        }),
      )
      for (const [index, end] of (await Promise.allSettled(all)).entries()) {
        assert.equal(end.status, transactions[index]?.fails ? 'rejected' : 'fulfilled')
      }
      await newSearch(database).tidy()
      await assertIndexed(
        database,
        contexts.flatMap(context => ids.map(id => ({ context, id }))),
      )
    }),
    { numRuns: 300 },
  )
})

test('many changed heads share a commit with the entries that they belong to (D35.17)', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  const changes = changesOf(database)
  const addresses = Array.from({ length: 110 }, (_, n) => ({ context: '3', id: String(n) }))
  const write = (title: string): Promise<void> =>
    changes.run(guest, async writer => {
      for (const { context, id } of addresses) {
        const [present, entry] = [await findEntry(writer.tx, { context, id }), named(context, id, title, 1)]
        if (present) await writer.update(present, { ...present, metadata: entry.metadata })
        else await writer.insert(entry)
      }
    })
  await write('red')
  const written = write('green')
  await changes.run(guest, async writer => {
    // Those that are left first: they are among the first hundred.
    for (const address of addresses.toReversed()) {
      const head = await findEntryHead(writer.tx, address)
      if (head) await writer.updateHead(head, { ...head, acl: { mread: ['x:red'] } })
    }
  })
  await written
  await assertIndexed(database, addresses)
})
