import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { array, assert as assertProperty, asyncProperty, integer } from 'fast-check'
import { Digests, MAX_AHEAD } from '../../src/stores/digests.ts'
import { after } from '../support/after.ts'
import { eventually } from '../support/waiting.ts'

const LARGE = 2 ** 18
const sha256 = (pieces: readonly Uint8Array[]): string =>
  createHash('sha256').update(Buffer.concat(pieces)).digest('hex')

const digests = new Digests()
after(() => digests.close())

test('digests of small and large files that come in pieces at the same time are those of all their bytes', async () => {
  const file = array(integer({ min: 0, max: 100_000 }), { maxLength: 8 })
  await assertProperty(
    asyncProperty(array(file, { minLength: 1, maxLength: 4 }), async files => {
      await Promise.all(
        files.map(async lengths => {
          const pieces = lengths.map(length => new Uint8Array(randomBytes(length)))
          const expected = sha256(pieces)
          const digest = digests.begin(lengths.length % 2 === 0 ? LARGE : 0)
          for (const piece of pieces) await digest.update([piece])
          assert.equal(await digest.end(), expected)
        }),
      )
    }),
    { numRuns: 20 },
  )
})

test('memory that a piece shares with others stays where it is', async () => {
  const memory = randomBytes(3 * LARGE)
  const whole = Buffer.from(memory)
  const digest = digests.begin(LARGE)
  await digest.update([memory.subarray(0, LARGE), memory.subarray(LARGE)])
  assert.ok(memory.equals(whole))
  assert.equal(await digest.end(), sha256([whole]))
})

test('the memory of a large piece is moved, not copied', async () => {
  const piece = new Uint8Array(LARGE)
  const digest = digests.begin(LARGE)
  await digest.update([piece])
  assert.equal(piece.byteLength, 0)
  assert.equal(await digest.end(), sha256([new Uint8Array(LARGE)]))
})

test('who is far ahead of the thread waits for it', async () => {
  const digest = digests.begin(LARGE)
  await Promise.all(Array.from({ length: 40 }, () => digest.update([new Uint8Array(4 * LARGE)])))
  assert.ok(digests.ahead <= MAX_AHEAD)
  assert.equal(await digest.end(), sha256([new Uint8Array(160 * LARGE)]))
})

test('a dropped digest does not disturb the others', async () => {
  const [dropped, kept] = [digests.begin(LARGE), digests.begin(LARGE)]
  await dropped.update([new Uint8Array(10)])
  await kept.update([new Uint8Array(20)])
  dropped.drop()
  dropped.drop()
  assert.equal(await kept.end(), sha256([new Uint8Array(20)]))
})

test('what is open when the thread is closed rejects, and the next digest gets a new thread', async () => {
  const own = new Digests()
  const [ending, updating] = [own.begin(LARGE), own.begin(LARGE)]
  const rejected = assert.rejects(ending.end(), /closed/)
  await own.close()
  await rejected
  await assert.rejects(updating.update([new Uint8Array(1)]), /closed/)
  updating.drop()
  const next = own.begin(LARGE)
  await next.update([new Uint8Array(5)])
  assert.equal(await next.end(), sha256([new Uint8Array(5)]))
  await own.close()
})

test('a digest that is dropped after its end does not end the thread under a later one', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const replies = t.mock.method(Worker.prototype, 'emit')
  const own = new Digests()
  t.after(() => own.close())
  const dropped = own.begin(LARGE)
  void dropped.end()
  dropped.drop()
  await eventually('the reply to it', () =>
    replies.mock.calls.some(({ arguments: [event] }) => (event as string) === 'message'),
  )
  const later = own.begin(LARGE)
  t.mock.timers.tick(3_600_000)
  await later.update([new Uint8Array(10)])
  assert.equal(await later.end(), sha256([new Uint8Array(10)]))
})
