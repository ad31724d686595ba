import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import { realSystem } from '../../src/base/system.ts'
import { pruneChangeLog } from '../../src/stores/change-log.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { changeLogSuite } from '../conformance/change-log.ts'
import { Random } from '../proof/random.ts'
import { after } from '../support/after.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { eventually, turns, until } from '../support/waiting.ts'

const open = async (url: string): Promise<Database> => {
  const database = await openPostgresDatabase(url, { system: realSystem })
  after(() => database.close())
  return database
}

if (postgres.available()) {
  changeLogSuite('PostgreSQL', async () => {
    const database = await open(await postgresDatabase())
    await migrate(database, schema)
    return database
  })
}

/** Two nodes on one database with the users `a` to `e`, each node with a cache of its own. */
async function twoNodes() {
  const url = await postgresDatabase()
  const [one, other] = [await open(url), await open(url)]
  await migrate(one, schema)
  for (const id of 'abcde') await one.run(sql`INSERT INTO principals (id, kind, name) VALUES (${id}, 'user', ${id})`)
  return { one: nodeOn(one), other: nodeOn(other), url }
}

function nodeOn(database: Database, system = new FakeSystem()) {
  const done = { questions: 0, loads: 0 }
  let failure: Error | undefined
  const counted = new Proxy(database, {
    get(target, name) {
      if (name === 'all') {
        return async (statement: Parameters<Queries['all']>[0]) => {
          if (!statement.parts.join().includes('pg_current_snapshot')) return await target.all(statement)
          done.questions++
          if (failure) throw failure
          return await target.all(statement)
        }
      }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const cache = new DependencyCache(counted, 100_000, system)
  const name = async (id: string, during: () => Promise<unknown> = async () => {}): Promise<string | undefined> =>
    await cache.get(`name ${id}`, async () => {
      done.loads++
      const row = await database.get<{ name: string }>(sql`SELECT name FROM principals WHERE id = ${id}`)
      await during()
      return row && { value: row.name, subjects: [`_principals/${id}`], bytes: 100 }
    })
  const rename = async (id: string, to: string): Promise<void> => {
    await database.transaction(tx => tx.run(sql`UPDATE principals SET name = ${to} WHERE id = ${id}`))
  }
  const fail = (error: Error | undefined): void => void (failure = error)
  return { database, cache, system, name, rename, done, fail }
}

test('a change by any node is seen by the next read of every node, and all else stays cached', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  assert.deepEqual([await one.name('a'), await one.name('b'), await one.name('a')], ['a', 'b', 'a'])
  assert.equal(one.done.loads, 2)
  await other.rename('a', 'anna')
  assert.deepEqual([await one.name('a'), await one.name('b')], ['anna', 'b'])
  assert.equal(one.done.loads, 3)
  await one.rename('b', 'ben')
  assert.deepEqual([await one.name('b'), await other.name('b'), one.done.loads], ['ben', 'ben', 4])
  await other.database.run(sql`DELETE FROM principals WHERE id = 'a'`)
  assert.deepEqual([await one.name('a'), await one.name('b'), one.done.loads], [undefined, 'ben', 5])
})

test('a transaction that began before others and commits after them is not missed', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  assert.equal(await one.name('a'), 'a')
  let commit = (): void => {}
  const held = new Promise<void>(resolve => (commit = resolve))
  let written = (): void => {}
  const hasWritten = new Promise<void>(resolve => (written = resolve))
  const slow = other.database.transaction(async tx => {
    await tx.run(sql`UPDATE principals SET name = 'anna' WHERE id = 'a'`)
    written()
    await held
  })
  await hasWritten
  await one.rename('b', 'ben')
  assert.deepEqual([await one.name('a'), await one.name('b')], ['a', 'ben'])
  commit()
  await slow
  assert.equal(await one.name('a'), 'anna')
})

test('a commit of more changes than are worth sorting out drops everything', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  assert.deepEqual([await one.name('a'), await one.name('b')], ['a', 'b'])
  const note = (count: number) =>
    other.database.transaction(tx =>
      tx.run(sql`INSERT INTO change_log (subject) SELECT 'many' FROM generate_series(1, ${count}::int)`),
    )
  await note(4999)
  assert.deepEqual([await one.name('a'), one.done.loads], ['a', 2])
  await note(5000)
  assert.deepEqual([await one.name('a'), one.done.loads], ['a', 3])
})

test('one question confirms all that a request reads, until its node commits something', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  for (const id of 'abc') await one.name(id)
  one.done.questions = 0
  await one.cache.during(async () => {
    assert.deepEqual([await one.name('a'), await one.name('b'), await one.name('c')], ['a', 'b', 'c'])
    assert.equal(one.done.questions, 1)
    await other.rename('a', 'other')
    assert.equal(await one.name('a'), 'a', 'the request began before that change')
    await one.rename('b', 'ben')
    assert.deepEqual([await one.name('b'), await one.name('a'), one.done.questions], ['ben', 'other', 2])
  })
  assert.equal(await one.cache.during(() => one.name('a')), 'other')
  assert.equal(one.done.questions, 3)
})

test('a request that waits for a second asks again', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  await one.cache.during(async () => {
    assert.equal(await one.name('a'), 'a')
    await other.rename('a', 'anna')
    one.system.pass(999)
    assert.equal(await one.name('a'), 'a')
    one.system.pass(1)
    assert.equal(await one.name('a'), 'anna')
  })
})

