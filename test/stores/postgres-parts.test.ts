import assert from 'node:assert/strict'
import { promisify } from 'node:util'
import { test } from 'node:test'
import type { PoolClient } from 'pg'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import { type Database, type Queries, UniqueViolation } from '../../src/stores/database.ts'
import {
  applicationOf,
  clockAhead,
  holdsStore,
  joinNodes,
  leaveNodes,
  liveNodes,
  misfitsOf,
  type NodeFacts,
  requireNoOlderNodes,
  serverVersion,
} from '../../src/stores/postgres/node-registry.ts'
import {
  changesOf,
  PostgresConnection,
  SerializationConflict,
  translated,
} from '../../src/stores/postgres/postgres-connection.ts'
import { placeOf, shareStore, takeStore } from '../../src/stores/postgres/postgres-pool.ts'
import { type Sql, sql } from '../../src/stores/sql.ts'

const serverError = (code: string): Error => Object.assign(new Error(`code ${code}`), { severity: 'ERROR', code })

test('an error of the server is an outage, a conflict, a row that is there already, or stays as it is', () => {
  for (const code of [
    '08000',
    '08006',
    '28000',
    '28P01',
    '53100',
    '53300',
    '58030',
    '57014',
    '57P01',
    '57P02',
    '57P03',
    '57P04',
    '57P05',
    '25006',
    '25P03',
    '3D000',
  ]) {
    const error = serverError(code)
    const outage = translated(error)
    assert.ok(outage instanceof StoreUnavailable, code)
    assert.equal(outage.message, 'The database cannot be reached at the moment.')
    assert.equal(outage.cause, error)
  }
  for (const code of ['40001', '40P01']) {
    const conflict = translated(serverError(code))
    assert.ok(conflict instanceof SerializationConflict, code)
    assert.deepEqual(
      [conflict.name, conflict.message],
      ['SerializationConflict', 'another transaction came in between'],
    )
    assert.ok(conflict.cause instanceof Error)
  }
  const unique = serverError('23505')
  const violation = translated(unique)
  assert.ok(violation instanceof UniqueViolation && violation.cause === unique)
  for (const code of ['23503', '42P01', '22021', '57000', '57P06', '25001', '40002', '108000', '3D001']) {
    const error = serverError(code)
    assert.equal(translated(error), error, code)
  }
})

test('an error that is not of the server means that the connection is broken', () => {
  const half = [
    new Error('Connection terminated'),
    Object.assign(new Error('no severity'), { code: '23505' }),
    Object.assign(new Error('no code'), { severity: 'ERROR' }),
    { severity: 'ERROR', code: '23505' },
    undefined,
  ]
  for (const error of half) {
    const outage = translated(error)
    assert.ok(outage instanceof StoreUnavailable)
    assert.equal(outage.cause, error)
  }
})

test('of an address only host, port and database are shown', () => {
  assert.equal(placeOf('postgres://name:secret@db.example.org/store?x=1'), 'db.example.org:5432/store')
  assert.equal(placeOf('postgres://db.example.org:6000/store'), 'db.example.org:6000/store')
})

/** A connection that notes what it is asked, and how it is returned to its pool. */
function clientWith(answer: (question: Record<string, unknown>) => unknown = () => ({ rows: [], command: 'SELECT' })) {
  const asked: Record<string, unknown>[] = []
  const released: unknown[] = []
  const client = {
    async query(question: Record<string, unknown>) {
      asked.push(question)
      return await answer(question)
    },
    release: (isBroken: unknown) => void released.push(isBroken),
  }
  return { client: client as unknown as PoolClient, asked, released }
}

