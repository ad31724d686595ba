import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareLimiter, shareMessageChecks } from '../../src/assembly/team-services.ts'
import { Limiter } from '../../src/base/limiter.ts'
import { Overloaded } from '../../src/base/errors.ts'
import { MessageChecks, Verifier } from '../../src/sso/saml/verifier.ts'
import type { CallHandler, ThreadTeam } from '../../src/threads/team.ts'
import { type Message, ThreadChannel } from '../../src/threads/thread-channel.ts'
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
