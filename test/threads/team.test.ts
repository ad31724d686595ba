import assert from 'node:assert/strict'
import { createServer, Server } from 'node:http'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Overloaded } from '../../src/base/errors.ts'
import { LoadBoard } from '../../src/threads/load-board.ts'
import { MainThread } from '../../src/threads/main-thread.ts'
import { type Message, ThreadChannel } from '../../src/threads/thread-channel.ts'
import { threadCount } from '../../src/threads/team.ts'

const data = { base: 'http://127.0.0.1/', version: '0', tokenKey: undefined }

async function listening(t: TestContext): Promise<Server> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  t.after(() => void Server.prototype.close.call(server))
  await once(server, 'listening')
  return server
}

test('a thread that ends by itself is reported, with its error', async t => {
  const main = new MainThread(2, new URL('../support/failing-thread.js', import.meta.url), undefined)
  main.share(await listening(t))
  await main.start(data)
  void main.tell('anything').catch(() => {})
  assert.match((await main.failure).message, /this thread has failed/)
})

test('a thread that cannot start is reported by the start', async t => {
  const main = new MainThread(2, new URL('../support/no-such-thread.js', import.meta.url), undefined)
  main.share(await listening(t))
  await assert.rejects(main.start(data), /no-such-thread/)
})

test('calls between threads carry results and errors in both directions', async () => {
  const post = (to: () => ThreadChannel) => (message: Message) =>
    void setImmediate(() => to().receive(structuredClone(message)))
  const one: ThreadChannel = new ThreadChannel(
    post(() => two),
    new Map([['twice', (value: number) => value * 2]]),
  )
  const two: ThreadChannel = new ThreadChannel(
    post(() => one),
    new Map<string, (argument: never) => unknown>([
      ['name', async () => 'two'],
      ['busy', () => Promise.reject(new Overloaded('Too many.'))],
      ['broken', () => Promise.reject(new TypeError('broken'))],
    ]),
  )
  assert.deepEqual(await Promise.all([one.call('name'), two.call('twice', 21)]), ['two', 42])
  await assert.rejects(one.call('busy'), error => error instanceof Overloaded && error.message === 'Too many.')
  await assert.rejects(one.call('broken'), { message: 'broken' })
  await assert.rejects(one.call('nothing'), /nothing/)
})

test('only a busy thread with more connections than its share gives some up, and only while another one is idle', () => {
  const one = new LoadBoard(0, 3)
  const two = new LoadBoard(1, 3, one.shared)
  const three = new LoadBoard(2, 3, one.shared)
  const surplus = (board: LoadBoard): number => {
    let count = 0
    while (board.takeSurplus()) count++
    return count
  }
  two.note(0, 20)
  three.note(0, 20)
  one.note(17, 990)
  assert.equal(surplus(one), 17 - 6)
  assert.equal(surplus(one), 0)
  // Not busy, or alone with one connection, or all as busy: nothing moves.
  one.note(17, 300)
  assert.equal(surplus(one), 0)
  one.note(1, 990)
  assert.equal(surplus(one), 0)
  two.note(6, 900)
  three.note(6, 900)
  one.note(17, 990)
  assert.equal(surplus(one), 0)
})

test('0 stands for a thread for each core, at most 8', () => {
  assert.equal(threadCount(3), 3)
  assert.ok(threadCount(0) >= 1 && threadCount(0) <= 8)
})
