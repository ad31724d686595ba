import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { findUserByName } from '../../src/accounts/users.ts'
import { initialise } from '../../src/content/setup/initialise.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import type { Queries } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { changesOf } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { type Sql, sql } from '../../src/stores/sql.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

const passwords = { hash: async (password: string) => `hash of ${password}` }

test('a store is made with all of its test data or not at all, at the next start anew (W5)', async t => {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'store.sqlite'))
  t.after(() => database.close())
  await migrate(database, schema)
  const options = quotas(-1, { enforced: false })
  const sound = new Ledger(database, new FakeSystem('initialise'), options)
  class Broken extends Ledger {
    override async open(tx: Queries, context: string): Promise<void> {
      if (context === '2') throw new Error('the disk is full')
      await super.open(tx, context)
    }
  }
  const make = (ledger: Ledger): Promise<boolean> =>
    initialise({
      database,
      changes: changesOf(database),
      ledger,
      withTestData: true,
      passwords,
    })

  await assert.rejects(make(new Broken(database, new FakeSystem('broken'), options)), /the disk is full/)
  assert.equal(await findUserByName(database, 'donald'), undefined)
  assert.equal(await findUserByName(database, 'admin'), undefined)
  assert.equal(await make(sound), true)
  assert.equal((await findUserByName(database, 'donald'))?.password, 'hash of donaldDonald12')
  assert.equal(await make(sound), false)
})

test('a store of an earlier build gets the titles of users and groups of the system, unless somebody has written metadata (D18.24)', async t => {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'store.sqlite'))
  t.after(() => database.close())
  await migrate(database, schema)
  const ledger = new Ledger(database, new FakeSystem('titles'), quotas(-1, { enforced: false }))
  await initialise({ database, changes: changesOf(database), ledger, withTestData: false, passwords })
  const read = async (): Promise<ReadonlyMap<string, string>> => {
    const rows = await database.all<{ id: string; metadata: string }>(
      sql`SELECT id, metadata FROM entries WHERE context = '_principals'`,
    )
    return new Map(rows.map(({ id, metadata }) => [id, metadata]))
  }
  const fresh = await read()
  assert.deepEqual([...fresh.keys()].toSorted(), ['_admin', '_admins', '_guest', '_users'])
  const own = '{"./_principals/resource/_users":{"http://purl.org/dc/terms/title":[{"type":"literal","value":"Us"}]}}'
  await database.run(sql`UPDATE entries SET metadata = '{}' WHERE context = '_principals'`)
  await database.run(sql`UPDATE entries SET metadata = ${own} WHERE id = '_users'`)
  await database.run(sql`INSERT INTO metadata_revisions (context, entry, number, time, author, metadata)
    VALUES ('_principals', '_admins', 1, 0, '_admin', '{}')`)
  for (const statement of schema.find(({ id }) => id === 60)?.statements ?? []) await database.run(statement as Sql)
  assert.deepEqual(await read(), new Map([...fresh, ['_users', own], ['_admins', '{}']]))
})
