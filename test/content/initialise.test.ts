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
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

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
      testHashes: async () => ({ donald: 'x', daisy: 'y', mickey: 'z' }),
    })

  await assert.rejects(make(new Broken(database, new FakeSystem('broken'), options)), /the disk is full/)
  assert.equal(await findUserByName(database, 'donald'), undefined)
  assert.equal(await findUserByName(database, 'admin'), undefined)
  assert.equal(await make(sound), true)
  assert.equal((await findUserByName(database, 'donald'))?.password, 'x')
  assert.equal(await make(sound), false)
})
