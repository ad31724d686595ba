import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareFairLimiter, shareLimiter, shareMessageChecks } from '../../src/assembly/team-services.ts'
import { Limiter } from '../../src/base/limiter.ts'
import { Overloaded } from '../../src/base/errors.ts'
import { MessageChecks, Verifier } from '../../src/sso/saml/verifier.ts'
import type { CallHandler, ThreadTeam } from '../../src/threads/team.ts'
import { type Message, ThreadChannel } from '../../src/threads/thread-channel.ts'
import { FairLimiter } from '../../src/workers/fair-limiter.ts'
import { after } from '../support/after.ts'
import { buildResponse, encode, expected, NAME, signResponse } from '../support/saml-idp.ts'
import { turns } from '../support/waiting.ts'

/** What the services need of three serving threads, with all messages copied as between threads. */
function threeThreads(): readonly [first: ThreadTeam, second: ThreadTeam, third: ThreadTeam] {
  const answers = new Map<string, CallHandler>()
  const first = { isFirst: true, answer: (name: string, answer: CallHandler) => void answers.set(name, answer) }
  const other = () => {
    const post = (to: () => ThreadChannel) => (message: Message) => {
      const copy = structuredClone(message)
      setImmediate(() => to().receive(copy))
    }
    const here: ThreadChannel = new ThreadChannel(
      post(() => there),
      new Map(),
    )
    const there: ThreadChannel = new ThreadChannel(
      post(() => here),
      answers,
    )
    return { isFirst: false, callFirst: here.call.bind(here) }
  }
  return [first, other(), other()] as unknown as readonly [ThreadTeam, ThreadTeam, ThreadTeam]
}

test('a limiter of several threads has one number of permits and one queue, in which callers take turns (D16.6)', async () => {
  const limits = { concurrency: 2, queue: 3, what: 'things' }
  const threads = threeThreads().map(team => shareLimiter(team, 'things', () => new Limiter(limits)))
  const begun: string[] = []
  const ends = new Map<string, (failure?: Error) => void>()
  const ask = (thread: number, name: string, of: string): Promise<void> | undefined =>
    threads[thread]?.run(
      () =>
        new Promise((resolve, reject) => {
          begun.push(name)
          ends.set(name, failure => (failure ? reject(failure) : resolve()))
        }),
      { of },
    )
  const all = []
  for (const [thread, name, of] of [
    [0, 'a1', 'a'],
    [1, 'a2', 'a'],
    [2, 'a3', 'a'],
    [1, 'a4', 'a'],
    [2, 'b1', 'b'],
  ] as const) {
    all.push(ask(thread, name, of))
    await turns()
  }
  assert.deepEqual(begun, ['a1', 'a2'])
  const refused = [ask(0, 'b2', 'b'), ask(1, 'a5', 'a')]
  for (const one of refused) {
    await assert.rejects(one ?? Promise.resolve(), (error: unknown) => error instanceof Overloaded)
  }
  assert.deepEqual(begun, ['a1', 'a2'])
  // A failure gives the permit back as well, and reaches the caller as it is.
  const failure = new TypeError('broken')
  ends.get('a2')?.(failure)
  await assert.rejects(all[1] ?? Promise.resolve(), failure)
  await turns()
  assert.deepEqual(begun, ['a1', 'a2', 'a3'])
  ends.get('a1')?.()
  await turns()
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1'])
  for (const name of ['a3', 'b1']) ends.get(name)?.()
  await turns()
  ends.get('a4')?.()
  await Promise.all([...all.slice(0, 1), ...all.slice(2)])
})

/** Work that ends when the test says so. */
function heldWork(begun: string[], name: string) {
  let end = (): void => undefined
  const ended = new Promise<void>(resolve => (end = resolve))
  const work = async (): Promise<void> => {
    begun.push(name)
    await ended
  }
  return { work, end: () => end() }
}

