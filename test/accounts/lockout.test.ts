import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { codesLockoutKey, guessesLockoutKey, nameLockoutKey, userLockoutKey } from '../../src/accounts/lockout.ts'
import { LockedOut } from '../../src/base/errors.ts'
import { bob, DURATION, neverChecked, newLockout } from '../support/lockout.ts'

test('the fifth wrong password locks the user and reports it; the sixth is not checked (D6.1)', async () => {
  const { lockout, wrong } = newLockout()
  for (let count = 1; count <= 4; count++) assert.deepEqual(await wrong(), { right: false, locked: false })
  assert.deepEqual(await wrong(), { right: false, locked: true })
  await assert.rejects(lockout.attempt(bob, neverChecked), LockedOut)
})

test('with a limit of one the first wrong password locks (D6.4)', async () => {
  const { lockout, wrong } = newLockout({ maxAttempts: 1 })
  assert.deepEqual(await wrong(), { right: false, locked: true })
  await assert.rejects(lockout.attempt(bob, neverChecked), LockedOut)
})

test('the lock holds a millisecond before its end and is gone at the end and after it (D6.1)', async () => {
  for (const [passed, locked] of [
    [DURATION - 1, true],
    [DURATION, false],
    [DURATION + 1, false],
  ] as const) {
    const { system, lockout, right, fail } = newLockout()
    await fail(5)
    system.pass(passed)
    assert.equal((await lockout.lockedUntil(bob)) !== undefined, locked, `after ${passed} ms`)
    if (locked) await assert.rejects(right(), LockedOut)
    else assert.deepEqual(await right(), { right: true, locked: false })
  }
})

test('right after a lock the count is 0: four more wrong ones are free, the fifth locks anew (D6.1)', async () => {
  const { system, wrong, fail } = newLockout()
  await fail(5)
  system.pass(DURATION)
  for (let count = 1; count <= 4; count++) assert.equal((await wrong()).locked, false)
  assert.equal((await wrong()).locked, true)
})

test('attempts during a lock neither count nor prolong it (D6.1)', async () => {
  const { system, lockout, right, fail } = newLockout()
  await fail(5)
  for (let second = 0; second < 299; second++) {
    system.pass(1000)
    await assert.rejects(lockout.attempt(bob, neverChecked), LockedOut)
  }
  system.pass(1000)
  assert.equal((await right()).right, true)
})

test('a success clears the count, at four failures too (D6.1)', async () => {
  const { wrong, right, fail } = newLockout()
  await fail(4)
  await right()
  for (let count = 1; count <= 4; count++) assert.equal((await wrong()).locked, false)
  assert.equal((await wrong()).locked, true)
})

test('failures are forgotten after a day without another one', async () => {
  const { system, wrong, fail } = newLockout()
  await fail(4)
  system.pass(86_400_000)
  assert.equal((await wrong()).locked, false)
})

test('of 200 parallel wrong guesses exactly five are checked, all others are refused (D6.2)', async () => {
  const { lockout } = newLockout()
  let checked = 0
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, () =>
      lockout.attempt(bob, async () => {
        checked++
        for (let turn = 0; turn < checked; turn++) await setImmediate()
        return false
      }),
    ),
  )
  assert.equal(checked, 5)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 195)
  assert.ok(refused.every(outcome => outcome.status === 'rejected' && outcome.reason instanceof LockedOut))
  const locking = outcomes.filter(outcome => outcome.status === 'fulfilled' && outcome.value.locked)
  assert.ok(locking.length >= 1, 'one of them says that it locked')
})

test('fifty parallel right passwords all succeed, though five reservations fill the limit (D6.2)', async () => {
  const { lockout } = newLockout()
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => lockout.attempt(bob, () => setImmediate(true))))
  assert.ok(outcomes.every(({ right, locked }) => right && !locked))
})

test('a check that throws does not count and gives its place back', async () => {
  const { lockout, wrong } = newLockout()
  const broken = new Error('queue full')
  for (let count = 0; count < 20; count++) {
    await assert.rejects(
      lockout.attempt(bob, async () => {
        throw broken
      }),
      broken,
    )
  }
  for (let count = 1; count <= 4; count++) assert.equal((await wrong()).locked, false)
  assert.equal((await wrong()).locked, true)
})

