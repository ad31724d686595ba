import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schema } from '../../src/assembly/schema.ts'
import { StartupError } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import { migrate } from '../../src/stores/migrations.ts'
import {
  applicationOf,
  clockAhead,
  joinNodes,
  leaveNodes,
  liveNodes,
  misfitsOf,
  type NodeFacts,
  requireClock,
  requireNoOlderNodes,
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

test('nodes fit if their settings are the same and each knows the key that the other uses (D20.7)', () => {
  const quota = { 'service.data.quota': 'true' }
  assert.deepEqual(misfitsOf(facts(quota, ['a']), facts(quota, ['a'])), [])
  assert.deepEqual(misfitsOf(facts(quota), facts({})), ['service.data.quota is true here and not set there'])
  assert.equal(misfitsOf(facts({}, ['a']), facts({}, ['b'])).length, 1)
  assert.equal(misfitsOf(facts({}, ['b', 'a']), facts({}, ['a'])).length, 1, 'the other does not know the new key yet')
  // The key is changed one node after the other: added, used, removed.
  const steps = [['a'], ['a', 'b'], ['b', 'a'], ['b']]
  for (const [index, keys] of steps.entries()) {
    const before = steps[index - 1]
    if (before) assert.deepEqual(misfitsOf(facts({}, keys), facts({}, before)), [], String(keys))
  }
})

test('a clock that differs by more than half a minute keeps a node from starting (D20.7)', () => {
  requireClock(29_000)
  requireClock(-29_000)
  assert.throws(() => requireClock(300_000), /300\.0 s ahead of that of the database/)
  assert.throws(() => requireClock(-31_000), /31\.0 s behind/)
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

  await leaveNodes(one, 'one')
  await two.close()
  // The server ends the processes of closed connections a little later.
  await eventually('no node is left', async () => (await liveNodes(three, 'three')).length === 0)
  await joinNodes(three, 'three', facts({ 'service.data.quota': 'false' }, ['b']))
  const ahead = await clockAhead(three, () => realSystem.now() + 300_000)
  assert.ok(Math.abs(ahead - 300_000) < 30_000, String(ahead))
})