test('a statement is prepared under one name for its text, with the timeout of its connection', async () => {
  const { client, asked } = clientWith()
  const connection = new PostgresConnection(client, 1234)
  const select = (value: number) => connection.query(sql`SELECT ${value} AS a, ${'x'} AS b`)
  await select(1)
  await select(2)
  await connection.query({ parts: ['SELECT ', ' AS a, ', ' AS b'], values: [3, true] })
  await connection.query(sql`SELECT 1`)
  await connection.execute('BEGIN; SELECT 1')
  const [one, two, list, other, plain] = asked
  for (const question of [one, two, list]) assert.equal(question?.['text'], 'SELECT $1 AS a, $2 AS b')
  const valuesOf = (question: Record<string, unknown> | undefined): readonly unknown[] =>
    (question?.['values'] ?? []) as readonly unknown[]
  assert.deepEqual(
    [one, two, list, other].map(question => valuesOf(question).length),
    [2, 2, 2, 0],
  )
  assert.equal(valuesOf(two)[1], 'x')
  assert.equal(one?.['name'], two?.['name'])
  assert.equal(one?.['name'], list?.['name'])
  assert.notEqual(one?.['name'], other?.['name'])
  assert.ok(String(one?.['name']).length <= 63, 'the server cuts longer names')
  assert.deepEqual(plain, { text: 'BEGIN; SELECT 1', query_timeout: 1234 })
  assert.ok(asked.every(question => question['query_timeout'] === 1234))
})

test('a connection goes back to its pool unless it is broken or has prepared too much', async () => {
  const whole = clientWith()
  const connection = new PostgresConnection(whole.client, 0)
  for (let n = 0; n < 500; n++) await connection.query({ parts: [`SELECT ${n}`], values: [] })
  connection.release()
  await connection.query({ parts: ['SELECT 0'], values: [] })
  connection.release()
  const again = new PostgresConnection(whole.client, 0)
  await again.query({ parts: ['SELECT 500'], values: [] })
  again.release()
  assert.deepEqual(whole.released, [false, false, true])
  const unused = clientWith()
  new PostgresConnection(unused.client, 0).release()
  const condemned = new PostgresConnection(unused.client, 0)
  condemned.condemn()
  condemned.release()
  assert.deepEqual(unused.released, [false, true])
  for (const [error, isBroken] of [
    [serverError('42P01'), false],
    [serverError('40001'), false],
    [new Error('Query read timeout'), true],
  ] as const) {
    const failing = clientWith(() => Promise.reject(error))
    const one = new PostgresConnection(failing.client, 0)
    await assert.rejects(one.execute('SELECT 1'))
    one.release()
    assert.deepEqual(failing.released, [isBroken], error.message)
  }
})

test('only statements that write have a number of changed rows', () => {
  const of = (command: string, rowCount: number | null) =>
    changesOf({ command, rowCount } as Parameters<typeof changesOf>[0])
  for (const command of ['INSERT', 'UPDATE', 'DELETE', 'MERGE'])
    assert.deepEqual([of(command, 3), of(command, null)], [3, 0])
  for (const command of ['SELECT', 'CREATE', 'UPDATEX', 'XINSERT']) assert.equal(of(command, 3), 0, command)
})

test('the store is locked as soon as the lock is free, exclusively or with others, and never waited for in the queue', async () => {
  for (const [name, open] of [
    ['pg_try_advisory_lock(', async (client: PoolClient) => await takeStore(client)],
    ['pg_try_advisory_lock_shared(', async (client: PoolClient) => (await promisify(shareStore())(client), true)],
  ] as const) {
    let tries = 0
    const { client, asked } = clientWith(() => ({ rows: [{ taken: ++tries === 3 ? 1 : 0 }] }))
    assert.equal(await open(client), true)
    assert.equal(asked.length, 3)
    assert.ok(asked.every(({ text }) => String(text).includes(name)))
    assert.equal(new Set(asked.map(({ text }) => text)).size, 1)
    assert.ok(asked.every(question => question['query_timeout'] === 5000))
  }
})

