import { pbkdf2, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import type { Milliseconds } from '../base/units.ts'
import { ThreadPool, threadModule } from '../workers/thread-pool.ts'
import type { Argon2Cost, HashTask } from './hash-thread.ts'
import { InvalidInput, SettingsError } from '../base/errors.ts'
import type { Semaphore, Share } from '../base/semaphore.ts'
import type { System } from '../base/system.ts'
import type { Database, Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { ADMIN, findUser } from './users.ts'

/** A way to store passwords so that they can be checked but not read. Each scheme recognises its own stored form. */
export interface PasswordScheme {
  understands(stored: string): boolean
  /** Returns false for a wrong password and for stored parameters outside the scheme's limits. Runs off the event loop. */
  verify(password: string, stored: string): Promise<boolean>
  /** True when the next sign-in should store the password in the current form (D5.1). */
  outdated(stored: string): boolean
}

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

  async verify(password: string, stored: string): Promise<boolean> {
    const cost = costOf(stored)
    if (!cost || exceeds(cost, MAX_COST)) return false
    return await this.#hasher.verify(password, stored)
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

const ITERATIONS = 10_240
const KEY_BYTES = 24
const derive = promisify(pbkdf2)

/** Returns salt and key, both in Base64, or `undefined` for any other text. */
function parsePbkdf2(stored: string): { readonly salt: string; readonly key: string } | undefined {
  const [, salt, key] = /^([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2})$/.exec(stored) ?? []
  return salt === undefined || key === undefined ? undefined : { salt, key }
}

/** @param salt in Base64 */
const derivePbkdf2 = (password: string, salt: string): Promise<Buffer> =>
  derive(password, Buffer.from(salt, 'base64'), ITERATIONS, KEY_BYTES, 'sha1')

/**
 * The password format of the earlier server: `base64(salt)$base64(key)`, PBKDF2-HMAC-SHA1 (D5.1). Verified so that migrated
 * users can sign in. Always outdated: the first sign-in stores the password in the current scheme.
 */
export const legacyPbkdf2: PasswordScheme = {
  understands: stored => parsePbkdf2(stored) !== undefined,
  outdated: () => true,
  async verify(password, stored) {
    const { salt, key } = parsePbkdf2(stored) ?? { salt: '', key: '' }
    const expected = Buffer.from(key, 'base64')
    if (expected.length !== KEY_BYTES) return false
    return timingSafeEqual(await derivePbkdf2(password, salt), expected)
  },
}

const PREFIX = '$argon2id-of-pbkdf2-sha1$'

/**
 * argon2id over the key of an old PBKDF2 hash: `$argon2id-of-pbkdf2-sha1$salt` followed by the PHC string of argon2id.
 * Created from an old hash without the password (`stowage import entrystore --wrap-hashes`), so that a stolen database is
 * harder to crack than the old one. Always outdated: the first sign-in stores plain argon2id.
 */
export class WrappedPbkdf2 implements PasswordScheme {
  readonly #argon2id: Argon2id

  constructor(argon2id: Argon2id) {
    this.#argon2id = argon2id
  }

  understands(stored: string): boolean {
    return stored.startsWith(PREFIX)
  }

  outdated(): boolean {
    return true
  }

  async verify(password: string, stored: string): Promise<boolean> {
    const [, salt, inner] = /^([A-Za-z0-9+/]{22}==)(\$argon2id\$.+)$/.exec(stored.slice(PREFIX.length)) ?? []
    if (salt === undefined || inner === undefined) return false
    const key = await derivePbkdf2(password, salt)
    return await this.#argon2id.verify(key.toString('base64'), inner)
  }

  /** @param stored `base64salt$base64key` @throws {TypeError} for anything else, without repeating it */
  async wrap(stored: string): Promise<string> {
    const parsed = parsePbkdf2(stored)
    if (!parsed) throw new TypeError('this is not a PBKDF2 hash in the old format')
    return PREFIX + parsed.salt + (await this.#argon2id.hash(parsed.key))
  }
}

/** Computes argon2id outside the thread that answers requests. */
export interface Hasher {
  hash(password: string, cost: Argon2Cost): Promise<string>
  /** Also returns false for a stored hash that the library cannot parse. */
  verify(password: string, stored: string): Promise<boolean>
  close(): Promise<void>
}

/**
 * OWASP's parameters (D5.1). More passes slow down a sign-in as much as an attacker's graphics card; more memory slows down the attacker
 * more.
 */
export const hashCost = (memory: Argon2Cost['memory']): Argon2Cost => ({ memory, iterations: 2, parallelism: 1 })

/** How many hashes are computed at once, and how many more may wait. */
export interface HashLimits {
  readonly concurrency: number
  readonly queue: number
}

/**
 * A hash takes a processor for some tens of milliseconds, and memory. More hashes at once than processors only take more memory; more than
 * eight at once leave no processor for other requests. A user behind a hundred waiting hashes waits for seconds.
 */
export function hashLimits(processors = availableParallelism()): HashLimits {
  const concurrency = Math.min(Math.max(processors, 2), 8)
  return { concurrency, queue: 100 * concurrency }
}

/** The largest cost that is accepted takes some tens of seconds. */
const TIMEOUT: Milliseconds = 120_000

/** Computes argon2id on threads of their own: on Node's thread pool, hashes would delay file reads. */
export class HashThreads implements Hasher {
  readonly #pool: ThreadPool<HashTask, string | boolean>

  /** @param threads each starts when it is needed */
  constructor(threads: number) {
    this.#pool = new ThreadPool({ module: threadModule('hash-thread', import.meta.url), threads, timeout: TIMEOUT })
  }

  async hash(password: string, cost: Argon2Cost): Promise<string> {
    return String(await this.#pool.run({ password, cost }))
  }

  async verify(password: string, stored: string): Promise<boolean> {
    return (await this.#pool.run({ password, stored })) === true
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

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
    throw new InvalidInput('password-too-long', `The password must have at most ${MAX_PASSWORD_CHARACTERS} characters.`)
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
   * @param share whom the check is for: callers are served round-robin
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

const MIN_CHARACTERS = 8

/**
 * The hash of `SERVICE_ADMIN_PASSWORD` if admin has no password yet, in a new or an older store. Otherwise the variable is
 * ignored, whatever it holds (D5.5).
 * @throws {SettingsError} when the password is needed and is too short, or longer than a password that sign-in takes
 */
export async function hashFirstAdminPassword(
  database: Database,
  passwords: Pick<Passwords, 'hash'>,
  password: string | undefined,
): Promise<string | undefined> {
  if (password === undefined || (await findUser(database, ADMIN))?.password !== undefined) return undefined
  requireFirstPassword(password)
  return await passwords.hash(password)
}

/** @throws {SettingsError} for a password that cannot be the first one of admin */
export function requireFirstPassword(password: string): void {
  const length = [...password].length
  if (length >= MIN_CHARACTERS && length <= MAX_PASSWORD_CHARACTERS) return
  throw new SettingsError(
    `SERVICE_ADMIN_PASSWORD cannot be the first password of admin: it has ${length} characters, and must have ${MIN_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS}.`,
  )
}

/** Stores the first password of admin. Changes nothing if admin has a password by now. */
export async function setFirstAdminPassword(queries: Queries, hash: string): Promise<void> {
  await queries.run(sql`UPDATE principals SET password = ${hash} WHERE id = ${ADMIN} AND password IS NULL`)
}
