import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import { realSystem } from '../../src/base/system.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import { findEntryHead } from '../../src/content/entry-records.ts'
import { parseQuery } from '../../src/features/search/query.ts'
import { readableBy } from '../../src/features/search/query-to-sql.ts'
import { CONTEXTS } from '../../src/model/addresses.ts'
import { type Acl, aclSlots, newEntry } from '../../src/model/entry.ts'
import { may } from '../../src/model/rights.ts'
import { sqliteDialect } from '../../src/search/sqlite.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { sql } from '../../src/stores/sql.ts'
import { changesOf, insertEntry } from '../support/entries.ts'
import { isLong } from '../support/proofs.ts'
import { newSearch } from '../support/search-engine.ts'
import { newDatabase, onPostgres } from '../support/store.ts'

/** A folder with many entries: shared once, revoked with one row, and searched by the number of shares. */

const COUNT = isLong ? 50_000 : 2000
const iri = (id: string): string => `./_principals/resource/${id}`
const guest = guestFrom({ address: '', userAgent: '' })
const user = (id: string): Caller => ({ ...guest, user: { ...guest.user, id } })
const giving = (...readers: readonly string[]): Acl =>
  Object.fromEntries(
    aclSlots.map(slot => [slot, ['_folder', ...(slot === 'mread' || slot === 'rread' ? readers : [])].map(iri)]),
  )

test('a revoked share of a folder with many entries writes one row, and ends for all of them at once (D11.7)', async t => {
  const database = await newDatabase(t)
  const folder = newEntry({ context: '3', id: 'list', by: undefined, now: 1, graphType: 'List' })
  const numbers = sql`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${COUNT})`
  await database.transaction(async tx => {
    for (const id of [CONTEXTS, '3']) await tx.run(sql`INSERT INTO contexts (id) VALUES (${id})`)
    await insertEntry(tx, newEntry({ context: CONTEXTS, id: '3', by: undefined, now: 1, graphType: 'Context' }))
    await insertEntry(tx, folder)
    await tx.run(sql`INSERT INTO entries (context, id, entry_type, graph_type, resource_type, created, modified,
        contributors, acl, statements, metadata)
      ${numbers} SELECT '3', CAST(n AS TEXT), 'Local', 'None', 'InformationResource', 1, 1, '[]', '{}', '{}', '{}' FROM n`)
    await tx.run(sql`INSERT INTO list_members (context, member, list, position)
      ${numbers} SELECT '3', CAST(n AS TEXT), 'list', n FROM n`)
    await tx.run(sql`INSERT INTO search_entries (context, id, own_acl, open_to, gives, created, modified)
      ${numbers} SELECT '3', CAST(n AS TEXT), 0, 0, 0, n, n FROM n`)
  })
  const loader = new EntryLoader({ database, cache: new DependencyCache(database, 2 ** 24, realSystem) })
  const search = newSearch(database)
  const logged = async (): Promise<number> =>
    (await database.get<{ count: number }>(sql`SELECT count(*) AS count FROM change_log`))?.count ?? 0
  /** Resolves to the number of changed rows. */
  const share = async (acl: Acl): Promise<number> => {
    const before = await logged()
    await changesOf(database).run(undefined, async writer => {
      const present = await findEntryHead(writer.tx, folder)
      assert.ok(present)
      await writer.updateHead(present, { ...present, acl }, '_admin')
    })
    return (await logged()) - before
  }
  const readBy = async (id: string): Promise<readonly [read: number, found: number]> => {
    let read = 0
    for (let number = 1; number <= COUNT; number += 97) {
      const target = await loader.target({ context: '3', id: String(number) })
      if (target && may(user(id), 'readresource', target)) read++
    }
    const { total } = await search.find(user(id), {
      query: parseQuery('*:*'),
      filters: [],
      limit: 1,
      offset: 0,
      order: [{ field: 'modified', descends: true }],
      facets: { fields: [], minCount: 1, limit: 1, missing: false, matches: undefined },
      toRelative: one => one,
      toAbsolute: one => one,
      now: 0,
    })
    return [read, total]
  }
  const all = [Math.ceil(COUNT / 97), COUNT + 1]
  await share(giving('7'))
  assert.deepEqual([await readBy('7'), await readBy('8')], [all, [0, 0]])
  assert.equal(await share(giving('8')), 1)
  assert.deepEqual([await readBy('7'), await readBy('8')], [[0, 0], all])
  assert.equal(await share(giving()), 1)
  assert.deepEqual(
    [await readBy('7'), await readBy('8')],
    [
      [0, 0],
      [0, 0],
    ],
  )
})

test('a search finds the folders that the caller may read by indexes, without going through what is in them', {
  skip: onPostgres && 'the plan of SQLite',
}, async t => {
  const database = await newDatabase(t)
  const reader = { principals: [iri('7')], userId: '7' }
  const asked = sql`EXPLAIN QUERY PLAN SELECT e.doc FROM search_entries e WHERE ${readableBy(reader, sqliteDialect)}`
  const plan = (await database.all<{ detail: string }>(asked)).map(({ detail }) => detail)
  assert.ok(
    plan.some(detail => /^SEARCH c USING (?:COVERING )?INDEX search_entries_giving/.test(detail)),
    plan.join('\n'),
  )
  assert.deepEqual(
    plan.filter(detail => /^SCAN (?!e$|r$|readable$|SUBQUERY)/.test(detail)),
    [],
    plan.join('\n'),
  )
})
