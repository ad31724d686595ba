import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import {
  attempts,
  BackupRuns,
  forgetGone,
  knownProblems,
  rememberDamage,
  RUN_TTL,
} from '../../src/features/backups/backup-runs.ts'
import { BackupSchedule } from '../../src/features/backups/backup-schedule.ts'
import { createLog } from '../../src/base/log.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'

const HOUR = 3_600_000

async function openNodes(t: { after(work: () => Promise<void>): void }) {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  const system = new FakeSystem()
  const runs = new BackupRuns(database, system, '/backup')
  const made: string[] = []
  const problems: string[] = []
  const proven: string[] = []
  const node = (name: string, make: BackupScheduleMake = async () => good, of = runs, prove?: Prove) => {
    const schedule = new BackupSchedule('0 * * * *', {
      runs: of,
      system,
      log: createLog('silent'),
      make: async (started, signal) => {
        made.push(name)
        return await make(started, signal)
      },
      prove:
        prove &&
        (async (backup, stop) => {
          proven.push(name)
          return await prove(backup, stop)
        }),
      onProblem: problem => void problems.push(problem),
    })
    t.after(() => schedule.close())
    return schedule
  }
  return { database, system, runs, made, proven, problems, node }
}

type Prove = NonNullable<ConstructorParameters<typeof BackupSchedule>[1]['prove']>
type BackupScheduleMake = ConstructorParameters<typeof BackupSchedule>[1]['make']
const none = { ended: undefined, made: undefined, checked: undefined, proven: undefined }
const good = { files: 2, bytes: 20, problem: null, gone: null }

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
  const { database, system, runs, made, node } = await openNodes(t)
  const one = node('one')
  system.pass(10_000 * HOUR)
  const future = system.now()
  await one.run()
  system.pass(-10_000 * HOUR)
  await one.run()
  await one.run()
  assert.equal(made.length, 2)
  assert.equal((await runs.report()).made?.started, system.now())
  system.pass(HOUR)
  await one.run()
  assert.equal(made.length, 3)
  assert.ok((await attempts(database)).includes(future), 'its backup is still one of this store')
  system.pass(HOUR)
  assert.ok((await runs.claim(() => true)) !== undefined)
  system.pass(1)
  assert.equal(await runs.claim(() => true), undefined, 'another node makes one')
})

test('what is known of backups outlives a wrong clock, whether it was behind or far ahead (D20.25)', async t => {
  const { database, system, runs, node } = await openNodes(t)
  const one = node('one', made, runs, async () => ({ ...found, problem: 'a file is damaged', isWhole: false }))
  await one.run()
  const first = (await runs.report()).made
  await rememberDamage(database, '/backup', { times: [first?.started ?? 0], now: system.now() })
  for (const hours of [-100, 100_000]) {
    system.pass(hours * HOUR)
    await one.run()
    system.pass(HOUR)
    await one.run()
    system.pass((-hours - 1) * HOUR)
    assert.deepEqual((await runs.report()).made?.started, first?.started)
    assert.deepEqual(
      (await runs.latest(5)).map(({ started }) => started).filter(started => started > system.now()),
      [],
    )
    const problems = await knownProblems(database, '/backup')
    assert.deepEqual(problems.get(new Date(first?.started ?? 0).toISOString()), {
      proof: 'a file is damaged',
      isDamaged: true,
    })
  }
  assert.equal((await attempts(database)).length, 5)
})

