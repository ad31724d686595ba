import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openPostgresDatabase, type PostgresOptions } from '../../src/stores/postgres/postgres-database.ts'
import { schema } from '../../src/assembly/schema.ts'
import { sql } from '../../src/stores/sql.ts'
import { databaseSuite } from '../conformance/database.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { administer, postgres, postgresDatabase, sharedPostgres, urlOf } from '../support/peers/postgres.ts'
import { until } from '../support/waiting.ts'

const openAt = async (t: TestContext, url: string, options: Partial<PostgresOptions> = {}): Promise<Database> => {
  const database = await openPostgresDatabase(url, { system: realSystem, ...options })
  t.after(() => database.close())
  return database
}
const open = async (t: TestContext): Promise<Database> => await openAt(t, await postgresDatabase())

if (postgres.available()) databaseSuite('PostgreSQL', open)

test('text is put in order by its bytes, whatever order the server has for it', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await open(t)
  const unlike = await database.get<{ less: number }>(sql`SELECT CAST('a' AS TEXT) < CAST('B' AS TEXT) AS less`)
  assert.equal(unlike?.less, 1, 'the server itself does otherwise')
  await migrate(database, schema)
  const others = await database.all(sql`SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`)
  assert.deepEqual(others, [])
  for (const id of ['b', 'a', 'B', 'ä', '_', 'Z', '']) await database.run(sql`INSERT INTO contexts (id) VALUES (${id})`)
  const rows = await database.all<{ id: string }>(sql`SELECT id FROM contexts ORDER BY id`)
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['', 'B', 'Z', '_', 'a', 'b', 'ä'],
  )
  const after = await database.all<{ id: string }>(
    sql`SELECT id FROM contexts WHERE id > ${'Z'} AND id < ${'b'} ORDER BY id`,
  )
  assert.deepEqual(
    after.map(({ id }) => id),
    ['_', 'a'],
  )
})

test('every transaction waits for the disk, a relaxed one too: the server may crash without us', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await open(t)
  const ask = (durability: 'full' | 'relaxed') =>
    database.transaction(
      async tx => (await tx.get<{ value: string }>(sql`SELECT current_setting('synchronous_commit') AS value`))?.value,
      { durability },
    )
  assert.deepEqual([await ask('relaxed'), await ask('full')], ['on', 'on'])
})

test('a transaction that hides an error of the engine is not said to have been committed', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await open(t)
  await database.run(sql`CREATE TABLE things (id BIGINT PRIMARY KEY)`)
  const hidden = database.transaction(async tx => {
    await tx.run(sql`INSERT INTO things VALUES (1)`)
    await tx.run(sql`INSERT INTO things VALUES (1)`).catch(() => {})
  })
  await assert.rejects(hidden, /continued after an error/)
  assert.deepEqual(await database.all(sql`SELECT * FROM things`), [])
})

test('a statement that exceeds the timeout is cancelled on the server too, unless the transaction has no timeout', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await openAt(t, await postgresDatabase(), { timeout: 1000, connections: 1 })
  await assert.rejects(database.get(sql`SELECT pg_sleep(20)`), StoreUnavailable)
  await assert.rejects(
    database.transaction(tx => tx.get(sql`SELECT pg_sleep(20)`)),
    StoreUnavailable,
  )
  assert.deepEqual(await database.get(sql`SELECT 1 AS one`), { one: 1 })
  const url = await postgresDatabase()
  const [patient, other] = [await openAt(t, url, { timeout: 1000, connections: 1 }), await openAt(t, url)]
  const slow = patient.transaction(tx => tx.get(sql`SELECT pg_sleep(3600)`), { noTimeout: true })
  const waits = sql`SELECT pid FROM pg_stat_activity
    WHERE query LIKE '%pg_sleep(3600)%' AND pid <> pg_backend_pid() AND query_start < now() - INTERVAL '2 seconds'`
  const { pid } =
    (await until(
      () => other.get<{ pid: number }>(waits),
      row => row !== undefined,
    )) ?? {}
  // It has outlasted the timeout; only this ends it.
  await other.get(sql`SELECT pg_terminate_backend(${pid ?? 0})`)
  await assert.rejects(slow, StoreUnavailable)
})

