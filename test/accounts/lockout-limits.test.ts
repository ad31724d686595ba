import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  codesLockoutKey,
  deviceLockoutKey,
  guessesLockoutKey,
  nameLockoutKey,
  userLockoutKey,
  Lockout,
} from '../../src/accounts/lockout.ts'
import { LockedOut, Overloaded, StoreUnavailable } from '../../src/base/errors.ts'
import type { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { bob, DURATION, neverChecked, newLockout } from '../support/lockout.ts'

/** A check whose outcome the test decides. */
function slowCheck() {
  let finish: (right: boolean) => void = () => undefined
  const check = () => new Promise<boolean>(resolve => (finish = resolve))
  return { check, finish: (right: boolean) => finish(right) }
}

test('failures count for a whole day, or for as long as a lock where that is longer', async () => {
  for (const [duration, memory] of [
    [DURATION, 86_400_000],
    [2 * 86_400_000, 2 * 86_400_000],
  ] as const) {
    for (const [passed, locked] of [
      [memory - 1, true],
      [memory, false],
    ] as const) {
      const { system, wrong, fail } = newLockout({ maxAttempts: 3, duration })
      await fail(2)
      system.pass(passed)
      assert.equal((await wrong()).locked, locked, `${passed} ms after the last failure`)
    }
  }
})

test('a right answer that is not the last step of a sign-in leaves the count as it is', async () => {
  const { store, lockout, wrong, fail } = newLockout()
  await fail(4)
  const first = await lockout.attempt(bob, async () => true, { clears: false })
  assert.deepEqual(first, { right: true, locked: false })
  assert.deepEqual(await store.get(bob.key), { failures: 4, pending: [] })
  assert.equal((await wrong()).locked, true)
})

test('an attempt without a result takes its place for a minute, then others are checked (D6.2)', async () => {
  const { system, lockout } = newLockout({ maxAttempts: 1 })
  const lost = slowCheck()
  const never = lockout.attempt(bob, lost.check)
  await setImmediate()
  system.pass(59_999)
  let checked = false
  const next = lockout.attempt(bob, async () => (checked = true))
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  assert.equal(checked, false)
  system.pass(1)
  assert.deepEqual(await next, { right: true, locked: false })
  lost.finish(true)
  await never
})

test('a right answer clears the failures, and not the places of attempts that are being checked (D6.2)', async () => {
  const { store, lockout } = newLockout({ maxAttempts: 2 })
  const [first, second, third] = [slowCheck(), slowCheck(), slowCheck()]
  const running = [lockout.attempt(bob, first.check), lockout.attempt(bob, second.check)]
  await setImmediate()
  first.finish(true)
  await running[0]
  running.push(lockout.attempt(bob, third.check))
  await setImmediate()
  const counter = await store.get<{ failures: number; pending: readonly unknown[] }>(bob.key)
  assert.deepEqual([counter?.failures, counter?.pending.length], [0, 2])
  // Nothing is stored about a user whose attempts were right.
  for (const { finish } of [second, third]) finish(true)
  await Promise.all(running)
  assert.equal(store.size, 0)
})

test('a result that comes after a lock neither lifts nor prolongs it (D6.1)', async () => {
  for (const right of [true, false]) {
    const { system, lockout, wrong } = newLockout({ maxAttempts: 1 })
    const late = slowCheck()
    const slow = lockout.attempt(bob, late.check)
    await setImmediate()
    system.pass(60_000)
    assert.equal((await wrong()).locked, true)
    system.pass(DURATION - 1)
    late.finish(right)
    await slow
    await assert.rejects(lockout.attempt(bob, neverChecked), LockedOut)
    system.pass(1)
    await lockout.requireNotLocked(bob)
  }
})

test('at most 500 attempts wait for the results of others; the next one is refused as overload', async () => {
  const { lockout } = newLockout({ maxAttempts: 1 })
  const first = slowCheck()
  const running = lockout.attempt(bob, first.check)
  await setImmediate()
  const waiting = Array.from({ length: 500 }, () => lockout.attempt(bob, neverChecked).catch((error: unknown) => error))
  const message = 'This user has 500 sign-ins in progress. Try again in 1 second.'
  const refusal = { constructor: Overloaded, code: 'overloaded', message }
  await assert.rejects(lockout.attempt(bob, neverChecked), refusal)
  // Users do not wait for each other.
  assert.equal((await lockout.attempt(userLockoutKey({ id: '8', unlocks: 0 }), async () => true)).right, true)
  first.finish(false)
  assert.deepEqual(await running, { right: false, locked: true })
  for (const outcome of await Promise.all(waiting)) assert.ok(outcome instanceof LockedOut)
})

test('a counter that many people share has a multiple of the attempts, or no limit where the lockout has none', async () => {
  const { lockout } = newLockout({ maxAttempts: 2 })
  const shared = lockout.withMoreAttempts(3)
  for (let count = 1; count <= 5; count++) {
    assert.equal((await shared.attempt(bob, async () => false)).locked, false, `failure ${count}`)
  }
  assert.equal((await shared.attempt(bob, async () => false)).locked, true)
  await assert.rejects(shared.requireNotLocked(bob), { retryAfter: DURATION / 1000 })
  assert.equal(newLockout({ maxAttempts: -1 }).lockout.withMoreAttempts(3).enabled, false)
})

test('users, their devices, codes and guesses are counted apart, and anew after an unlock (D6.5)', async () => {
  const { lockout, fail } = newLockout()
  const user = { id: '7', unlocks: 0, codeUnlocks: 0 }
  const all = [userLockoutKey(user), deviceLockoutKey(user, 'a'), deviceLockoutKey(user, 'b'), codesLockoutKey(user)]
  const others = [
    guessesLockoutKey(user),
    userLockoutKey({ id: '7', unlocks: 1 }),
    deviceLockoutKey({ id: '7', unlocks: 1 }, 'a'),
  ]
  const unlocked = { id: '7', codeUnlocks: 1 }
  const counted = [...all, ...others, codesLockoutKey(unlocked), guessesLockoutKey(unlocked)]
  for (const [index, who] of counted.entries()) {
    await fail(5, who)
    await assert.rejects(lockout.requireNotLocked(who), LockedOut)
    for (const free of counted.slice(index + 1)) await lockout.requireNotLocked(free)
  }
})

test('the lock that ends last comes first, whichever came first (D6.5)', async () => {
  const { system, lockout, fail } = newLockout()
  const user = { id: '8', unlocks: 0, codeUnlocks: 0 }
  for (const [first, last, order] of [
    [guessesLockoutKey(user), userLockoutKey(user), ['passwords', 'codes']],
    [userLockoutKey(user), guessesLockoutKey(user), ['codes', 'passwords']],
  ] as const) {
    await fail(5, first)
    system.pass(1)
    await fail(5, last)
    assert.deepEqual(
      (await lockout.lockedUsers()).map(lock => lock.of),
      order,
    )
    system.pass(DURATION)
  }
  assert.deepEqual(await lockout.lockedUsers(), [], 'nobody, when the locks have ended')
})

/** The store cannot be reached while `isAway`. */
function unreliable(store: MemoryEphemeralStore) {
  const state = { isAway: false }
  const away = () => Promise.reject(new StoreUnavailable('The store'))
  const proxy = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return state.isAway ? away : value.bind(target)
    },
  })
  return { state, store: proxy }
}