test('attempts of long ago are forgotten when there are many later ones', async t => {
  const { database, system, runs } = await openNodes(t)
  const start = system.now()
  await database.run(sql`WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10_001)
    INSERT INTO backup_runs (started, renewed, finished, place) SELECT ${start} + n, ${start}, ${start}, '/backup' FROM numbers`)
  system.pass(401 * 24 * HOUR)
  const last = await runs.claim(() => true)
  const kept = await attempts(database)
  assert.deepEqual([Math.min(...kept), Math.max(...kept), kept.length], [start + 2, last, 10_001])
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
  const { database, system, made, problems, runs, node } = await openNodes(t)
  const stopping = node(
    'stopping',
    (_started, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  )
  const running = stopping.run()
  while (made.length === 0) await new Promise(setImmediate)
  await stopping.close()
  await running
  assert.deepEqual([problems, await runs.report()], [[], none])
  system.pass(1)
  await node('next').run()
  assert.deepEqual(made, ['stopping', 'next'])
  const report = await runs.report()
  assert.deepEqual(await attempts(database), [report.made?.started ?? 0, (report.made?.started ?? 0) - 1].reverse())
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

test('a start tries again what failed before it, and no more than once', async t => {
  const { system, made, problems, node } = await openNodes(t)
  const failing: BackupScheduleMake = async () => {
    throw new Error('there is no folder')
  }
  const first = node('first', failing)
  await first.run()
  system.pass(1)
  await first.run()
  assert.deepEqual(made, ['first'])
  const second = node('second', failing)
  await second.run()
  system.pass(1)
  await second.run()
  await node('third').run()
  system.pass(1)
  await node('fourth').run()
  assert.deepEqual(made, ['first', 'second', 'third'])
  assert.equal(problems.length, 2)
})

test('in another place the first backup is made at once, and those in the former place do not count', async t => {
  const { database, system, runs, made, node } = await openNodes(t)
  await node('here').run()
  const elsewhere = new BackupRuns(database, system, 's3://bucket/kept')
  assert.deepEqual(await elsewhere.report(), none)
  system.pass(1)
  await node('there', async () => ({ ...good, bytes: 30 }), elsewhere).run()
  assert.deepEqual(made, ['here', 'there'])
  assert.deepEqual([(await runs.report()).made?.bytes, (await elsewhere.report()).made?.bytes], [20, 30])
})

const found = { problem: null, isWhole: true, note: null, restored: 5, newest: 7 }
const made = async () => good

test('each backup is proven once by one node, the newest again after a day, and a failure is told and tried again by a start', async t => {
  const { system, runs, proven, problems, node } = await openNodes(t)
  let problem: string | null = null
  const nodes = ['one', 'two'].map(name =>
    node(name, made, runs, async () => ({ ...found, problem, isWhole: problem === null })),
  )
  const all = () => Promise.all(nodes.map(one => one.run()))
  await all()
  await all()
  assert.equal(proven.length, 1)
  const first = await runs.report()
  assert.deepEqual([first.proven?.restored_in, first.proven?.newest_change, first.proven?.proven], [5, 7, system.now()])
  system.pass(HOUR)
  problem = 'a file is damaged'
  await all()
  await all()
  assert.deepEqual([proven.length, problems], [2, ['a file is damaged']])
  const second = await runs.report()
  assert.equal(second.checked?.proof_problem, 'a file is damaged')
  assert.deepEqual(second.proven, first.proven, 'the last good one is still known')
  await node('start', made, runs, async () => found).run()
  assert.deepEqual(proven.slice(2), ['start'])
  assert.equal((await runs.report()).checked?.proof_problem, null)
})

test('a proof that finds something wrong with other backups only proves its own (D20.23)', async t => {
  const { database, system, runs, problems, node } = await openNodes(t)
  const of = async () => [...(await knownProblems(database, '/backup')).values()]
  await node('one', made, runs, async () => ({ ...found, problem: 'an older manifest was changed' })).run()
  assert.deepEqual(problems, ['an older manifest was changed'])
  assert.deepEqual(await of(), [])
  assert.ok((await runs.report()).proven)
  system.pass(1)
  await node('start', made, runs, async () => ({ ...found, problem: 'a file is damaged', isWhole: false })).run()
  assert.deepEqual(await of(), [{ proof: 'a file is damaged', isDamaged: false }])
})

test('a proof that could not be made is an alarm, but says nothing about its backup, and forgets no damage (D20.23)', async t => {
  const { database, system, runs, problems, node } = await openNodes(t)
  const proofs = async () => [...(await knownProblems(database, '/backup')).values()].map(({ proof }) => proof)
  const unmounted: Prove = async () => {
    throw new Error('There is no folder /backup.')
  }
  await node('one', made, runs, unmounted).run()
  const problem = 'The newest backup could not be proven: There is no folder /backup.'
  assert.deepEqual([problems, (await runs.report()).checked?.proof_problem], [[problem], problem])
  assert.deepEqual(await proofs(), [])
  const damaged: Prove = async () => ({ ...found, problem: 'a file is damaged', isWhole: false })
  for (const [prove, known] of [
    [damaged, ['a file is damaged']],
    [unmounted, ['a file is damaged']],
    [async () => found, []],
  ] as const) {
    system.pass(1)
    await node('start', made, runs, prove).run()
    assert.deepEqual(await proofs(), known)
  }
})

test('damage that a later backup found in earlier ones is remembered, whatever their proofs said (D20.25)', async t => {
  const { database, system, runs, node } = await openNodes(t)
  await node('one', made, runs, async () => found).run()
  const { started = 0 } = (await runs.report()).made ?? {}
  await rememberDamage(database, '/elsewhere', { times: [started], now: system.now() })
  assert.equal((await knownProblems(database, '/backup')).size, 0)
  await rememberDamage(database, '/backup', { times: [started, started - 1], now: system.now() })
  system.pass(24 * HOUR)
  await node('two', made, runs, async () => found).run()
  const problems = [...(await knownProblems(database, '/backup'))]
  assert.deepEqual(problems, [[new Date(started).toISOString(), { proof: undefined, isDamaged: true }]])
})

test('a backup into a place that lacked the one before is made again by a start, until that one is back or forgotten (D20.25)', async t => {
  const { database, system, runs, made: attempted, node } = await openNodes(t)
  let gone: number | null = null
  const make: BackupScheduleMake = async () => ({ ...good, gone })
  await node('good', make).run()
  const first = (await runs.report()).made?.started ?? 0
  gone = first
  system.pass(HOUR)
  await node('other', make).run()
  assert.equal((await runs.report()).made?.gone, first)
  for (const name of ['start', 'next start']) {
    system.pass(1)
    await node(name, make).run()
  }
  assert.deepEqual(attempted, ['good', 'other', 'start', 'next start'])
  assert.equal(await forgetGone(database, '/elsewhere', system.now()), undefined)
  assert.equal(await forgetGone(database, '/backup', system.now()), first)
  assert.equal(await forgetGone(database, '/backup', system.now()), undefined)
  system.pass(1)
  await node('last start', make).run()
  assert.equal(attempted.length, 4)
})

test('without a newer backup the newest one is proven again after a day', async t => {
  const { system, proven, node } = await openNodes(t)
  let attempts = 0
  const once: BackupScheduleMake = async () => {
    if (attempts++ > 0) throw new Error('the target is full')
    return good
  }
  const one = node('one', once, undefined, async () => found)
  for (let hour = 0; hour < 24; hour++) {
    await one.run()
    system.pass(HOUR)
  }
  assert.equal(proven.length, 1)
  await one.run()
  assert.equal(proven.length, 2)
})

test('no backup begins while another node proves one, unless that has died; a proof that a stop interrupts is made again', async t => {
  const { system, runs, made: backups, proven, node } = await openNodes(t)
  const stopping = node('stopping', made, runs, (_backup, signal) => {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  const running = stopping.run()
  while (proven.length === 0) await new Promise(setImmediate)
  system.pass(HOUR)
  await runs.renewProof((await runs.report()).made?.started ?? 0)
  await node('other').run()
  assert.deepEqual(backups, ['stopping'])
  await stopping.close()
  await running
  await node('next', made, runs, async () => found).run()
  assert.deepEqual(
    [backups, proven],
    [
      ['stopping', 'next'],
      ['stopping', 'next'],
    ],
  )

  system.pass(24 * HOUR)
  assert.ok(await runs.claimProof(false))
  await node('third').run()
  system.pass(RUN_TTL + 1)
  await node('fourth').run()
  assert.deepEqual(backups, ['stopping', 'next', 'fourth'])
})
