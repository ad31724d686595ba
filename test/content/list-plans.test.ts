import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import { newEntry } from '../../src/model/entry.ts'
import { insertEntry } from '../support/entries.ts'
import {
  appendToList,
  countListMembers,
  forgetList,
  leaveList,
  listHolding,
  listMembers,
  membersBelow,
  membershipOf,
  replaceListMembers,
  trustedListMembers,
  trustInMembers,
} from '../../src/content/list-records.ts'
import { addRelations, dropRelations, renewRelations } from '../../src/content/entry-rows.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { countStatements } from '../support/statements.ts'
import { relationsOf } from '../support/relations.ts'

test('no statement about lists and relations goes through a whole table, so that large contexts are as quick as small', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  const { counted, statements: asked } = countStatements(database)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3'), ('_contexts'), ('_principals')`)
  const entry = newEntry({ context: '3', id: '1', by: undefined, now: 0 })
  const list = newEntry({ context: '3', id: '2', by: undefined, now: 0, graphType: 'List' })
  const statements = { './3/resource/1': { 'http://ex.org/in': [{ type: 'uri', value: './3/entry/2' }] } } as const
  for (const one of [entry, list]) await insertEntry(counted, one)

  await appendToList(counted, list, { id: entry.id, isTrusted: true })
  assert.equal(await listHolding(counted, entry), list.id)
  assert.deepEqual(await listMembers(counted, list), [entry.id])
  assert.deepEqual(await trustedListMembers(counted, list), [entry.id])
  assert.deepEqual(await trustedListMembers(counted, list, { limit: 1, offset: 0 }), [entry.id])
  assert.deepEqual(await trustInMembers(counted, list), new Map([[entry.id, true]]))
  assert.deepEqual(await membershipOf(counted, entry), { list: list.id, position: 1, isTrusted: true })
  assert.equal(await countListMembers(counted, list), 1)
  assert.equal((await membersBelow(counted, list, 'trusted')).length, 1)
  await addRelations(counted, { ...entry, statements })
  await renewRelations(counted, entry, { ...entry, statements })
  const guest = guestFrom({ address: '127.0.0.1' } as Parameters<typeof guestFrom>[0])
  const options = { publicInfo: true }
  assert.deepEqual(await relationsOf(counted, guest, list, options), statements)
  await relationsOf(counted, guest, newEntry({ context: '_contexts', id: '3', by: undefined, now: 0 }), options)
  const user = newEntry({ context: '_principals', id: '3', graphType: 'User', by: undefined, now: 0 })
  await relationsOf(counted, guest, user, options)
  await replaceListMembers(counted, list, [])
  await leaveList(counted, entry)
  await forgetList(counted, list)
  await dropRelations(counted, entry)

  // The index for searching has small tables that are read whole; its own tests and bench look after its speed.
  const own = asked.filter(({ parts }) => !parts.join('?').includes('search_'))
  assert.ok(own.length > 20)
  for (const { parts, values } of own) {
    const plan = await database.all<{ detail: string }>({
      parts: [`EXPLAIN QUERY PLAN ${parts[0]}`, ...parts.slice(1)],
      values,
    })
    // `ordered` is what a part of the statement itself gives; a statement without FROM has one constant row.
    for (const { detail } of plan)
      assert.doesNotMatch(detail, /^SCAN (?!ordered$|CONSTANT ROW$)|TEMP B-TREE/, parts.join('?'))
  }
})
