import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import { BackupRuns, RUN_TTL } from '../../src/backup/backup-runs.ts'
import { BackupSchedule } from '../../src/backup/backup-schedule.ts'
import { createLog } from '../../src/base/log.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'

const HOUR = 3_600_000

async function openNodes(t: { after(work: () => Promise<void>): void }) {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  const system = new FakeSystem()
  const runs = new BackupRuns(database, system)
  const made: string[] = []
  const problems: string[] = []
  const node = (name: string, make: BackupScheduleMake = async () => good) => {
    const schedule = new BackupSchedule('0 * * * *', {
      runs,
      system,
      log: createLog('silent'),
      make: async (started, signal) => {
        made.push(name)
        return await make(started, signal)
      },
      onProblem: problem => void problems.push(problem),
    })
    t.after(() => schedule.close())
    return schedule
  }
  return { system, runs, made, problems, node }
}

type BackupScheduleMake = ConstructorParameters<typeof BackupSchedule>[1]['make']
const good = { files: 2, bytes: 20, problem: null }

test('the first backup is made at once, the next at the next time, and of several nodes only one makes it', async t => {
  const { system, runs, made, node } = await openNodes(t)
  const nodes = [node('one'), node('two'), node('three')]
  const all = () => Promise.all(nodes.map(one => one.run()))
  await all()
  assert.equal(made.length, 1)
  await all()
  assert.equal(made.length, 1, 'not again before the time')
  system.pass(HOUR)
  await all()
  assert.equal(made.length, 2)
  assert.equal((await runs.report()).made?.bytes, 20)
  // Many missed ones are one backup.
  system.pass(30 * HOUR)
  await all()
  await all()
  assert.equal(made.length, 3)
})

test('an attempt that a wrong clock dated into the future does not stop the next ones', async t => {
  const { system, runs, made, node } = await openNodes(t)
  const one = node('one')
  system.pass(10_000 * HOUR)
  await one.run()
  system.pass(-10_000 * HOUR)
  await one.run()
  await one.run()
  assert.equal(made.length, 2)
  assert.equal((await runs.report()).made?.started, system.now())
  system.pass(HOUR)
  await one.run()
  assert.equal(made.length, 3)
})

test('what fails is reported with its reason, and the last good backup is still known', async t => {
  const { system, runs, problems, node } = await openNodes(t)
  await node('good').run()
  const first = await runs.report()
  system.pass(HOUR)
  await node('bad', async () => {
    throw new Error('the target is full')
  }).run()
  assert.deepEqual(problems, ['the target is full'])
  const { ended, made } = await runs.report()
  assert.equal(ended?.problem, 'the target is full')
  assert.equal(ended?.bytes, null)
  assert.deepEqual(made, first.made)
})

test('a backup that the end of the service interrupts is made by the next start, and is no failure', async t => {
  const { made, problems, runs, node } = await openNodes(t)
  const stopping = node(
    'stopping',
    (_started, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  )
  const running = stopping.run()
  while (made.length === 0) await new Promise(setImmediate)
  await stopping.close()
  await running
  assert.deepEqual([problems, await runs.report()], [[], { ended: undefined, made: undefined }])
  await node('next').run()
  assert.deepEqual(made, ['stopping', 'next'])
})

test('the backup of a node that has died is made by another one, but not before that is certain', async t => {
  const { system, runs, made, node } = await openNodes(t)
  assert.ok((await runs.claim(() => true)) !== undefined)
  system.pass(RUN_TTL)
  await node('other').run()
  assert.deepEqual(made, [])
  system.pass(1)
  await node('other').run()
  assert.deepEqual(made, ['other'])
})
