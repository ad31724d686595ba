import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schema } from '../../src/assembly/schema.ts'
import { createLog } from '../../src/base/log.ts'
import { entrySource } from '../../src/content/entry-records.ts'
import { CatchUp } from '../../src/search/catch-up.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { after } from '../support/after.ts'

const STEP = 30
const TITLE = 'http://purl.org/dc/terms/title'

test('a store whose full texts are numbered by document is indexed anew by the first start (schema step 30)', async () => {
  const database = await openSqliteDatabase(':memory:')
  after(() => database.close())
  await migrate(
    database,
    schema.filter(({ id }) => id < STEP),
  )
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  // As the version before wrote it: the row id was doc * 2^20 + field.
  for (const [doc, id] of [
    [1, 'a'],
    [2, 'b'],
  ] as const) {
    const metadata = { [`./3/resource/${id}`]: { [TITLE]: [{ type: 'literal', value: `alpha ${id}` }] } }
    await database.run(sql`INSERT INTO entries
        (context, id, entry_type, graph_type, resource_type, created, modified, contributors, acl, statements, metadata)
      VALUES ('3', ${id}, 'Local', 'None', 'InformationResource', 1, 1, '[]', '{}', '{}', ${JSON.stringify(metadata)})`)
    await database.run(sql`INSERT INTO search_entries (doc, context, id, audience, modified)
      VALUES (${doc}, '3', ${id}, 0, 1)`)
    await database.run(sql`INSERT OR IGNORE INTO search_fields (number, name) VALUES (7, 'title')`)
    await database.run(sql`INSERT INTO search_strings (field, value, doc) VALUES (7, ${`alpha ${id}`}, ${doc})`)
    await database.run(sql`INSERT INTO search_ngrams (rowid, value) VALUES (${doc * 2 ** 20 + 7}, ${`alpha ${id}`})`)
  }
  await migrate(database, schema)
  await new CatchUp(database, entrySource, createLog('silent')).begin()
  const indexed = await database.all(sql`SELECT context, id FROM search_entries ORDER BY id`)
  assert.deepEqual(
    indexed.map(row => ({ ...(row as object) })),
    [
      { context: '3', id: 'a' },
      { context: '3', id: 'b' },
    ],
  )
  const rows = await database.all<{
    field: string
    doc: number
  }>(sql`SELECT f.name AS field, n.rowid & 4294967295 AS doc
    FROM search_ngrams n JOIN search_fields f ON f.number = n.rowid >> 32
    WHERE search_ngrams MATCH '"alpha"' AND f.name = 'title' ORDER BY doc`)
  assert.deepEqual(
    rows.map(({ field, doc }) => [field, doc]),
    [
      ['title', 3],
      ['title', 4],
    ],
  )
})
