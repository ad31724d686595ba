import { InvalidInput } from '../base/errors.ts'
import type { Semaphore, Share } from '../base/semaphore.ts'
import type { System } from '../base/system.ts'
import type { Argon2Cost } from './hash-thread.ts'
import {
  Argon2id,
  type Hasher,
  HashThreads,
  legacyPbkdf2,
  type PasswordScheme,
  WrappedPbkdf2,
} from './password-schemes.ts'

/** Characters are Unicode code points, here and in the rules (D2.3, D5.2). */
export const MAX_PASSWORD_CHARACTERS = 2048

/**
 * Rejects a text that cannot be a password, before any hashing.
 * @throws {InvalidInput} `password-missing`, `password-too-long`
 */
export function requirePasswordShape(password: string): void {
  if (password === '') throw new InvalidInput('password-missing', 'The password is empty.')
  // A string has at most as many code points as UTF-16 units, so most strings need no counting.
  if (password.length <= MAX_PASSWORD_CHARACTERS) return
  if (password.length > 2 * MAX_PASSWORD_CHARACTERS || [...password].length > MAX_PASSWORD_CHARACTERS) {
    throw new InvalidInput('password-too-long', `The password is longer than ${MAX_PASSWORD_CHARACTERS} characters.`)
  }
}

/** Hashes and verifies passwords off the event loop, a limited number at once (D5.1). */
export class Passwords {
  readonly #hasher: Hasher
  readonly #argon2id: Argon2id
  readonly #schemes: readonly PasswordScheme[]
  readonly #semaphore: Semaphore
  readonly #dummy: string

  private constructor(hasher: Hasher, argon2id: Argon2id, semaphore: Semaphore, dummy: string) {
    this.#hasher = hasher
    this.#argon2id = argon2id
    this.#schemes = [argon2id, legacyPbkdf2, new WrappedPbkdf2(argon2id)]
    this.#semaphore = semaphore
    this.#dummy = dummy
  }

  /** How many passwords are being hashed, and how many wait. */
  get load(): Semaphore['load'] {
    return this.#semaphore.load
  }

  static async create(
    cost: Argon2Cost,
    semaphore: Semaphore,
    system: System,
    hasher: Hasher = new HashThreads(semaphore.concurrency),
  ): Promise<Passwords> {
    const argon2id = new Argon2id(cost, hasher)
    const unguessable = Buffer.from(system.randomBytes(32)).toString('base64')
    return new Passwords(hasher, argon2id, semaphore, await argon2id.hash(unguessable))
  }

  /** @throws {Overloaded} when too many wait already. */
  hash(password: string): Promise<string> {
    return this.#semaphore.run(() => this.#argon2id.hash(password))
  }

  /**
   * Without a stored password it returns false after the same work, so that the response time does not reveal which users
   * exist (D2.2).
   * @param share whom the check is for: callers take turns
   * @throws {Overloaded} when too many wait already.
   */
  verify(password: string, stored: string | undefined, share?: Share): Promise<boolean> {
    const target = stored ?? this.#dummy
    const scheme = this.#schemes.find(scheme => scheme.understands(target))
    return this.#semaphore.run(async () => {
      const right = scheme !== undefined && (await scheme.verify(password, target))
      // A legacy check is fast. Without the usual work on top, the response time would reveal which users have not signed in
      // since the migration.
      if (!right && scheme !== this.#argon2id) await this.#argon2id.verify(password, this.#dummy)
      return right && stored !== undefined
    }, share)
  }

  outdated(stored: string): boolean {
    return this.#schemes.find(scheme => scheme.understands(stored))?.outdated(stored) ?? false
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#hasher.close()
  }
}
