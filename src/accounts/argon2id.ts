import type { Turn } from '../base/concurrency.ts'
import type { Argon2Cost } from './hash-thread.ts'
import type { Hasher } from './hash-threads.ts'
import type { PasswordScheme } from './password-scheme.ts'

/** A stored hash with a higher cost is rejected without computing it: it could exhaust the machine. */
const MAX_COST: Argon2Cost = { memory: 1_048_576, iterations: 64, parallelism: 64 }

/**
 * argon2id in PHC string format, `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. Every password is stored in this scheme sooner or
 * later.
 */
export class Argon2id implements PasswordScheme {
  readonly #cost: Argon2Cost
  readonly #hasher: Hasher

  constructor(cost: Argon2Cost, hasher: Hasher) {
    this.#cost = cost
    this.#hasher = hasher
  }

  understands(stored: string): boolean {
    return stored.startsWith('$argon2id$')
  }

  async verify(password: string, stored: string, turn?: Turn): Promise<boolean> {
    const cost = costOf(stored)
    if (!cost || exceeds(cost, MAX_COST)) return false
    return await this.#hasher.verify(password, stored, turn)
  }

  outdated(stored: string): boolean {
    const cost = costOf(stored)
    return !cost || exceeds(this.#cost, cost)
  }

  hash(password: string): Promise<string> {
    return this.#hasher.hash(password, this.#cost)
  }
}

function costOf(stored: string): Argon2Cost | undefined {
  const match = /^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,10})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/.exec(
    stored,
  )
  return match ? { memory: Number(match[1]), iterations: Number(match[2]), parallelism: Number(match[3]) } : undefined
}

/** True when any cost of `a` is above the same cost of `b`. */
const exceeds = (a: Argon2Cost, b: Argon2Cost): boolean =>
  a.memory > b.memory || a.iterations > b.iterations || a.parallelism > b.parallelism
