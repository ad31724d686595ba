import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'

test('a store of an earlier version loses the indexes that no query uses, and keeps its entries', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(
    database,
    schema.filter(({ id }) => id <= 35),
  )
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  await database.run(sql`INSERT INTO entries (context, id, entry_type, graph_type, resource_type, created, modified,
      contributors, acl, statements, metadata) VALUES ('3', '1', 'Local', 'None', 'Unknown', 1, 2, '[]', '{}', '{}', '{}')`)
  await migrate(database, schema)
  const indexes = await database.all<{ name: string }>(sql`SELECT name FROM sqlite_schema
    WHERE type = 'index' AND tbl_name = 'entries' AND sql IS NOT NULL ORDER BY name`)
  assert.deepEqual(
    indexes.map(({ name }) => name),
    ['entries_by_resource'],
  )
  const kept = await database.get<{ id: string; modified: number }>(sql`SELECT id, modified FROM entries`)
  assert.equal(kept?.id, '1')
  assert.equal(kept?.modified, 2)
})
