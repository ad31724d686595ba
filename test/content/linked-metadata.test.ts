import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import { everybody, newEntry } from '../../src/model/entry.ts'
import { insertEntry } from '../support/entries.ts'
import { linkedMetadata, type LinkTraversal } from '../../src/features/traversal/linked-metadata.ts'
import { literal, uri } from '../../src/graph/graph.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import type { Queries } from '../../src/stores/database.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'

const walk: LinkTraversal = {
  links: [{ predicate: 'http://ex.org/part', isInverse: false }],
  depth: 10,
  limit: 1000,
  withinContext: false,
  stops: [],
}
const from = (queries: Queries) => ({ queries, target: async () => undefined })

test('a walk along links has at most a thousand entries (W3.5)', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3'), ('_contexts')`)
  const common = { by: undefined, now: 0, acl: { mread: everybody } }
  const about = (id: string) => ({ [`./3/resource/${id}`]: { 'http://ex.org/title': [literal(id)] } })
  const ids = Array.from({ length: 1100 }, (_, index) => String(index + 1))
  const parts = ids.map(id => uri(`./3/resource/${id}`))
  const start = newEntry({
    ...common,
    context: '3',
    id: '0',
    metadata: { './3/resource/0': { 'http://ex.org/part': parts } },
  })
  await database.transaction(async tx => {
    await insertEntry(tx, newEntry({ ...common, context: '_contexts', id: '3', graphType: 'Context' }))
    await insertEntry(tx, start)
    for (const id of ids) await insertEntry(tx, newEntry({ ...common, context: '3', id, metadata: about(id) }))
  })
  const guest = guestFrom({ address: '127.0.0.1', userAgent: '', device: undefined })
  const graph = await linkedMetadata(from(database), guest, start, walk)
  assert.equal(Object.keys(graph).length, 1000)
})

test('a walk ends where its graph grows too long, however few the entries', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3'), ('_contexts')`)
  const common = { context: '3', by: undefined, now: 0, acl: { mread: everybody } }
  const next = (id: number) => ({
    [`./3/resource/${id}`]: {
      'http://ex.org/part': [uri(`./3/resource/${id + 1}`)],
      'http://ex.org/text': [literal('a'.repeat(4 * 1024 * 1024))],
    },
  })
  await insertEntry(database, newEntry({ ...common, context: '_contexts', id: '3', graphType: 'Context' }))
  const chain = Array.from({ length: 9 }, (_, id) => newEntry({ ...common, id: String(id), metadata: next(id) }))
  for (const entry of chain) await insertEntry(database, entry)
  const guest = guestFrom({ address: '127.0.0.1', userAgent: '', device: undefined })
  const graph = await linkedMetadata(from(database), guest, { context: '3', id: '0' }, walk)
  assert.equal(Object.keys(graph).length, 4)
})