test('the lock that ends last counts also if its failures began first (D6.5)', async () => {
  const { system, lockout, fail } = newLockout()
  const user = { id: '8', unlocks: 0, codeUnlocks: 0 }
  await fail(4, userLockoutKey(user))
  await fail(5, guessesLockoutKey(user))
  system.pass(1)
  await fail(1, userLockoutKey(user))
  const until = system.now() + DURATION
  assert.deepEqual((await lockout.lockedUsers())[0], { userId: '8', of: 'passwords', unlocks: 0, failures: 5, until })
})

test('a failure counts while another attempt is being checked', async () => {
  const { store, lockout, wrong } = newLockout()
  const slow = slowCheck()
  const running = lockout.attempt(bob, slow.check)
  await setImmediate()
  await wrong()
  const counter = await store.get<{ failures: number; pending: readonly unknown[] }>(bob.key)
  assert.deepEqual([counter?.failures, counter?.pending.length], [1, 1])
  slow.finish(false)
  await running
  assert.deepEqual(await store.get(bob.key), { failures: 2, pending: [] })
})

test('a key of a user begins with their id and the number of unlocks, and a name is a digest', () => {
  assert.equal(bob.key, 'lockout:user:7:0')
  assert.match(nameLockoutKey('x').key, /^lockout:name:[\w-]{43}$/)
})

