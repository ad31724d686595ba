import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { LoopTurns } from '../../src/http/protocol/loop-turns.ts'

/** In how many turns each part of some work was done, while a connection is accepted in each of the first turns. */
async function partsBeside(connections: number, clock: { monotonic: () => number }): Promise<number[]> {
  const server = new EventEmitter()
  const turns = new LoopTurns(server as never, clock)
  const parts: number[] = []
  let turn = 0
  const work = (): void => {
    parts.push(turn)
    if (parts.length < 4) turns.next(work)
  }
  turns.next(work)
  while (parts.length < 4) {
    if (turn < connections) server.emit('connection')
    await setImmediate()
    turn++
  }
  return parts
}

test('work in parts goes on in each turn of the event loop (D35.40)', async () => {
  assert.deepEqual(await partsBeside(0, { monotonic: () => 0 }), [0, 1, 2, 3])
})

test('connections that wait are accepted before the next part of the work (D35.40)', async () => {
  const [first, second] = await partsBeside(100, { monotonic: () => 0 })
  assert.deepEqual([first, second], [100, 101])
})

test('after 10 ms the work goes on, although there are more connections (D35.40)', async () => {
  let time = 0
  const parts = await partsBeside(1000, { monotonic: () => time++ })
  assert.deepEqual(parts, [10, 21, 32, 43])
})

test('all that waits for the next turn gets it, each once', async () => {
  const turns = new LoopTurns(new EventEmitter() as never)
  const done: string[] = []
  turns.next(() => done.push('a'))
  turns.next(() => done.push('b'))
  await setImmediate()
  await setImmediate()
  assert.deepEqual(done, ['a', 'b'])
})
