import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Visitor } from '../support/http-client.ts'
import { idsOf, newList } from '../support/lists.ts'
import { begin, newEntries, over, unknownIds } from '../support/operations.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { type InProcess, newContext, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/waiting.ts'

/** A program with an access token of admin, at each service that has the store. */
async function newRobot(admin: Visitor): Promise<(service: InProcess) => Visitor> {
  const created = await admin.post('auth/access-tokens', { name: 'robot', expires: '2027-01-01', scopes: ['admin'] })
  assert.equal(created.status, 201, created.text)
  const { token } = created.json<{ token: string }>()
  return service => {
    const robot = service.visitor()
    const ask = robot.ask.bind(robot)
    robot.ask = (path, options) =>
      ask(path, { ...options, headers: { ...options?.headers, authorization: `Bearer ${token}` } })
    return robot
  }
}

/** A context with a list, and moves into it that take some time: some at the beginning and some at the end succeed. */
async function newMoves(admin: Visitor, failing: number) {
  const context = await newContext(admin)
  const list = await newList(admin, context)
  const ids = await newEntries(admin, context, 40)
  const entries = [...ids.slice(0, 20), ...unknownIds(failing), ...ids.slice(20)]
  return { context, list, ids, body: { action: 'move', entries, to: { context, list } } }
}

const endings = async (admin: Visitor, context: string): Promise<number> =>
  (await admin.get(`management/audit?event=operation-ended&place=${context}`)).json<{ events: unknown[] }>().events
    .length

test('an operation goes on after a restart, and does nothing twice (D51.8)', async t => {
  const folder = await temporaryFolder()
  const before = await startInProcess(t, { folder })
  const admin = await before.admin()
  const { context, list, ids, body } = await newMoves(admin, 9_000)
  const robotAt = await newRobot(admin)
  const { id } = await begin(robotAt(before), context, body)
  await until(
    () => idsOf(admin, context, list),
    ids => ids.length > 0,
  )
  await before.close()

  const again = await startInProcess(t, { folder })
  const robot = robotAt(again)
  const { state, done, failed } = await over(robot, context, id)
  assert.deepEqual({ state, done, failed }, { state: 'done', done: 40, failed: 9_000 })
  assert.deepEqual(await idsOf(robot, context, list), ids)
  assert.equal(await endings(robot, context), 1)
})

test('an operation whose session a restart has ended, ends too (D51.8)', async t => {
  const folder = await temporaryFolder()
  const settings = { 'service.auth.token.store': 'memory' }
  const before = await startInProcess(t, { folder, settings })
  const admin = await before.admin()
  const { context, list, body } = await newMoves(admin, 9_000)
  const { id } = await begin(admin, context, body)
  await until(
    () => idsOf(admin, context, list),
    ids => ids.length > 0,
  )
  await before.close()

  const again = await startInProcess(t, { folder, settings })
  const admin2 = await again.admin()
  const { state, code, done } = await over(admin2, context, id)
  assert.deepEqual({ state, code, done }, { state: 'ended', code: 'not-signed-in', done: 20 })
  assert.equal((await idsOf(admin2, context, list)).length, 20)
  assert.equal(await endings(admin2, context), 1)
})

test('an operation runs on one of two nodes, and on the other when that one stops (D51.8)', async t => {
  if (!requirePeer(t, postgres)) return
  const folder = await temporaryFolder()
  const settings = { 'service.repository.store.url': await postgresDatabase() }
  const first = await startInProcess(t, { folder, settings })
  const admin = await first.admin()
  const { context, list, ids, body } = await newMoves(admin, 1_000)
  const robotAt = await newRobot(admin)
  const { id } = await begin(robotAt(first), context, body)
  const second = await startInProcess(t, { folder, settings })
  const robot = robotAt(second)
  await until(
    () => idsOf(robot, context, list),
    ids => ids.length > 0,
  )
  await first.close()
  const third = await startInProcess(t, { folder, settings })
  const { state, done, failed } = await over(robotAt(third), context, id)
  assert.deepEqual({ state, done, failed }, { state: 'done', done: 40, failed: 1_000 })
  assert.deepEqual(await idsOf(robot, context, list), ids)
  assert.equal(await endings(robot, context), 1)
})
