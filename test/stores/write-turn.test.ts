import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { WriteTurn } from '../../src/stores/shared/write-turn.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runTasks } from '../support/thread-tasks.ts'
import { turns, until } from '../support/waiting.ts'

test('one thread has the turn at a time, and each gets it', async () => {
  const turn = new WriteTurn()
  const probe = new SharedArrayBuffer(4)
  const task = { kind: 'turn', turn: turn.shared, probe, rounds: 500 } as const
  const tickets = new Int32Array(turn.shared, 0, 1)
  let tasks: Promise<unknown> | undefined
  await turn.run(async () => {
    tasks = runTasks([task, task, task, task])
    // All four wait, also on a machine that starts one thread after the other.
    await until(
      () => Atomics.load(tickets, 0),
      count => count === 5,
    )
  })
  await tasks
  assert.equal(new Int32Array(probe)[0], 0)
  assert.ok(turn.waits.count >= 4)
})

test('those who wait get the turn in order of arrival, and a failure passes it on', async () => {
  const turn = new WriteTurn()
  const order: number[] = []
  const runs = [0, 1, 2, 3].map(index =>
    turn.run(async () => {
      order.push(index)
      if (index === 1) throw new Error('failed')
    }),
  )
  const results = await Promise.allSettled(runs)
  assert.deepEqual(order, [0, 1, 2, 3])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

test('a thread that waits for commits sleeps until the last of them', async () => {
  const { turn, task, asleep } = waitingThread(3)
  await asleep()
  turn.committed()
  turn.committed()
  await asleep()
  turn.committed()
  assert.deepEqual(await task, [3])
})

test('a thread that waits for commits goes on when its wait has ended', async () => {
  const { turn, end, task, asleep } = waitingThread(1000)
  await asleep()
  Atomics.store(end, 0, 1)
  turn.wake()
  const [commits] = await task
  assert.ok(commits !== undefined && commits < 1000)
})

test('who waits until the log is copied goes on when it is, and when no thread copies it', async () => {
  const turn = new WriteTurn()
  turn.committed()
  turn.copied(0, 9000)
  assert.equal(turn.logPages, 9000)
  let isCopied = false
  const copying = turn.copyAll().then(() => (isCopied = true))
  await turns()
  assert.equal(isCopied, false)
  turn.copied(1, 9001)
  await copying
  assert.equal(turn.logPages, 0)
  turn.committed()
  await turn.copyAll(100)
})

/** A thread that waits for so many commits. */
function waitingThread(awaited: number) {
  const turn = new WriteTurn()
  const end = new SharedArrayBuffer(4)
  const task = runTasks<number>([{ kind: 'await commits', turn: turn.shared, awaited, end }])
  const commits = new Int32Array(turn.shared, 4, 1)
  /** Who is woken before the time sleeps again. */
  const asleep = (): Promise<unknown> =>
    until(
      () => Atomics.notify(commits, 0),
      count => count === 1,
    )
  return { turn, end: new Int32Array(end), task, asleep }
}

test('what one connection has committed changes the revision of the other in the same turn of the event loop', async t => {
  const file = join(await temporaryFolder(), 'store.sqlite')
  const turn = new WriteTurn()
  const one = await openSqliteDatabase(file, { turn })
  const two = await openSqliteDatabase(file, { turn: new WriteTurn(turn.shared) })
  t.after(async () => {
    await two.close()
    await one.close()
  })
  await one.run(sql`CREATE TABLE numbers (number INTEGER)`)
  const before = two.revision
  let during: number | undefined
  await one.transaction(async tx => {
    await tx.run(sql`INSERT INTO numbers VALUES (1)`)
    during = two.revision
  })
  const after = two.revision
  assert.equal(during, before)
  assert.notEqual(after, before)
  assert.equal((await two.get<{ number: number }>(sql`SELECT number FROM numbers`))?.number, 1)
})

test('transactions of two connections take turns instead of failing on the lock of the engine', async t => {
  const file = join(await temporaryFolder(), 'store.sqlite')
  const turn = new WriteTurn()
  const open = () => openSqliteDatabase(file, { turn: new WriteTurn(turn.shared) })
  const databases = [await open(), await open(), await open()] as const
  t.after(async () => {
    for (const database of databases) await database.close()
  })
  await databases[0].run(sql`CREATE TABLE counter (value INTEGER)`)
  await databases[0].run(sql`INSERT INTO counter VALUES (0)`)
  await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      (databases[index % 3] ?? databases[0]).transaction(async tx => {
        const row = await tx.get<{ value: number }>(sql`SELECT value FROM counter`)
        // Without the turn, the engine would block the whole process here: the holder of its lock could never go on.
        await new Promise(resolve => setImmediate(resolve))
        await tx.run(sql`UPDATE counter SET value = ${(row?.value ?? 0) + 1}`)
      }),
    ),
  )
  assert.equal((await databases[1].get<{ value: number }>(sql`SELECT value FROM counter`))?.value, 300)
})
