import assert from 'node:assert/strict'
import { type LockoutKey, userLockoutKey, Lockout, UNKNOWN_NAME_PREFIX } from '../../src/accounts/lockout.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from './fake-system.ts'

/** How long a lock holds in these tests. */
export const DURATION = 300_000
export const bob = userLockoutKey({ id: '7', unlocks: 0 })

/** A lockout over a store in memory. */
export function newLockout({ maxAttempts = 5, duration = DURATION, capacity = 1000 } = {}) {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system, {
    sweepInterval: 3_600_000,
    capacity: [{ prefix: UNKNOWN_NAME_PREFIX, max: capacity }],
  })
  const lockout = new Lockout(store, system, { maxAttempts, duration })
  const wrong = (who: LockoutKey = bob) => lockout.attempt(who, async () => false)
  const right = (who: LockoutKey = bob) => lockout.attempt(who, async () => true)
  const fail = async (times: number, who: LockoutKey = bob): Promise<void> => {
    for (let count = 0; count < times; count++) await wrong(who)
  }
  return { system, store, lockout, wrong, right, fail }
}

/** Fails the test: a locked password must not be checked. */
export const neverChecked = async (): Promise<boolean> => assert.fail('the password has been checked')
