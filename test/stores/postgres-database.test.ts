import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { Overloaded, StartupError, StatementTimeout, StoreUnavailable } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import type { Settings } from '../../src/config/settings.ts'
import { readStore } from '../../src/core/open-store.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openPostgresDatabase, type PostgresOptions } from '../../src/stores/postgres/postgres-database.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { databaseSuite } from '../conformance/database.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import {
  administer,
  ownPostgres,
  postgres,
  postgresDatabase,
  sharedPostgres,
  startPostgres,
  stopPostgres,
  urlOf,
} from '../support/peers/postgres.ts'
import { eventually, until } from '../support/waiting.ts'

const openAt = async (t: TestContext, url: string, options: Partial<PostgresOptions> = {}): Promise<Database> => {
  const database = await openPostgresDatabase(url, { system: realSystem, ...options })
  t.after(() => database.close())
  return database
}
const open = async (t: TestContext): Promise<Database> => await openAt(t, await postgresDatabase())

/** A transaction that is repeated locks the table of migrations. */
async function openMigrated(t: TestContext): Promise<Database> {
  const database = await open(t)
  await migrate(database, [])
  return database
}

if (postgres.available()) databaseSuite('PostgreSQL', openMigrated)

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
  // It has outlasted the timeout; only this ends it, perhaps before the answer to it is here.
  const ended = assert.rejects(slow, StoreUnavailable)
  await other.get(sql`SELECT pg_terminate_backend(${pid ?? 0})`)
  await ended
})

/** The statements without values that connections send from now on, each with its timeout. */
function watchStatements(
  t: TestContext,
): () => ReadonlyArray<{ readonly text: string; readonly query_timeout: number }> {
  const query = t.mock.method(Client.prototype, 'query')
  return () => query.mock.calls.map(({ arguments: [question] }) => question as never)
}

