import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Entry, newEntry } from '../../src/model/entry.ts'
import { listMembers } from '../../src/content/list-records.ts'
import { buildMissingRelations } from '../../src/content/changes.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { relationsOf } from '../support/relations.ts'

/** A store as it was before lists had a table. */
async function openOld(t: TestContext): Promise<Database> {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(
    database,
    schema.filter(({ id }) => id <= 2),
  )
  await database.run(sql`INSERT INTO contexts (id) VALUES ('_contexts'), ('3')`)
  return database
}

/** Written as the program of that time did, which had no tables for what came later. */
const insertEntry = (database: Database, entry: Entry): Promise<number> =>
  database.run(sql`INSERT INTO entries (context, id, entry_type, graph_type, resource_type, created, modified,
      contributors, acl, statements, metadata, content)
    VALUES (${entry.context}, ${entry.id}, ${entry.entryType}, ${entry.graphType}, ${entry.resourceType},
      ${entry.created}, ${entry.modified}, '[]', '{}', ${JSON.stringify(entry.statements)}, '{}', ${entry.content ?? null})`)

const entry = (id: string, more: Partial<Parameters<typeof newEntry>[0]> = {}) =>
  newEntry({ context: '3', id, by: undefined, now: 0, ...more })

test('lists that were arrays keep members and order; an entry in two stays in the older one', async t => {
  const database = await openOld(t)
  for (const id of ['1', '22', 'a_b-C']) await insertEntry(database, entry(id))
  const list = (id: string, now: number, members: readonly string[]) =>
    insertEntry(database, entry(id, { graphType: 'List', now, content: JSON.stringify(members) }))
  await list('young', 2, ['1', '22'])
  await list('old', 1, ['a_b-C', 'gone', '1'])
  await list('empty', 3, [])
  await insertEntry(database, entry('text', { graphType: 'String', content: '["22"]' }))
  await migrate(database, schema)
  const membersOf = (id: string): Promise<string[]> => listMembers(database, { context: '3', id })
  assert.deepEqual(await membersOf('old'), ['a_b-C', '1'])
  assert.deepEqual(await membersOf('young'), ['22'])
  assert.deepEqual(await membersOf('empty'), [])
  assert.deepEqual(await membersOf('text'), [])
})

test('the first start after the migration notes the relations that were not noted before, the next does nothing', async t => {
  const database = await openOld(t)
  const object = { type: 'uri', value: './3/entry/1' } as const
  await insertEntry(database, entry('1'))
  const source = entry('2', { statements: { './3/resource/2': { 'http://ex.org/about': [object] } } })
  await insertEntry(database, source)
  await migrate(database, schema)
  await buildMissingRelations(database)
  await buildMissingRelations(database)
  const nobody = { user: { id: '_guest' }, groups: new Set<string>() } as unknown as Parameters<typeof relationsOf>[1]
  assert.deepEqual(await relationsOf(database, nobody, entry('1'), { publicInfo: true }), source.statements)
  assert.equal((await database.all(sql`SELECT * FROM relations`)).length, 1)
})
