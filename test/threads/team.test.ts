import assert from 'node:assert/strict'
import { createServer, Server } from 'node:http'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import {
  FileUnreadable,
  LockedOut,
  Overloaded,
  StorageFull,
  StorageReadOnly,
  StoreUnavailable,
  TooLarge,
  UpstreamSilent,
} from '../../src/base/errors.ts'
import { problemOf } from '../../src/http/problem.ts'
import { LoadBoard } from '../../src/threads/load-board.ts'
import { MainThread } from '../../src/threads/main-thread.ts'
import type { CallHandler } from '../../src/threads/team.ts'
import { type Message, Moved, ThreadChannel } from '../../src/threads/thread-channel.ts'
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

/** Two connected channels. */
function channels(
  ofOne: Readonly<Record<string, CallHandler>>,
  ofTwo: Readonly<Record<string, CallHandler>>,
): readonly [one: ThreadChannel, two: ThreadChannel] {
  const post = (to: () => ThreadChannel) => (message: Message, moved: readonly ArrayBuffer[]) => {
    const copy = structuredClone(message, { transfer: [...moved] })
    setImmediate(() => to().receive(copy))
  }
  const one: ThreadChannel = new ThreadChannel(
    post(() => two),
    new Map(Object.entries(ofOne)),
  )
  const two: ThreadChannel = new ThreadChannel(
    post(() => one),
    new Map(Object.entries(ofTwo)),
  )
  return [one, two]
}

test('a cancelled call rejects at once with its reason, and the other thread can stop', async () => {
  const stopped = new Promise<unknown>(resolve => {
    const [one] = channels(
      {},
      { endless: (_argument, signal) => new Promise(() => signal.addEventListener('abort', () => resolve('stopped'))) },
    )
    const cancelling = new AbortController()
    const call = one.call('endless', undefined, { signal: cancelling.signal })
    assert.rejects(call, { message: 'gone' }).catch(resolve)
    setImmediate(() => setImmediate(() => cancelling.abort(new Error('gone'))))
  })
  assert.equal(await stopped, 'stopped')
  const [one] = channels({}, { name: () => 'two' })
  await assert.rejects(one.call('name', undefined, { signal: AbortSignal.abort(new Error('gone')) }), {
    message: 'gone',
  })
  assert.equal(await one.call('name', undefined, { signal: new AbortController().signal }), 'two')
})

test('memory of an argument and of a result is moved, not copied', async () => {
  const sent = new Uint8Array([1, 2, 3])
  const answer = new Uint8Array([4, 5])
  const [one] = channels({}, { swap: (got: Uint8Array) => new Moved({ got, answer }, [answer.buffer]) })
  const result = await one.call<{ got: Uint8Array; answer: Uint8Array }>('swap', sent, { moved: [sent.buffer] })
  assert.deepEqual(
    [[...result.got], [...result.answer]],
    [
      [1, 2, 3],
      [4, 5],
    ],
  )
  assert.deepEqual([sent.length, answer.length], [0, 0])
})

test('calls between threads carry results and errors in both directions', async () => {
  const [one, two] = channels(
    { twice: (value: number) => value * 2 },
    {
      name: async () => 'two',
      busy: () => Promise.reject(new Overloaded('Too many.')),
      broken: () => Promise.reject(new TypeError('broken')),
    },
  )
  assert.deepEqual(await Promise.all([one.call('name'), two.call('twice', 21)]), ['two', 42])
  await assert.rejects(one.call('busy'), error => error instanceof Overloaded && error.message === 'Too many.')
  await assert.rejects(one.call('broken'), { message: 'broken' })
  await assert.rejects(one.call('nothing'), /nothing/)
})

test('refusals keep their class, code and time to wait on the way to another thread', async () => {
  const refusals = [
    new Overloaded('Too many.', 3),
    new StoreUnavailable('the database', { retryAfter: 7 }),
    new StorageReadOnly(),
    new FileUnreadable('file-damaged'),
    new StorageFull(),
    new LockedOut(90),
    new TooLarge('quota-exceeded', 'Too large.', { extra: { quota: 5 } }),
    new UpstreamSilent('upstream-silent', 'No answer.'),
  ]
  const [one] = channels({}, { refuse: (index: number) => Promise.reject(refusals[index]) })
  for (const [index, refusal] of refusals.entries()) {
    await assert.rejects(one.call('refuse', index), error => {
      assert.deepEqual(problemOf(error, 'id'), problemOf(refusal, 'id'))
      return true
    })
  }
})

test('an error that has something which cannot be copied arrives with its message, and so does a result', async () => {
  const [one] = channels(
    {},
    {
      error: () => Promise.reject(new TypeError('broken', { cause: { work: () => {} } })),
      result: () => ({ work: () => {} }),
    },
  )
  await assert.rejects(one.call('error'), { name: 'TypeError', message: 'broken' })
  await assert.rejects(one.call('result'), /could not be cloned/)
  await assert.rejects(
    one.call('error', () => {}),
    /could not be cloned/,
  )
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
