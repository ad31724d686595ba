import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import { Unauthenticated } from '../../src/base/errors.ts'
import { Entries } from '../../src/content/entries.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import type { Kinds } from '../../src/content/resource-kind.ts'
import type { Files } from '../../src/files/files.ts'
import { CONTEXTS } from '../../src/model/addresses.ts'
import { everybody, newEntry } from '../../src/model/entry.ts'
import type { Database } from '../../src/stores/database.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { sql } from '../../src/stores/sql.ts'
import { changesOf, insertEntry, updateEntry } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

test('a caller who no longer administers the context when the transaction begins deletes no list with its members (D1.5, D11.3)', async t => {
  const database = await newDatabase(t)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('_contexts'), ('3')`)
  const by = { by: undefined, now: 0 }
  const context = { ...by, context: CONTEXTS, id: '3', graphType: 'Context' as const }
  await insertEntry(database, newEntry({ ...by, context: CONTEXTS, id: CONTEXTS, graphType: 'SystemContext' }))
  await insertEntry(database, newEntry({ ...context, acl: { admin: everybody } }))
  const acl = { admin: everybody }
  await insertEntry(database, newEntry({ ...by, context: '3', id: 'list', graphType: 'List', acl }))
  await insertEntry(database, newEntry({ ...by, context: '3', id: 'member', acl: {} }))
  await database.run(sql`INSERT INTO list_members (context, member, list, position) VALUES ('3', 'member', 'list', 1)`)
  const losingRight: Pick<Database, 'transaction'> = {
    async transaction(work, options) {
      await updateEntry(database, newEntry({ ...context, acl: {} }))
      return await database.transaction(work, options)
    },
  }
  const loader = new EntryLoader({ database, cache: new DependencyCache(database, 1000, new FakeSystem()) })
  const entries = new Entries({
    database,
    loader,
    kinds: { of: () => ({}) } as unknown as Kinds,
    files: { remove: async () => false, collectGarbage: async () => {} } as unknown as Files,
    changes: changesOf(losingRight as Database),
  })
  const guest = guestFrom({ address: '192.0.2.1', userAgent: '' })
  const deletion = entries.delete(guest, { context: '3', entry: 'list' }, () => {}, true)
  await assert.rejects(
    deletion,
    error => error instanceof Unauthenticated && /with all its members/.test(error.message),
  )
  const left = await database.all<{ id: string }>(sql`SELECT id FROM entries WHERE context = '3' ORDER BY id`)
  assert.deepEqual(
    left.map(({ id }) => id),
    ['list', 'member'],
  )
})