test('a lock that others keep is given up', async () => {
  const { client, asked } = clientWith(() => ({ rows: [{ taken: 0 }] }))
  const [isTaken, sharing] = await Promise.all([
    takeStore(client),
    promisify(shareStore())(client).then(
      () => assert.fail('it was shared'),
      (error: Error) => error.message,
    ),
  ])
  assert.deepEqual([isTaken, sharing], [false, 'another command uses this store exclusively'])
  assert.ok(asked.length > 4)
  const nothing = clientWith(() => ({ rows: [] }))
  const lost = clientWith(() => Promise.reject(new Error('lost')))
  await assert.rejects(takeStore(lost.client), { message: 'lost' })
  assert.equal(nothing.asked.length, 0)
})

const queriesWith = (answer: (text: string) => unknown): Queries => {
  const of = ({ parts }: Sql): unknown => answer(parts.join('?'))
  return {
    engine: 'postgres',
    all: async (statement: Sql) => of(statement) ?? [],
    get: async (statement: Sql) => of(statement),
    run: async (statement: Sql) => of(statement) ?? 0,
  } as unknown as Queries
}

test('a database holds a store if it has the table of its migrations, and has the version that the server says', async () => {
  for (const [row, expected] of [
    [{ found: 'schema_migrations' }, true],
    [{ found: null }, false],
    [undefined, false],
  ] as const)
    assert.equal(await holdsStore(queriesWith(() => row)), expected)
  assert.equal(await serverVersion(queriesWith(() => ({ version: '15.8 (Debian 15.8-1)' }))), '15.8')
  assert.equal(await serverVersion(queriesWith(() => ({ version: '17.1' }))), '17.1')
  assert.equal(await serverVersion(queriesWith(() => undefined)), '')
})

const facts = (settings: Record<string, string>, keys: string[] = [], version = '1.0.0'): NodeFacts => ({
  version,
  settings,
  keys,
})

test('each difference between two nodes is named with both values, the own one first', () => {
  assert.deepEqual(misfitsOf(facts({ a: '1', b: '2', same: 'x' }), facts({ a: '4', b: '3', same: 'x' })), [
    'a is 1 here and 4 there',
    'b is 2 here and 3 there',
  ])
  assert.deepEqual(misfitsOf(facts({ a: '1' }), facts({ b: '3' })), [], 'only one of two versions compares them')
  assert.deepEqual(misfitsOf(facts({}, ['k1']), facts({}, ['k2'])), [
    'the token key is k1 here and k2 there (fingerprints)',
  ])
  assert.deepEqual(misfitsOf(facts({}, ['k1']), facts({})), [
    'the token key is k1 here and not set there (fingerprints)',
  ])
  assert.deepEqual(misfitsOf(facts({}), facts({}, ['k2'])), [
    'the token key is not set here and k2 there (fingerprints)',
  ])
  assert.deepEqual(misfitsOf(facts({}, ['k2', 'k1']), facts({}, ['k1', 'k2'])), [])
  assert.deepEqual(misfitsOf({ ...facts({}), factorKeys: ['k1'] }, { ...facts({}), factorKeys: ['k2'] }), [
    'the key of authenticator apps is k1 here and k2 there (fingerprints)',
  ])
  assert.deepEqual(misfitsOf({ ...facts({}), factorKeys: ['k1'] }, facts({})), [])
})

test('a node shows the server that it is alive by the name of its connections', () => {
  assert.equal(applicationOf('n1'), 'stowage n1')
})

/** A registry with these nodes, all of them alive. */
function registryWith(nodes: Record<string, NodeFacts>, old: readonly string[] = []) {
  const run: { readonly text: string; readonly values: readonly unknown[] }[] = []
  const queries = {
    engine: 'postgres',
    async all({ parts, values }: Sql) {
      if (!parts.join().includes('pg_stat_activity')) return [...Object.keys(nodes), ...old].map(id => ({ id }))
      return Object.entries(nodes)
        .filter(([id]) => id !== values[0])
        .map(([id, one]) => ({ id, facts: JSON.stringify(one) }))
    },
    async get(): Promise<unknown> {
      return undefined
    },
    async run({ parts, values }: Sql) {
      run.push({ text: parts.join('?'), values })
      return 1
    },
  }
  const database = { ...queries, transaction: (work: (tx: unknown) => unknown) => work(queries) }
  return { database: database as unknown as Database, run, queries }
}

