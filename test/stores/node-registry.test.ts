import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import type { Log } from '../../src/base/log.ts'
import { realSystem } from '../../src/base/system.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import {
  applicationOf,
  clockAhead,
  joinNodes,
  keepRegistered,
  leaveNodes,
  liveNodes,
  misfitsOf,
  type NodeFacts,
  requireClock,
  requireNoOlderNodes,
  watchClock,
} from '../../src/stores/postgres/node-registry.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { eventually } from '../support/waiting.ts'

const facts = (settings: Record<string, string>, keys: string[] = []): NodeFacts => ({
  version: '1.0.0',
  settings,
  keys,
})

const reasonsOf = (own: NodeFacts, other: NodeFacts): string[] => misfitsOf(own, other).map(({ text }) => text)

test('nodes fit if their settings are the same and each knows the key that the other uses (D20.7)', () => {
  const quota = { 'service.data.quota': 'true' }
  assert.deepEqual(reasonsOf(facts(quota, ['a']), facts(quota, ['a'])), [])
  const other = { 'service.data.quota': 'not set' }
  assert.deepEqual(reasonsOf(facts(quota), facts(other)), ['service.data.quota is true here and not set there'])
  assert.equal(reasonsOf(facts({}, ['b', 'a']), facts({}, ['a'])).length, 1, 'the other does not know the new key yet')
  // The key is changed one node after the other: added, used, removed.
  const steps = [['a'], ['a', 'b'], ['b', 'a'], ['b']]
  for (const [index, keys] of steps.entries()) {
    const before = steps[index - 1]
    if (before) assert.deepEqual(reasonsOf(facts({}, keys), facts({}, before)), [], String(keys))
  }
})

test('each difference between two nodes is named with both values, the own one first', () => {
  assert.deepEqual(reasonsOf(facts({ a: '1', b: '2', same: 'x' }), facts({ a: '4', b: '3', same: 'x' })), [
    'a is 1 here and 4 there',
    'b is 2 here and 3 there',
  ])
  assert.deepEqual(reasonsOf(facts({ a: '1' }), facts({ b: '3' })), [], 'only one of two versions compares them')
  assert.deepEqual(reasonsOf(facts({}, ['k1']), facts({}, ['k2'])), [
    'the token key is k1 here and k2 there (fingerprints)',
  ])
  assert.deepEqual(reasonsOf(facts({}, ['k1']), facts({})), [
    'the token key is k1 here and not set there (fingerprints)',
  ])
  assert.deepEqual(reasonsOf(facts({}), facts({}, ['k2'])), [
    'the token key is not set here and k2 there (fingerprints)',
  ])
  assert.deepEqual(reasonsOf(facts({}, ['k2', 'k1']), facts({}, ['k1', 'k2'])), [])
  assert.deepEqual(reasonsOf({ ...facts({}), factorKeys: ['k1'] }, { ...facts({}), factorKeys: ['k2'] }), [
    'the key of authenticator apps is k1 here and k2 there (fingerprints)',
  ])
  assert.deepEqual(reasonsOf({ ...facts({}), factorKeys: ['k1'] }, facts({})), [])
})

test('a clock that differs by more than half a minute keeps a node from starting (D20.7)', () => {
  requireClock(30_000)
  requireClock(-30_000)
  const message = (side: string): string => `The clock of this machine is ${side} that of the database. Set it right.`
  assert.throws(() => requireClock(30_001), new StartupError(message('30.0 s ahead of')))
  assert.throws(() => requireClock(300_000), new StartupError(message('300.0 s ahead of')))
  assert.throws(() => requireClock(-31_000), new StartupError(message('31.0 s behind')))
})

test('a clock is compared with the middle of the time that the answer took, and a running node logs what is wrong', async () => {
  const answering = (now: number) => ({ get: async () => ({ now }) }) as unknown as Queries
  const clock = (...times: number[]) => {
    const left = [...times]
    return () => left.shift() ?? assert.fail('the clock is read twice')
  }
  assert.equal(await clockAhead(answering(1000), clock(900, 1101)), 1)
  assert.equal(await clockAhead(answering(2000), clock(900, 1100)), -1000)
  const logged: unknown[] = []
  const log = { error: (...line: unknown[]) => void logged.push(line) } as unknown as Log
  await watchClock(answering(0), clock(30_000, 30_000), log)
  await watchClock(answering(60_000), clock(30_000, 30_000), log)
  assert.deepEqual(logged, [])
  await watchClock(answering(0), clock(30_001, 30_001), log)
  assert.deepEqual(logged, [[{ ahead: 30_001 }, 'the clock of this machine is 30.0 s ahead of that of the database']])
})

test('a node leaves also where the database is out of reach, but no other failure is hidden', async () => {
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

test('a node whose settings differ from the running ones is refused with the reason; stopped nodes do not count (D20.7)', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const open = async (id: string) => {
    const database = await openPostgresDatabase(url, { system: realSystem, application: applicationOf(id) })
    t.after(() => database.close())
    return database
  }
  const [one, two] = [await open('one'), await open('two')]
  await migrate(one, schema)
  await joinNodes(one, 'one', facts({ 'service.data.quota': 'true' }, ['a']))
  await joinNodes(two, 'two', facts({ 'service.data.quota': 'true' }, ['a']))
  assert.deepEqual(
    (await liveNodes(one, 'one')).map(({ id }) => id),
    ['two'],
  )

  const three = await open('three')
  const joining = joinNodes(three, 'three', facts({ 'service.data.quota': 'false' }, ['b']))
  await assert.rejects(joining, (error: Error) => {
    assert.ok(error instanceof StartupError)
    assert.match(error.message, /node one: service\.data\.quota is false here and true there/)
    assert.match(error.message, /node two: the token key is b here and a there/)
    return true
  })
  await requireNoOlderNodes(three, schema.at(-1)?.id ?? 0)
  await assert.rejects(requireNoOlderNodes(three, 1_000_000), /Stop all nodes of the older version first/)

  // The row of a node that runs is deleted while the database is away.
  await one.run(sql`DELETE FROM nodes WHERE id = 'two'`)
  await keepRegistered(two, 'two', facts({ 'service.data.quota': 'true' }, ['a']))
  assert.deepEqual(
    (await liveNodes(one, 'one')).map(({ id }) => id),
    ['two'],
  )

  await leaveNodes(one, 'one')
  await two.close()
  // The server ends the processes of closed connections a little later.
  await eventually('no node is left', async () => (await liveNodes(three, 'three')).length === 0)
  await joinNodes(three, 'three', facts({ 'service.data.quota': 'false' }, ['b']))
  const ahead = await clockAhead(three, () => realSystem.now() + 300_000)
  assert.ok(Math.abs(ahead - 300_000) < 30_000, String(ahead))
})