test('a check that ends after the lock has run out leaves a sound count behind', async () => {
  const { system, lockout, wrong, fail } = newLockout({ maxAttempts: 2, duration: 1000 })
  let finish: (right: boolean) => void = () => undefined
  const slow = lockout.attempt(bob, () => new Promise<boolean>(resolve => (finish = resolve)))
  await fail(1)
  system.pass(86_400_000)
  finish(false)
  await slow
  assert.equal((await wrong()).locked, true)
})

test('the wall clock neither ends nor prolongs a lock, wherever it jumps (D6.3)', async () => {
  for (const jump of [-86_400_000, -1, 1, DURATION, 10 * 365 * 86_400_000]) {
    const { system, lockout, right, fail } = newLockout()
    await fail(5)
    system.jump(jump)
    const refusal = await lockout.attempt(bob, neverChecked).catch((error: unknown) => error)
    assert.ok(refusal instanceof LockedOut)
    assert.ok(refusal.retryAfter >= 1 && refusal.retryAfter <= 300, `Retry-After ${refusal.retryAfter}`)
    system.pass(DURATION - 1)
    await assert.rejects(right(), LockedOut)
    system.pass(1)
    assert.equal((await right()).right, true)
  }
})

test('Retry-After is rounded up to whole seconds and is never 0 (D6.1)', async () => {
  const { system, lockout, fail } = newLockout()
  await fail(5)
  const retryAfter = async (): Promise<number | undefined> => {
    const refusal = await lockout.requireNotLocked(bob).catch((error: unknown) => error)
    return refusal instanceof LockedOut ? refusal.retryAfter : undefined
  }
  assert.equal(await retryAfter(), 300)
  system.pass(1)
  assert.equal(await retryAfter(), 300)
  system.pass(999)
  assert.equal(await retryAfter(), 299)
  system.pass(298_999)
  assert.equal(await retryAfter(), 1)
  system.pass(1)
  assert.equal(await retryAfter(), undefined)
})

test('-1 switches the lockout off (I5.9)', async () => {
  const { lockout, wrong, store, fail } = newLockout({ maxAttempts: -1 })
  await fail(100)
  assert.deepEqual(await wrong(), { right: false, locked: false })
  await lockout.requireNotLocked(bob)
  assert.equal(lockout.enabled, false)
  assert.equal(store.size, 0)
})

test('unknown names lock like users, and a flood of them takes limited memory (D6.3)', async () => {
  const { store, lockout, wrong, fail } = newLockout({ capacity: 100 })
  for (let number = 0; number < 2000; number++) await wrong(nameLockoutKey(`nobody-${number}`))
  assert.ok(store.size <= 100, `${store.size} entries`)
  await fail(5, nameLockoutKey('mallory'))
  await assert.rejects(lockout.attempt(nameLockoutKey('mallory'), neverChecked), LockedOut)
})

test('a flood of invented names does not push out the lock of a user (D6.3)', async () => {
  const { lockout, wrong, fail } = newLockout({ capacity: 100 })
  await fail(5)
  for (let number = 0; number < 500; number++) await wrong(nameLockoutKey(`nobody-${number}`))
  await assert.rejects(lockout.attempt(bob, neverChecked), LockedOut)
})

test('an invented name is not kept in readable form: it may be a password in the wrong field', () => {
  assert.doesNotMatch(nameLockoutKey('hunter2').key, /hunter2/)
})

test('users who are locked are listed with failures, end and count of unlocks; others are not (D6.5)', async () => {
  const { system, lockout, fail } = newLockout()
  await fail(5, userLockoutKey({ id: '8', unlocks: 3 }))
  await fail(4)
  await fail(5, nameLockoutKey('nobody'))
  const until = system.now() + DURATION
  assert.deepEqual(await lockout.lockedUsers(), [{ userId: '8', of: 'passwords', unlocks: 3, failures: 5, until }])
  system.pass(1)
  await fail(5, guessesLockoutKey({ id: '8', codeUnlocks: 2 }))
  await fail(5, codesLockoutKey({ id: '9', codeUnlocks: 0 }))
  assert.deepEqual(
    await lockout.lockedUsers(),
    [
      { userId: '8', of: 'codes', unlocks: 2, failures: 5, until: until + 1 },
      { userId: '9', of: 'codes', unlocks: 0, failures: 5, until: until + 1 },
      { userId: '8', of: 'passwords', unlocks: 3, failures: 5, until },
    ],
    'by codes too, the one that ends last first',
  )
})
