import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { TooLarge } from '../../src/base/errors.ts'
import { MAX_DESCENDANTS, membersBelow } from '../../src/content/list-records.ts'
import { newEntry } from '../../src/model/entry.ts'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { insertEntry } from '../support/entries.ts'
import { newDatabase } from '../support/store.ts'

const list = { context: '3', id: 'list' }
const make = (id: string, graphType: 'None' | 'List' = 'None') =>
  newEntry({ context: '3', id, by: undefined, now: 1, graphType })

/** A store with a list and another list in it. */
async function newLists(t: TestContext): Promise<Database> {
  const database = await newDatabase(t)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  await database.transaction(async tx => {
    for (const id of ['list', 'inner']) await insertEntry(tx, make(id, 'List'))
    await tx.run(sql`INSERT INTO list_members (context, member, list, position) VALUES ('3', 'inner', 'list', 1)`)
  })
  return database
}

/** Adds `count` members, numbered from `first`. */
const fill = async (database: Database, holding: string, first: number, count: number): Promise<void> => {
  const numbers = sql`WITH RECURSIVE n (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM n WHERE n < ${first + count - 1})`
  await database.run(sql`INSERT INTO entries (context, id, entry_type, graph_type, resource_type, created, modified, contributors, acl,
      statements, metadata) ${numbers} SELECT '3', CAST(n AS TEXT), 'Local', 'None', 'InformationResource', 1, 1, '[]', '{}', '{}', '{}' FROM n`)
  await database.run(sql`INSERT INTO list_members (context, member, list, position)
    ${numbers} SELECT '3', CAST(n AS TEXT), CAST(${holding} AS TEXT), n + 1 FROM n`)
}

test('all below a list are named in its order, up to a limit that counts those in the lists in it (D35.17)', async t => {
  const database = await newLists(t)
  await fill(database, 'inner', 1, 3)
  await fill(database, 'list', 4, 2)
  const ids = (await membersBelow(database, list, 'all')).map(({ id }) => id)
  assert.deepEqual(ids, ['inner', '4', '5', '1', '2', '3'])

  await database.run(sql`UPDATE list_members SET trusted = 0 WHERE member IN ('inner', '4')`)
  assert.deepEqual(
    (await membersBelow(database, list, 'trusted')).map(({ id }) => id),
    ['5'],
  )

  await fill(database, 'inner', 6, MAX_DESCENDANTS - 6)
  assert.equal((await membersBelow(database, list, 'all')).length, MAX_DESCENDANTS)
  await fill(database, 'list', MAX_DESCENDANTS, 1)
  await assert.rejects(membersBelow(database, list, 'all'), error => {
    assert.ok(error instanceof TooLarge)
    assert.equal(error.code, 'list-too-large')
    return true
  })
})