test('while the store is away nothing is let through, and the end of a lock is unknown', async () => {
  const { system, store: memory, fail } = newLockout()
  await fail(5)
  const { state, store } = unreliable(memory)
  const lockout = new Lockout(store, system, { maxAttempts: 5, duration: DURATION })
  assert.equal(await lockout.lockedUntil(bob), system.now() + DURATION)
  state.isAway = true
  assert.equal(await lockout.lockedUntil(bob), undefined)
  await assert.rejects(lockout.requireNotLocked(bob), StoreUnavailable)
  const broken = new Error('broken')
  const faulty = new Lockout({ get: () => Promise.reject(broken) } as never, system, { maxAttempts: 5, duration: 1 })
  await assert.rejects(faulty.lockedUntil(bob), broken)
  await assert.rejects(lockout.attempt(bob, neverChecked), StoreUnavailable)
})

test('an attempt whose result the store did not get gives its place back when the store is there again', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { system, store: memory } = newLockout()
  const { state, store } = unreliable(memory)
  const lockout = new Lockout(store, system, { maxAttempts: 5, duration: DURATION })
  const losing = lockout.attempt(bob, async () => {
    state.isAway = true
    return true
  })
  await assert.rejects(losing, StoreUnavailable)
  const pending = async (): Promise<number> => {
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    return (await memory.get<{ pending: readonly unknown[] }>(bob.key))?.pending.length ?? 0
  }
  t.mock.timers.tick(1000)
  assert.equal(await pending(), 1, 'the store is still away')
  state.isAway = false
  t.mock.timers.tick(999)
  assert.equal(await pending(), 1)
  t.mock.timers.tick(1)
  assert.equal(await pending(), 0)
  assert.equal((await lockout.attempt(bob, async () => true)).right, true)
})

test('of several attempts whose results the store did not get, each gives its place back', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { system, store: memory } = newLockout()
  const { state, store } = unreliable(memory)
  const lockout = new Lockout(store, system, { maxAttempts: 5, duration: DURATION })
  const both = [slowCheck(), slowCheck()]
  const losing = both.map(({ check }) => lockout.attempt(bob, check))
  await setImmediate()
  state.isAway = true
  for (const { finish } of both) finish(true)
  for (const attempt of losing) await assert.rejects(attempt, StoreUnavailable)
  const pending = async (): Promise<number> =>
    (await memory.get<{ pending: readonly unknown[] }>(bob.key))?.pending.length ?? 0
  assert.equal(await pending(), 2)
  state.isAway = false
  const changes = t.mock.method(memory, 'update')
  t.mock.timers.tick(1000)
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  assert.equal(await pending(), 0)
  assert.equal(memory.size, 0)
  assert.equal(changes.mock.callCount(), 2, 'one for each')
})

test('of attempts whose results the store did not get, 500 give their places back; others expire', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { system, store: memory } = newLockout()
  const { state, store } = unreliable(memory)
  const lockout = new Lockout(store, system, { maxAttempts: 1000, duration: DURATION })
  const checks = Array.from({ length: 501 }, slowCheck)
  const losing = checks.map(({ check }) => lockout.attempt(bob, check).catch((error: unknown) => error))
  await setImmediate()
  state.isAway = true
  for (const { finish } of checks) finish(true)
  for (const outcome of await Promise.all(losing)) assert.ok(outcome instanceof StoreUnavailable)
  state.isAway = false
  const counter = async () => await memory.get<{ pending: readonly unknown[] }>(bob.key)
  t.mock.timers.tick(1000)
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  assert.equal((await counter())?.pending.length, 1)
})

test('an attempt that fails for a reason of its own is not taken for one that the store lost', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { store, system } = newLockout()
  const changes = t.mock.method(store, 'update')
  const lockout = new Lockout(store, system, { maxAttempts: 5, duration: DURATION })
  await assert.rejects(
    lockout.attempt(bob, () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  const before = changes.mock.callCount()
  t.mock.timers.tick(5000)
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  assert.equal(changes.mock.callCount(), before)
})
