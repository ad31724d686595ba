import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import type { Database } from '../../src/stores/database.ts'
import { openPostgresDatabase } from '../../src/stores/postgres-database.ts'
import { databaseSuite } from '../conformance/database.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { requirePeer } from '../support/peers/peer.ts'

const open = async (t: TestContext): Promise<Database> => {
  const database = await openPostgresDatabase(await postgresDatabase(), { system: realSystem })
  t.after(() => database.close())
  return database
}

if (postgres.available()) databaseSuite('PostgreSQL', open)

test('PostgreSQL is there to be tested', t => {
  if (requirePeer(t, postgres)) assert.ok(true)
})
