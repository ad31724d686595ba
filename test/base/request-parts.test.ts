import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginPart, currentRequest, inRequest, type Part, RequestParts, timed } from '../../src/base/request-parts.ts'
import { realSystem } from '../../src/base/system.ts'

/** Lets the clock go on. */
async function workFor(milliseconds: number): Promise<void> {
  const until = realSystem.monotonic() + milliseconds
  while (realSystem.monotonic() < until) await Promise.resolve()
}

/** The parts that took any time, and that all of them together took no longer than the work. */
async function partsOf(work: () => unknown, parts = new RequestParts()): Promise<Part[]> {
  const begun = realSystem.monotonic()
  await inRequest(parts, async () => await work())
  const all = realSystem.monotonic() - begun
  const spent = Object.entries(parts.spent) as Array<[Part, number]>
  assert.ok(spent.reduce((sum, [, time]) => sum + time, 0) <= all)
  return spent.filter(([, time]) => time > 0).map(([part]) => part)
}

test('work counts for its part until its promise has settled, also if it fails', async () => {
  assert.deepEqual(await partsOf(() => workFor(1)), [])
  assert.deepEqual(await partsOf(() => timed('database', 'read', () => workFor(1))), ['database'])
  const failing = async (): Promise<void> => {
    await workFor(1)
    throw new Error('no')
  }
  const parts = new RequestParts()
  const found = await partsOf(async () => {
    await assert.rejects(timed('files', 'read', failing))
    await workFor(1)
  }, parts)
  assert.deepEqual(found, ['files'])
  assert.throws(() => inRequest(parts, () => timed('files', 'read', () => assert.fail('no'))))
  const { files } = { ...parts.spent }
  await workFor(1)
  assert.equal(parts.spent.files, files)
})

test('of parts within parts and of parts at once, only the one that began last counts', async () => {
  const parts = new RequestParts()
  await partsOf(async () => {
    await timed('files', 'write', async () => await timed('client', 'body', () => workFor(5)))
    await Promise.all([timed('database', 'read', () => workFor(3)), timed('waiting', 'turn', () => workFor(3))])
  }, parts)
  const { files, client, database, waiting } = parts.spent
  assert.ok(client > files)
  assert.ok(waiting > database)
})

test('a part that ends in a callback counts for the request that began it', async () => {
  const [first, second] = [new RequestParts(), new RequestParts()]
  const end = inRequest(first, () => beginPart('waiting', 'turn'))
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
  beginPart('files', 'read')()
})

test('an observer is told of the begin and the end of each part, and of the error', async () => {
  const seen: unknown[] = []
  const parts = new RequestParts((part, what) => {
    seen.push([part, what])
    return error => seen.push([`end of ${what}`, error instanceof Error])
  })
  await inRequest(parts, async () => {
    await timed('database', 'read', () => workFor(1))
    await timed('files', 'write', async () => assert.fail('no')).catch(() => {})
    beginPart('client', 'response')
  })
  parts.end()
  parts.end()
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
  const parts = new RequestParts()
  parts.add({ waiting: 0, database: 5, files: 0, serialising: 2, client: 0 })
  parts.add({ waiting: 0, database: 5, files: 0, serialising: 0, client: 0 })
  assert.deepEqual(parts.spent, { waiting: 0, database: 10, files: 0, serialising: 2, client: 0 })
})