test('a node that joins is recorded, and nodes that are gone are removed', async () => {
  const { database, run } = registryWith({ one: facts({ a: '1' }) }, ['dead', 'self'])
  assert.deepEqual(await liveNodes(database), [{ id: 'one', facts: facts({ a: '1' }) }])
  assert.deepEqual(await liveNodes(database, 'one'), [])
  await joinNodes(database, 'self', facts({ a: '1' }))
  assert.deepEqual(
    run.map(({ text, values }) => [text.split(' ')[0], values]),
    [
      ['DELETE', ['dead']],
      ['INSERT', ['self', JSON.stringify(facts({ a: '1' }))]],
    ],
  )
})

test('a node that does not fit is refused with all differences from all nodes, and changes nothing', async () => {
  const { database, run } = registryWith({ one: facts({ a: '1' }), two: facts({ a: '3', b: '3' }) })
  await assert.rejects(
    joinNodes(database, 'self', facts({ a: '2' })),
    new StartupError(
      'This node does not fit the nodes that use the same database:\n  node one: a is 2 here and 1 there\n' +
        '  node two: a is 2 here and 3 there\n' +
        'Give all nodes the same settings and key files, or stop the others first.',
    ),
  )
  assert.deepEqual(run, [])
})

test('a node leaves also where the database is out of reach, but no other failure is hidden', async () => {
  const { database, run } = registryWith({})
  await leaveNodes(database, 'self')
  assert.deepEqual(run[0]?.values, ['self'])
  const failing = (error: Error): Database => {
    const run = async (): Promise<never> => {
      throw error
    }
    return { run } as unknown as Database
  }
  await leaveNodes(failing(new StoreUnavailable('The database')), 'self')
  const other = new Error('other')
  await assert.rejects(leaveNodes(failing(other), 'self'), other)
})

test('tables are changed only while no node of an older version runs', async () => {
  const of = (nodes: Record<string, NodeFacts>, rows: Record<string, unknown>): Database => {
    const { database } = registryWith(nodes)
    const get = async ({ parts }: Sql): Promise<unknown> =>
      Object.entries(rows).find(([part]) => parts.join('?').includes(part))?.[1]
    return Object.assign(database, { get, run: async () => 0 })
  }
  const [store, version, table] = ["to_regclass('schema_migrations')", 'max(id)', "to_regclass('nodes')"]
  const old = { one: facts({}, [], '0.9.0') }
  const all = { [store]: { found: 'x' }, [version]: { id: 6 }, [table]: { found: 'nodes' } }
  await assert.rejects(
    requireNoOlderNodes(of(old, all), 7),
    new StartupError(
      'Node one of version 0.9.0 uses the database, and this version changes its tables. ' +
        'Stop all nodes of the older version first.',
    ),
  )
  await requireNoOlderNodes(of({}, all), 7)
  await requireNoOlderNodes(of(old, { ...all, [version]: { id: 7 } }), 7)
  await requireNoOlderNodes(of(old, { ...all, [version]: { id: 8 } }), 7)
  await requireNoOlderNodes(of(old, { ...all, [store]: { found: null } }), 7)
  await requireNoOlderNodes(of(old, { ...all, [table]: { found: null } }), 7)
  await requireNoOlderNodes(of(old, { ...all, [table]: undefined }), 7)
})

test('a clock is compared with the middle of the time that the answer took, to a whole millisecond', async () => {
  const times = [100, 201]
  assert.equal(
    await clockAhead(
      queriesWith(() => ({ now: 100 })),
      () => times.shift() ?? 0,
    ),
    51,
  )
})
