import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  beginPhase,
  currentRequest,
  inRequest,
  type Phase,
  RequestTimings,
  timed,
} from '../../src/base/request-timings.ts'
import { realSystem } from '../../src/base/system.ts'

/** Lets the clock go on. */
async function workFor(milliseconds: number): Promise<void> {
  const until = realSystem.monotonic() + milliseconds
  while (realSystem.monotonic() < until) await Promise.resolve()
}

/** The phases that took any time, and that all of them together took no longer than the work. */
async function phasesOf(work: () => unknown, timings = new RequestTimings()): Promise<Phase[]> {
  const begun = realSystem.monotonic()
  await inRequest(timings, async () => await work())
  const all = realSystem.monotonic() - begun
  const spent = Object.entries(timings.spent) as Array<[Phase, number]>
  assert.ok(spent.reduce((sum, [, time]) => sum + time, 0) <= all)
  return spent.filter(([, time]) => time > 0).map(([phase]) => phase)
}

test('work counts for its phase until its promise has settled, also if it fails', async () => {
  assert.deepEqual(await phasesOf(() => workFor(1)), [])
  assert.deepEqual(await phasesOf(() => timed('database', 'read', () => workFor(1))), ['database'])
  const failing = async (): Promise<void> => {
    await workFor(1)
    throw new Error('no')
  }
  const timings = new RequestTimings()
  const found = await phasesOf(async () => {
    await assert.rejects(timed('files', 'read', failing))
    await workFor(1)
  }, timings)
  assert.deepEqual(found, ['files'])
  assert.throws(() => inRequest(timings, () => timed('files', 'read', () => assert.fail('no'))))
  const { files } = { ...timings.spent }
  await workFor(1)
  assert.equal(timings.spent.files, files)
})

test('of phases within phases and of phases at once, only the one that began last counts', async () => {
  const timings = new RequestTimings()
  await phasesOf(async () => {
    await timed('files', 'write', async () => await timed('client', 'body', () => workFor(5)))
    await Promise.all([timed('database', 'read', () => workFor(3)), timed('waiting', 'turn', () => workFor(3))])
  }, timings)
  const { files, client, database, waiting } = timings.spent
  assert.ok(client > files)
  assert.ok(waiting > database)
})

test('a phase that ends in a callback counts for the request that began it', async () => {
  const [first, second] = [new RequestTimings(), new RequestTimings()]
  const end = inRequest(first, () => beginPhase('waiting', 'turn'))
  await inRequest(second, async () => {
    await workFor(1)
    end()
    end()
    assert.equal(currentRequest(), second)
  })
  assert.ok(first.spent.waiting > 0)
  assert.equal(second.spent.waiting, 0)
  assert.equal(currentRequest(), undefined)
  assert.equal(
    timed('files', 'read', () => 7),
    7,
  )
  beginPhase('files', 'read')()
})

test('an observer is told of the begin and the end of each phase, and of the error', async () => {
  const seen: unknown[] = []
  const timings = new RequestTimings((phase, what) => {
    seen.push([phase, what])
    return error => seen.push([`end of ${what}`, error instanceof Error])
  })
  await inRequest(timings, async () => {
    await timed('database', 'read', () => workFor(1))
    await timed('files', 'write', async () => assert.fail('no')).catch(() => {})
    beginPhase('client', 'response')
  })
  timings.end()
  timings.end()
  assert.deepEqual(seen, [
    ['database', 'read'],
    ['end of read', false],
    ['files', 'write'],
    ['end of write', true],
    ['client', 'response'],
    ['end of response', false],
  ])
})

test('what another thread has spent is added', () => {
  const timings = new RequestTimings()
  timings.add({ waiting: 0, database: 5, files: 0, serialising: 2, client: 0 })
  timings.add({ waiting: 0, database: 5, files: 0, serialising: 0, client: 0 })
  assert.deepEqual(timings.spent, { waiting: 0, database: 10, files: 0, serialising: 2, client: 0 })
})
