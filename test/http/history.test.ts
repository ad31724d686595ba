import assert from 'node:assert/strict'
import { test } from 'node:test'
import { History, INTERVAL } from '../../src/features/monitoring/history.ts'
import { FakeSystem } from '../support/fake-system.ts'

function startHistory() {
  const system = new FakeSystem()
  const totals = { requests: 0, failures: 0, signIns: 0, refusedSignIns: 0 }
  const usage = { total: 0, contexts: [{ context: '1', used: 0 }], filled: [] }
  const history = new History({
    system,
    metrics: { totals: async () => ({ ...totals }) },
    storageUsage: { measure: async () => usage },
  })
  return { system, totals, usage, history }
}

test('each interval holds what happened in it, the last one what has happened so far', async () => {
  const { system, totals, usage, history } = startHistory()
  totals.requests = 10
  totals.refusedSignIns = 1
  system.pass(INTERVAL - 1)
  await history.sample()
  assert.equal((await history.report()).points.length, 1, 'the interval is not over yet')
  system.pass(1)
  await history.sample()
  totals.requests = 13
  totals.failures = 2
  totals.signIns = 1
  usage.total = 500
  usage.contexts = [
    { context: '2', used: 400 },
    { context: '1', used: 100 },
  ]
  const { points, contexts } = await history.report()
  const counts = points.map(({ requests, failures, signIns, refusedSignIns }) => [
    requests,
    failures,
    signIns,
    refusedSignIns,
  ])
  assert.deepEqual(counts, [
    [10, 0, 0, 1],
    [3, 2, 1, 0],
  ])
  assert.deepEqual(
    points.map(({ storedBytes }) => storedBytes),
    [0, 500],
  )
  assert.deepEqual(contexts, [
    { context: '2', bytes: [null, 400] },
    { context: '1', bytes: [0, 100] },
  ])
})

test('a day is kept, and no more', async () => {
  const { system, totals, history } = startHistory()
  for (let count = 1; count <= 300; count++) {
    totals.requests += count
    system.pass(INTERVAL)
    await history.sample()
  }
  const { points } = await history.report()
  assert.equal(points.length, 289, '24 hours, and the interval in progress')
  assert.equal(points[0]?.requests, 13)
})
