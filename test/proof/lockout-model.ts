import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { userLockoutKey, Lockout } from '../../src/accounts/lockout.ts'
import { LockedOut } from '../../src/base/errors.ts'
import type { Milliseconds } from '../../src/base/units.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import type { Extent } from './extent.ts'

const DAY: Milliseconds = 86_400_000
const USERS = 3

type Outcome = 'right' | 'wrong' | 'broken'
type Step =
  | { readonly kind: 'attempt'; readonly user: number; readonly outcome: Outcome }
  | { readonly kind: 'unlock'; readonly user: number }
  /** Both clocks move on. */
  | { readonly kind: 'pass'; readonly by: Milliseconds }
  /** The wall clock alone is set. */
  | { readonly kind: 'jump'; readonly by: Milliseconds }

interface Count {
  failures: number
  lockedUntil: Milliseconds | undefined
  forgottenAt: Milliseconds
}

/** What D6 says, in as few words as possible; it knows the monotonic clock only. */
export class LockoutModel {
  readonly #limit: number
  readonly #duration: Milliseconds
  #clock: Milliseconds = 0
  readonly #counts = new Map<number, Count>()

  constructor(limit: number, duration: Milliseconds) {
    this.#limit = limit
    this.#duration = duration
  }

  pass(by: Milliseconds): void {
    this.#clock += by
  }

  unlock(user: number): void {
    this.#counts.delete(user)
  }

  isLocked(user: number): boolean {
    return this.#count(user).lockedUntil !== undefined
  }

  left(user: number): Milliseconds {
    return (this.#count(user).lockedUntil ?? this.#clock) - this.#clock
  }

  attempt(user: number, outcome: Outcome): Outcome | 'refused' {
    const count = this.#count(user)
    if (count.lockedUntil !== undefined) return 'refused'
    count.forgottenAt = this.#clock + Math.max(DAY, this.#duration)
    if (outcome === 'right') count.failures = 0
    if (outcome === 'wrong') count.failures++
    if (count.failures >= this.#limit) count.lockedUntil = this.#clock + this.#duration
    return outcome
  }

  #count(user: number): Count {
    const old = this.#counts.get(user)
    if (old && this.#clock < (old.lockedUntil ?? old.forgottenAt)) return old
    const fresh = { failures: 0, lockedUntil: undefined, forgottenAt: Number.POSITIVE_INFINITY }
    this.#counts.set(user, fresh)
    return fresh
  }
}

const steps = (duration: Milliseconds): fc.Arbitrary<Step[]> => {
  const user = fc.nat({ max: USERS - 1 })
  const outcome = fc.constantFrom<Outcome>('wrong', 'wrong', 'wrong', 'wrong', 'right', 'broken')
  const attempt = fc.record({ kind: fc.constant('attempt' as const), user, outcome })
  const times = fc.oneof(fc.constantFrom(1, duration - 1, duration, duration + 1, DAY - 1, DAY), fc.nat({ max: 2000 }))
  return fc.array(
    fc.oneof(
      { arbitrary: attempt, weight: 12 },
      { arbitrary: fc.record({ kind: fc.constant('pass' as const), by: times }), weight: 3 },
      {
        arbitrary: fc.record({ kind: fc.constant('jump' as const), by: fc.integer({ min: -2 * DAY, max: 2 * DAY }) }),
        weight: 1,
      },
      { arbitrary: fc.record({ kind: fc.constant('unlock' as const), user }), weight: 1 },
    ),
    { minLength: 1, maxLength: 60, size: 'max' },
  )
}

const plan = fc
  .record({ limit: fc.integer({ min: 1, max: 5 }), duration: fc.constantFrom(1, 999, 5000, 300_000, 2 * DAY) })
  .chain(({ limit, duration }) =>
    fc.record({ limit: fc.constant(limit), duration: fc.constant(duration), steps: steps(duration) }),
  )

/**
 * Whatever is tried and however the clocks move, the lockout does what the model of D6 does.
 * Resolves to the number of operations that were compared; a failure names the seed and the shrunk steps.
 */
export async function proveLockout({ runs, seed }: Extent): Promise<number> {
  let operations = 0
  const property = fc.asyncProperty(plan, async ({ limit, duration, steps }) => {
    operations += steps.length
    await compare(limit, duration, steps)
  })
  await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) })
  return operations
}

async function compare(limit: number, duration: Milliseconds, steps: readonly Step[]): Promise<void> {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system, { sweepInterval: 3_600_000 })
  const lockout = new Lockout(store, system, { maxAttempts: limit, duration })
  const model = new LockoutModel(limit, duration)
  const unlocks = Array.from({ length: USERS }, () => 0)
  const counted = (user: number) => userLockoutKey({ id: `u${user}`, unlocks: unlocks[user] ?? 0 })

  let jumped = false
  for (const step of steps) {
    if (step.kind === 'pass') {
      system.pass(step.by)
      model.pass(step.by)
    } else if (step.kind === 'jump') {
      system.jump(step.by)
      jumped = true
    } else if (step.kind === 'unlock') {
      unlocks[step.user] = (unlocks[step.user] ?? 0) + 1
      model.unlock(step.user)
    } else {
      const expected = model.attempt(step.user, step.outcome)
      const seen = await tryOnce(lockout, counted(step.user), step.outcome)
      assert.equal(seen.outcome, expected)
      assert.equal(seen.locked, expected === 'wrong' && model.isLocked(step.user), 'says whether it locked')
      if (seen.retryAfter !== undefined) requireRetryAfter(seen.retryAfter, model.left(step.user), duration, jumped)
    }
    for (let user = 0; user < USERS; user++) {
      assert.equal((await lockout.lockedUntil(counted(user))) !== undefined, model.isLocked(user), `user ${user}`)
    }
  }
  await store.close()
}

async function tryOnce(lockout: Lockout, who: ReturnType<typeof userLockoutKey>, outcome: Outcome) {
  try {
    const { right, locked } = await lockout.attempt(who, async () => {
      if (outcome === 'broken') throw new Error('broken')
      return outcome === 'right'
    })
    return { outcome: right ? 'right' : 'wrong', locked, retryAfter: undefined }
  } catch (error) {
    if (error instanceof LockedOut) return { outcome: 'refused', locked: false, retryAfter: error.retryAfter }
    return { outcome: 'broken', locked: false, retryAfter: undefined }
  }
}

/** Exact while the wall clock was left alone; within the lock's length always. */
function requireRetryAfter(reported: number, left: Milliseconds, duration: Milliseconds, jumped: boolean): void {
  if (!jumped) assert.equal(reported, Math.max(1, Math.ceil(left / 1000)))
  assert.ok(reported >= 1 && reported <= Math.max(1, Math.ceil(duration / 1000)))
}