test('requests at the same time share a question that is asked after each of them began', async t => {
  if (!requirePeer(t, postgres)) return
  const { one } = await twoNodes()
  await one.name('a')
  one.done.questions = 0
  const first = one.name('a')
  await turns(2)
  const others = Array.from({ length: 50 }, () => one.name('a'))
  assert.deepEqual(await Promise.all([first, ...others]), Array(51).fill('a'))
  assert.equal(one.done.questions, 2)
})

test('a value that changed while it was loaded is not kept', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  const stale = await one.name('a', async () => {
    await other.rename('a', 'anna')
    // Another request takes the change into account before this one keeps what it has loaded.
    await one.name('b')
  })
  assert.deepEqual([stale, await one.name('a')], ['a', 'anna'])
})

test('without an answer from the database nothing cached is used', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  await one.name('a')
  const lost = new Error('lost')
  one.fail(lost)
  await assert.rejects(one.name('a'), lost)
  await other.rename('a', 'anna')
  await assert.rejects(one.name('a'), lost)
  one.fail(undefined)
  assert.equal(await one.name('a'), 'anna')
})

test('a node that has missed more changes than are kept drops everything', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other } = await twoNodes()
  const { database } = one
  await one.name('a')
  await other.rename('a', 'anna')
  await database.run(sql`INSERT INTO change_log (subject) SELECT 'many' FROM generate_series(1, 20000)`)
  await database.run(sql`INSERT INTO change_log (subject) VALUES ('latest')`)
  // Beside a transaction that began before these, also one on another database of the server, a node cannot tell that it missed none.
  await eventually('the end of older transactions', async () => {
    const row = await database.get<{ past: number }>(
      sql`SELECT CASE WHEN transaction < pg_snapshot_xmin(pg_current_snapshot()) THEN 1 ELSE 0 END AS past FROM change_log ORDER BY transaction DESC LIMIT 1`,
    )
    return row?.past === 1
  })
  await other.name('b')
  await pruneChangeLog(database)
  await pruneChangeLog(database)
  const rows = await database.all<{ subject: string; n: number }>(
    sql`SELECT subject, count(*) AS n FROM change_log GROUP BY subject ORDER BY subject`,
  )
  assert.deepEqual(rows, [
    { subject: '*', n: 1 },
    { subject: 'latest', n: 1 },
    { subject: 'many', n: 20_000 },
  ])
  const { loads } = other.done
  assert.deepEqual([await one.name('a'), await other.name('b'), other.done.loads], ['anna', 'b', loads])
})

test('whatever clients do at once on two nodes, an acknowledged change is never missed, even where connections break', async t => {
  if (!requirePeer(t, postgres)) return
  const { one, other, url } = await twoNodes()
  const nodes = [one, other]
  const killer = await open(url)
  const random = new Random(2026)
  /** The newest version that a node has acknowledged, and the newest that it may have written. */
  const acknowledged = new Map<string, number>()
  const begun = new Map<string, number>()
  const number = (name: string | undefined): number => Number(name?.slice(1) || 0)
  async function writer(id: string, random: Random): Promise<void> {
    for (let version = 1; version <= 40; version++) {
      begun.set(id, version)
      try {
        await random.pick(nodes).database.transaction(async tx => {
          await tx.run(sql`UPDATE principals SET name = ${`${id}${version}`} WHERE id = ${id}`)
          for (let pauses = random.below(3); pauses > 0; pauses--) await tx.get(sql`SELECT 1 AS one`)
        })
      } catch {
        // Its connection broke: nobody knows whether it was committed.
        continue
      }
      acknowledged.set(id, version)
    }
  }
  const writing = new AbortController()
  let reads = 0
  async function reader(random: Random): Promise<void> {
    while (!writing.signal.aborted) {
      const node = random.pick(nodes)
      const ids = [random.pick([...'abcde']), random.pick([...'abcde'])]
      const known = new Map(acknowledged)
      const names = await node.cache
        .during(async () => [await node.name(ids[0] ?? ''), await node.name(ids[1] ?? '')])
        .catch(() => undefined)
      for (const [index, name] of (names ?? []).entries()) {
        const id = ids[index] ?? ''
        reads++
        assert.ok(number(name) >= (known.get(id) ?? 0), `${name} was read after ${id}${known.get(id)} was acknowledged`)
        assert.ok(number(name) <= (begun.get(id) ?? 0), `${name} was read before it was written`)
      }
    }
  }
  async function breaker(random: Random): Promise<void> {
    while (!writing.signal.aborted) {
      await turns(random.below(200))
      await killer.all(sql`SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' LIMIT 1`)
    }
  }
  const readers = Array.from({ length: 4 }, () => reader(random.fork()))
  const breaking = breaker(random.fork())
  await Promise.all([...'abcde'].map(id => writer(id, random.fork())))
  writing.abort()
  await Promise.all([...readers, breaking])
  assert.ok(reads > 100, `${reads} reads`)
  for (const id of 'abcde') {
    const row = await killer.get<{ name: string }>(sql`SELECT name FROM principals WHERE id = ${id}`)
    // A connection that broke last may still be in a pool.
    const read = (node: typeof one): Promise<string | undefined> =>
      until(
        () => node.name(id).catch(() => undefined),
        name => name !== undefined,
      )
    assert.deepEqual([await read(one), await read(other)], [row?.name, row?.name])
  }
})