test('a connection that is cut fails what was running on it, and nothing else', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await open(t)
  await database.run(sql`CREATE TABLE things (id BIGINT PRIMARY KEY)`)
  const cut = database.transaction(async tx => {
    await tx.run(sql`INSERT INTO things VALUES (1)`)
    const row = await tx.get<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`)
    await database.get(sql`SELECT pg_terminate_backend(${row?.pid ?? 0})`)
    await tx.run(sql`INSERT INTO things VALUES (2)`)
  })
  await assert.rejects(cut, StoreUnavailable)
  assert.deepEqual(await database.all(sql`SELECT * FROM things`), [])
})

test('a thousand statements of different texts do not pile up on the server', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await openAt(t, await postgresDatabase(), { connections: 1 })
  for (let number = 0; number < 1000; number++) {
    await database.get({ parts: [`SELECT ${number} AS number, `, ' AS value'], values: [number] })
  }
  const row = await database.get<{ count: number }>(sql`SELECT count(*) AS count FROM pg_prepared_statements`)
  assert.ok((row?.count ?? 0) <= 501, String(row?.count))
})

test('only one node at a time prepares the store', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const nodes = await Promise.all([1, 2, 3].map(() => openAt(t, url)))
  let within = 0
  let max = 0
  const work = async (): Promise<void> => {
    max = Math.max(max, ++within)
    // A round trip: another node would enter meanwhile if it could.
    await nodes[0]?.get(sql`SELECT 1`)
    within--
  }
  await Promise.all(nodes.flatMap(node => [node.withExclusiveLock(work), node.withExclusiveLock(work)]))
  assert.equal(max, 1)
  await Promise.all(nodes.map(node => migrate(node, schema)))
  const rows = await nodes[0]?.all(sql`SELECT id FROM schema_migrations`)
  assert.equal(rows?.length, schema.length)
})

test('a database that cannot be used stops the start and says why, without the password', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await sharedPostgres()
  const ascii = await postgresDatabase()
  const name = new URL(ascii).pathname.slice(1)
  await administer(server, `DROP DATABASE ${name}`)
  await administer(
    server,
    `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0 LOCALE_PROVIDER libc`,
  )
  const nobody = { port: await freePort() }
  for (const [url, reason] of [
    [ascii, /has the encoding SQL_ASCII instead of UTF8/],
    [urlOf(nobody, 'any'), /ECONNREFUSED/],
    [urlOf(server, 'no_such_database'), /does not exist/],
    [urlOf(server, 'postgres').replace('Test-Password', 'Wrong-Password'), /authentication failed/],
  ] as const) {
    const refused = openPostgresDatabase(url, { system: realSystem })
    await assert.rejects(refused, error => {
      assert.ok(error instanceof StartupError)
      assert.match(error.message, reason)
      assert.doesNotMatch(JSON.stringify([error, error.message, error.stack]), /Password-12/)
      return true
    })
  }
})

test('exclusive access to the database requires that no one else has it open, and then excludes all others', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const [node, other] = [await openAt(t, url), await openAt(t, url)]
  await assert.rejects(openAt(t, url, { isExclusive: true }), /in use by another Stowage process/)
  await other.close()
  await assert.rejects(openAt(t, url, { isExclusive: true }), /in use by another Stowage process/)
  assert.deepEqual(await node.get(sql`SELECT 1 AS one`), { one: 1 })
  await node.close()
  const withExclusiveLock = await openAt(t, url, { isExclusive: true })
  await assert.rejects(openAt(t, url, { isExclusive: true }), /in use by another Stowage process/)
  await assert.rejects(openAt(t, url), /cannot be used: another command uses this store exclusively/)
  const rows = await Promise.all([1, 2, 3].map(number => withExclusiveLock.get(sql`SELECT ${number} AS number`)))
  assert.equal(rows.length, 3)
  await withExclusiveLock.close()
  await openAt(t, url)
})