/** Three threads with one permit. */
const onePermit = (limits: { readonly maxWaitingOfOne: number }) =>
  threeThreads().map(team =>
    shareFairLimiter(
      team,
      'things',
      () => new FairLimiter({ concurrency: 1, concurrencyOfOne: 1, maxWaiting: 10, what: 'things', ...limits }),
    ),
  )

test('a caller has one share of a fair limiter of several threads, and one that leaves gives up the place (D35.28)', async () => {
  const [first, second, third] = onePermit({ maxWaitingOfOne: 1 })
  assert.ok(first && second && third)
  const begun: string[] = []
  const holder = heldWork(begun, 'holder')
  const held = second.run('a', holder.work)
  const leaving = new AbortController()
  const left = third.run('a', heldWork(begun, 'left').work, leaving.signal)
  await turns()
  for (const thread of [first, second, third]) {
    await assert.rejects(
      thread.run('a', async () => {}),
      (error: unknown) => error instanceof Overloaded,
    )
  }
  const other = first.run('b', async () => void begun.push('b'))
  const reason = new Error('gone')
  leaving.abort(reason)
  await assert.rejects(left, reason)
  const follower = second.run('a', async () => void begun.push('a'))
  await turns()
  assert.deepEqual(begun, ['holder'])
  holder.end()
  await Promise.all([held, other, follower])
  assert.deepEqual(begun, ['holder', 'b', 'a'])
  await assert.rejects(
    third.run('a', async () => {}, leaving.signal),
    reason,
  )
})

test('a permit is given back once, whenever its caller leaves (D35.28)', async () => {
  const [first, second, third] = onePermit({ maxWaitingOfOne: 10 })
  assert.ok(first && second && third)
  const starts = new Set<boolean>()
  // The permit takes some turns to the other thread: the caller leaves in each of them.
  for (let late = 0; late < 12; late++) {
    const begun: string[] = []
    const holder = heldWork(begun, 'holder')
    const held = second.run('a', holder.work)
    await turns()
    const leaving = new AbortController()
    const left = third.run(
      'b',
      async () => {
        begun.push('left')
        leaving.signal.throwIfAborted()
        await new Promise((_, reject) => leaving.signal.addEventListener('abort', () => reject(new Error('gone'))))
      },
      leaving.signal,
    )
    await turns()
    holder.end()
    await turns(late)
    leaving.abort(new Error('gone'))
    await assert.rejects(left, /gone/)
    await held
    starts.add(begun.includes('left'))
    const [one, two] = [heldWork(begun, 'one'), heldWork(begun, 'two')]
    const both = [second.run('c', one.work), first.run('d', two.work)]
    await turns()
    const running = begun.filter(name => name === 'one' || name === 'two')
    assert.equal(running.length, 1, `${running.length} run after ${late} turns`)
    one.end()
    two.end()
    await Promise.all(both)
  }
  assert.deepEqual(starts, new Set([false, true]))
})

const response = encode(signResponse(buildResponse()))

test('the threads that check SAML messages, and the limits on what waits for them, are those of the process (D8.3)', async () => {
  let opened = 0
  const open = (): MessageChecks => {
    opened++
    return new MessageChecks({
      threads: 1,
      queue: 10,
      maxBytes: 2 * response.length,
      maxBytesOfOne: 2 * response.length,
    })
  }
  const verifiers = threeThreads().map(team => new Verifier(shareMessageChecks(team, open)))
  after(async () => {
    for (const verifier of verifiers) await verifier.close()
  })
  assert.equal(opened, 1)
  const checks = await Promise.allSettled(verifiers.map(verifier => verifier.verify(response, expected())))
  assert.deepEqual(
    checks.map(check =>
      check.status === 'fulfilled' ? check.value.name : (check.reason as object) instanceof Overloaded,
    ),
    [NAME, NAME, true],
  )
  for (const verifier of verifiers) {
    await assert.rejects(verifier.verify(response, expected({ audience: 'urn:other' })), {
      name: 'SsoRefused',
      failed: { check: 'audience', expected: 'urn:other', received: expected().audience },
    })
  }
})
