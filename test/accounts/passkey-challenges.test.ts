import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHALLENGE_TTL, PasskeyChallenges } from '../../src/features/passkeys/passkey-challenges.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'

const text = (challenge: Uint8Array): string => Buffer.from(challenge).toString('base64url')
const purpose = { kind: 'factor', userId: '7', boundTo: 'session:a' } as const

function twoNodes(seed = 'one') {
  const system = new FakeSystem(seed)
  const store = new MemoryEphemeralStore(system)
  return { system, store, one: new PasskeyChallenges(store, system), other: new PasskeyChallenges(store, system) }
}

test('a challenge of one thread is valid on another, and one of all uses counts', async () => {
  const { one, other } = twoNodes()
  const challenge = text(await one.issue(purpose))
  assert.equal(await other.isValid(challenge, purpose), true)
  const uses = await Promise.all([one, other, one, other].map(node => node.use(challenge)))
  assert.deepEqual(uses.filter(Boolean), [true])
})

test('of two threads that issue the first challenge at once, both are understood by both', async () => {
  const { one, other } = twoNodes()
  const issued = await Promise.all([one.issue(purpose), other.issue(purpose)])
  for (const node of [one, other])
    for (const challenge of issued) assert.equal(await node.isValid(text(challenge), purpose), true)
})

test('a challenge is valid for five minutes, also over midnight', async () => {
  const { system, one } = twoNodes()
  system.pass(14 * 3_600_000 - 60_000)
  const challenge = text(await one.issue(purpose))
  system.pass(CHALLENGE_TTL - 1)
  assert.equal(await one.isValid(challenge, purpose), true)
  system.pass(1)
  assert.equal(await one.isValid(challenge, purpose), false)
  system.jump(-3_600_000)
  assert.equal(await one.isValid(challenge, purpose), false, 'a clock that was set back gives no second life')
})

test('a challenge is good for its purpose only', async () => {
  const { one } = twoNodes()
  const challenge = text(await one.issue(purpose))
  const others = [
    { ...purpose, userId: '8' },
    { ...purpose, boundTo: 'session:b' },
    { ...purpose, boundTo: 'pending:a' },
    { ...purpose, kind: 'register' },
    { kind: 'sign-in' },
  ] as const
  for (const other of others) assert.equal(await one.isValid(challenge, other), false, JSON.stringify(other))
})

test('another spelling of a challenge is not valid: it would count as one that has not been used', async () => {
  const { one } = twoNodes()
  // With `+` and `/` in its other spelling, whatever the bytes are.
  for (let count = 0; count < 20; count++) {
    const challenge = text(await one.issue(purpose))
    const spellings = [Buffer.from(challenge, 'base64url').toString('base64'), `${challenge}=`, `${challenge} `]
    for (const spelling of spellings.filter(other => other !== challenge)) {
      assert.equal(await one.isValid(spelling, purpose), false, spelling)
    }
  }
})

test('an altered, invented or foreign challenge is not valid', async () => {
  const { one } = twoNodes()
  const foreign = text(await twoNodes('another').one.issue(purpose))
  const challenge = await one.issue(purpose)
  for (let index = 0; index < challenge.length; index++) {
    const altered = Uint8Array.from(challenge, (byte, at) => (at === index ? byte ^ 1 : byte))
    assert.equal(await one.isValid(text(altered), purpose), false, `byte ${index}`)
  }
  for (const invented of ['', 'A', foreign, foreign.slice(0, -4), `${foreign}AAAA`, 'ä'.repeat(72)])
    assert.equal(await one.isValid(invented, purpose), false, invented)
})

test('a challenge whose key the store has lost is not valid, and no fault', async () => {
  const { one } = twoNodes()
  const challenge = text(await one.issue(purpose))
  assert.equal(await twoNodes().one.isValid(challenge, purpose), false)
})

test('strangers who request challenges fill no memory', async () => {
  const { one, store } = twoNodes()
  for (let index = 0; index < 100; index++) await one.issue({ kind: 'sign-in' })
  assert.equal(await store.count('passkey-'), 1)
})

test('one key makes the challenges that expire on a day, and is kept until the last of them has expired', async () => {
  const { system, store, one, other } = twoNodes()
  const keys = (): Promise<number> => store.count('passkey-key:')
  // The clock stands at 10:00.
  system.pass(14 * 3_600_000 - CHALLENGE_TTL)
  await one.issue(purpose)
  system.pass(86_400_000 - CHALLENGE_TTL)
  const earlier = text(await one.issue(purpose))
  system.pass(CHALLENGE_TTL - 1)
  assert.equal(await other.isValid(earlier, purpose), true)
  const last = text(await one.issue(purpose))
  assert.equal(await keys(), 1, 'the first expires at midnight, the last a millisecond before the next one')
  system.pass(CHALLENGE_TTL - 1)
  assert.equal(await other.isValid(last, purpose), true)
  await one.issue(purpose)
  assert.equal(await keys(), 2)
})

test('a challenge that is used stays used until it has expired', async () => {
  const { system, one, other } = twoNodes()
  const challenge = text(await one.issue(purpose))
  assert.equal(await one.use(challenge), true)
  system.pass(CHALLENGE_TTL - 1)
  assert.equal(await other.use(challenge), false)
  assert.equal(await other.use(text(await one.issue(purpose))), true, 'another one')
})

test('a challenge without a user or a session is not one for the user or session with an empty name', async () => {
  const { one } = twoNodes()
  const challenge = text(await one.issue({ kind: 'sign-in' }))
  assert.equal(await one.isValid(challenge, { kind: 'sign-in' }), true)
  for (const other of [{ userId: '7' }, { boundTo: 'session:a' }])
    assert.equal(await one.isValid(challenge, { kind: 'sign-in', ...other }), false)
})
