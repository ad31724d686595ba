import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headsLinkingTo } from '../../src/content/entry-records.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import type { Sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'

test('an entry is found by the URI of its resource without going through a table or sorting (W3.12)', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  for (const context of [undefined, '3']) {
    let asked: Sql | undefined
    const noted = { ...database, all: async (statement: Sql) => ((asked = statement), []) }
    await headsLinkingTo(noted, 'http://ex.org/a', context, { offset: 0, limit: 20 })
    assert.ok(asked)
    const { parts, values } = asked
    const plan = await database.all<{ detail: string; parent: number }>({
      parts: [`EXPLAIN QUERY PLAN ${parts[0]}`, ...parts.slice(1)],
      values,
    })
    // The folders of each entry that is found are looked up by their keys.
    const own = plan.filter(({ parent, detail }) => parent === 0 && !detail.startsWith('CORRELATED'))
    assert.equal(own.length, 1)
    for (const { detail } of own) assert.match(detail, /^SEARCH entries USING INDEX entries_by_resource/)
    for (const { detail } of plan) assert.doesNotMatch(detail, /^SCAN (?:entries|list_members|[defgmp])\b/)
  }
})
