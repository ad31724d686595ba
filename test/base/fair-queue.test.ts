import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FairQueue } from '../../src/base/semaphore.ts'

/** All items in the order in which they are served. */
function served(queue: FairQueue<string>): string[] {
  const order: string[] = []
  for (let item = queue.next(); item !== undefined; item = queue.next()) order.push(item)
  return order
}

test('callers take turns, and the items of one are served in order of arrival', () => {
  const queue = new FairQueue<string>(10)
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
    assert.equal(queue.add(item, { of: item[0] ?? '' }), undefined)
  assert.deepEqual(served(queue), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('preferred callers come first, yet one of five places is for others', () => {
  const queue = new FairQueue<string>(100)
  for (let n = 1; n <= 3; n++) queue.add(`other${n}`, { of: 'x' })
  for (let n = 1; n <= 9; n++) queue.add(`known${n}`, { of: `device${n}`, isPreferred: true })
  const order = served(queue)
  assert.deepEqual(order.slice(0, 6), ['known1', 'known2', 'known3', 'known4', 'other1', 'known5'])
  assert.deepEqual(order.slice(9), ['other2', 'known9', 'other3'])
})

test('in a full queue a newcomer displaces the last item of the one with the most, a preferred one any other', () => {
  const queue = new FairQueue<string>(4)
  for (const item of ['a1', 'a2', 'a3', 'b1']) queue.add(item, { of: item[0] ?? '' })
  assert.equal(queue.add('a4', { of: 'a' }), 'a4')
  assert.equal(queue.add('c1', { of: 'c' }), 'a3')
  assert.equal(queue.add('b2', { of: 'b' }), 'b2')
  assert.equal(queue.add('d1', { of: 'd' }), 'a2')
  // Now each has one: a newcomer is no better than they are.
  assert.equal(queue.add('e1', { of: 'e' }), 'e1')
  assert.equal(queue.add('k1', { of: 'k', isPreferred: true }), 'a1')
  assert.equal(queue.size, 4)
  assert.deepEqual(served(queue), ['k1', 'b1', 'c1', 'd1'])
})

test('whatever is added, nothing is lost or served twice, and the capacity holds', () => {
  const turn = fc.record({ of: fc.constantFrom('a', 'b', 'c', 'd'), isPreferred: fc.boolean() })
  fc.assert(
    fc.property(fc.array(fc.oneof(turn, fc.constant(undefined))), fc.integer({ min: 0, max: 6 }), (steps, capacity) => {
      const queue = new FairQueue<string>(capacity)
      const out: string[] = []
      const take = (item: string | undefined): unknown => item !== undefined && out.push(item)
      steps.forEach((step, n) => take(step ? queue.add(`i${n}`, step) : queue.next()))
      assert.ok(queue.size <= capacity)
      const added = steps.flatMap((step, n) => (step ? [`i${n}`] : []))
      assert.deepEqual([...out, ...served(queue)].sort(), added.sort())
    }),
  )
})

test('a queue whose capacity has become less takes nothing, and loses nothing for it (D35.24)', () => {
  let capacity = 3
  const queue = new FairQueue<string>(() => capacity)
  for (const item of ['a1', 'a2', 'a3']) queue.add(item, { of: 'a' })
  capacity = 2
  assert.equal(queue.add('b1', { of: 'b' }), 'b1')
  assert.equal(queue.size, 3)
  queue.next()
  assert.equal(queue.add('b1', { of: 'b' }), 'a3')
  assert.equal(queue.size, 2)
})

test('an item that is removed is not served, and one that cannot be next keeps its place', () => {
  const queue = new FairQueue<string>(10)
  for (const item of ['a1', 'a2', 'b1', 'c1']) queue.add(item, { of: item[0] ?? '' })
  assert.equal(queue.remove('a1', { of: 'a' }), true)
  assert.equal(queue.remove('a1', { of: 'a' }), false)
  assert.equal(
    queue.next(caller => caller !== 'a'),
    'b1',
  )
  assert.equal(
    queue.next(() => false),
    undefined,
  )
  assert.deepEqual(served(queue), ['a2', 'c1'])
})