test('a connection whose wait for the exclusive lock was cancelled is usable', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const [holder, database] = [await openAt(t, url), await openAt(t, url, { connections: 1 })]
  await holder.withExclusiveLock(async () => {
    const refused = assert.rejects(
      database.withExclusiveLock(async () => {}),
      StatementTimeout,
    )
    const { pid } =
      (await until(
        () =>
          holder.get<{ pid: number }>(sql`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
        row => row !== undefined,
      )) ?? {}
    await holder.get(sql`SELECT pg_cancel_backend(${pid ?? 0})`)
    await refused
    assert.deepEqual(await database.get(sql`SELECT 1 AS one`), { one: 1 })
  })
})

test('only the wait for the exclusive lock has no limit', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await openAt(t, await postgresDatabase(), { timeout: 7000 })
  const statements = watchStatements(t)
  await database.withExclusiveLock(async () => {})
  assert.deepEqual(
    statements().map(({ text, query_timeout }) => [text.split(/[ ;(]/, 2).join(' '), query_timeout]),
    [
      ['BEGIN ', 7000],
      ['SELECT pg_advisory_xact_lock', 0],
      ['COMMIT', 7000],
    ],
  )
})

test('a connection without a response gets no further statement', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const database = await openAt(t, url, { timeout: 1000, statementTimeout: 60_000 })
  const statements = watchStatements(t)
  await assert.rejects(
    database.transaction(tx => tx.get(sql`SELECT pg_sleep(5)`)),
    StoreUnavailable,
  )
  assert.ok(!statements().some(({ text }) => text === 'ROLLBACK'))
})

test('a transaction that conflicts with another one is repeated, whatever its work makes of the error', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const [database, other] = [await openAt(t, url), await openAt(t, url)]
  await migrate(database, [])
  await database.run(sql`CREATE TABLE things (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)`)
  await database.run(sql`INSERT INTO things VALUES (1, 0), (2, 0)`)
  const change = sql`UPDATE things SET n = n + 1 WHERE id = 1`
  let attempts = 0
  const result = await database.transaction(async tx => {
    attempts++
    await tx.get(sql`SELECT n FROM things WHERE id = 1`)
    if (attempts === 1) await other.run(change)
    await tx.run(change).catch(() => {
      throw new Error('the work has its own error')
    })
    return attempts
  })
  assert.deepEqual([result, await database.all(sql`SELECT n FROM things ORDER BY id`)], [2, [{ n: 2 }, { n: 0 }]])

  // Each of the two reads what the other one writes: only the end of the second shows that.
  attempts = 0
  await database.transaction(async tx => {
    attempts++
    await tx.get(sql`SELECT n FROM things WHERE id = 1`)
    await tx.run(sql`UPDATE things SET n = n + 10 WHERE id = 2`)
    if (attempts > 1) return
    await other.transaction(async second => {
      await second.get(sql`SELECT n FROM things WHERE id = 2`)
      await second.run(change)
    })
  })
  assert.deepEqual([attempts, await database.all(sql`SELECT n FROM things ORDER BY id`)], [2, [{ n: 3 }, { n: 10 }]])
})

test('a transaction that is repeated waits for one that is repeated on another node', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const [database, other] = [await openAt(t, url), await openAt(t, url)]
  await migrate(database, [])
  await database.run(sql`CREATE TABLE things (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)`)
  await database.run(sql`INSERT INTO things VALUES (1, 0), (2, 0)`)
  /** Conflicts in its first attempt; resolves to the number of attempts. */
  const conflicting = async (node: Database, id: number, inSecond = async (): Promise<void> => {}): Promise<number> => {
    const change = sql`UPDATE things SET n = n + 1 WHERE id = ${id}`
    let attempts = 0
    await node.transaction(async tx => {
      await tx.get(sql`SELECT n FROM things WHERE id = ${id}`)
      if (++attempts === 1) await database.run(change)
      else await inSecond()
      await tx.run(change)
    })
    return attempts
  }
  let following: Promise<number> | undefined
  const first = await conflicting(database, 1, async () => {
    following ??= conflicting(other, 2)
    const waiting = sql`SELECT 1 AS found FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'relation'`
    await until(
      () => database.get(waiting),
      row => row !== undefined,
    )
    assert.deepEqual(await database.get(sql`SELECT n FROM things WHERE id = 2`), { n: 1 })
  })
  assert.deepEqual([first, await following], [2, 2])
  assert.deepEqual(await database.all(sql`SELECT n FROM things ORDER BY id`), [{ n: 2 }, { n: 2 }])
})

test('a transaction that conflicts each time is given up after 20 attempts; any other error ends it at once', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const [database, other] = [await openAt(t, url), await openAt(t, url)]
  await migrate(database, [])
  await database.run(sql`CREATE TABLE things (n BIGINT NOT NULL)`)
  await database.run(sql`INSERT INTO things VALUES (0)`)
  const change = sql`UPDATE things SET n = n + 1`
  let attempts = 0
  const crowded = database.transaction(async tx => {
    attempts++
    await tx.get(sql`SELECT n FROM things`)
    await other.run(change)
    await tx.run(change)
  })
  await assert.rejects(crowded, (error: unknown) => {
    assert.ok(error instanceof Overloaded && error.cause instanceof Error)
    assert.deepEqual(
      [error.message, error.cause.name],
      ['Conflicting writes to the database. Try again in 1 second.', 'SerializationConflict'],
    )
    return true
  })
  assert.deepEqual([attempts, await database.get(sql`SELECT n FROM things`)], [20, { n: 20 }])
  attempts = 0
  const own = new Error('own')
  const failing = database.transaction(async () => {
    attempts++
    throw own
  })
  await assert.rejects(failing, own)
  assert.equal(attempts, 1)
})

test('statements and snapshots that are misused are refused with the reason', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await open(t)
  await database.snapshot(async at => {
    await assert.rejects(at.run(sql`SELECT 1`), { message: 'a snapshot is read-only' })
    assert.deepEqual([at.engine, await at.all(sql`SELECT 1 AS one`)], ['postgres', [{ one: 1 }]])
  })
  let late: Promise<unknown> | undefined
  await database.transaction(async tx => {
    late = new Promise(resolve => setImmediate(resolve)).then(() => tx.get(sql`SELECT 1`))
    late.catch(() => {})
  })
  await assert.rejects(late ?? Promise.resolve(), { message: 'the transaction has ended' })
  assert.deepEqual(await database.findDamage(), [])
  const before = database.revision ?? 0
  await database.get(sql`SELECT 1`)
  assert.equal(database.revision, before)
  await database.run(sql`CREATE TABLE things (n BIGINT)`)
  assert.equal(database.revision, before + 1)
  await database.transaction(tx => tx.run(sql`INSERT INTO things VALUES (1)`))
  assert.equal(database.revision, before + 2)
  await database.close()
  await database.close()
  await assert.rejects(database.get(sql`SELECT 1`), { message: 'the database is closed' })
})

test('values have the types that SQLite gives them, and connections the settings that statements need', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const withOptions = new URL(url)
  withOptions.searchParams.set('options', '-c work_mem=5MB')
  const database = await openAt(t, withOptions.href, { application: 'stowage n1', statementTimeout: 7000 })
  assert.deepEqual(
    await database.get(sql`SELECT
      false AS no, true AS yes, CAST(7 AS SMALLINT) AS small, CAST(8 AS BIGINT) AS big, CAST(9.5 AS NUMERIC) AS exact,
      CAST(1.5 AS REAL) AS real, CAST(2.5 AS DOUBLE PRECISION) AS double, 'text' AS text, NULL AS none,
      decode('01ff', 'hex') AS bytes, DATE '2026-01-02' AS day`),
    {
      no: 0,
      yes: 1,
      small: 7,
      big: 8,
      exact: 9.5,
      real: 1.5,
      double: 2.5,
      text: 'text',
      none: null,
      bytes: Buffer.from([1, 255]),
      day: '2026-01-02',
    },
  )
  const setting = async (name: string): Promise<unknown> =>
    (await database.get<{ value: string }>(sql`SELECT current_setting(${name}) AS value`))?.value
  for (const [name, value] of [
    ['enable_seqscan', 'off'],
    ['jit', 'off'],
    ['work_mem', '5MB'],
    ['application_name', 'stowage n1'],
    ['statement_timeout', '7s'],
    ['idle_in_transaction_session_timeout', '1min'],
  ] as const)
    assert.equal(await setting(name), value, name)
})

test('options of the address replace settings of the same name only, and no statement outlasts the time for a response', async t => {
  if (!requirePeer(t, postgres)) return
  for (const [options, jit, timeout] of [
    ['-c jit_above_cost=5', 'off', '7s'],
    ['-c jit=on -cstatement_timeout=20s', 'on', '7s'],
    ['--statement-timeout=3s', 'off', '3s'],
    ['-c statement_timeout=0', 'off', '7s'],
  ] as const) {
    const url = new URL(await postgresDatabase())
    url.searchParams.set('options', options)
    const database = await openAt(t, url.href, { statementTimeout: 7000 })
    const found = await database.get<object>(
      sql`SELECT current_setting('jit') AS jit, current_setting('statement_timeout') AS timeout`,
    )
    assert.deepEqual({ ...found }, { jit, timeout }, options)
  }
})

test('a command that reads a store waits for the server as long as the service does', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  await migrate(await openAt(t, url), [])
  const timeout = sql`SELECT current_setting('statement_timeout') AS timeout`
  const settings = { 'service.repository.store.url': url } as Settings
  assert.deepEqual(await readStore(settings, database => database.get(timeout)), { timeout: '10s' })
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

test('a transaction on a server that has become a standby is refused as an outage until the server is promoted', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await ownPostgres(t)
  const database = await openAt(t, urlOf(server, 'postgres'))
  const change = () => database.transaction(tx => tx.run(sql`CREATE TABLE IF NOT EXISTS changed (id INTEGER)`))
  await change()
  await stopPostgres(server)
  await writeFile(join(server.folder, 'data/standby.signal'), '')
  const standby = await startPostgres(server.folder, server.port)
  await eventually('the pool connects to the standby', () =>
    database.get(sql`SELECT 1 AS one`).then(
      () => true,
      () => false,
    ),
  )
  await assert.rejects(change, StoreUnavailable)
  await assert.rejects(
    database.run(sql`INSERT INTO changed VALUES (1)`),
    StoreUnavailable,
    'a statement outside a transaction',
  )
  await administer(standby, 'SELECT pg_promote()')
  await change()
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
