import { Forbidden, LockedOut, Overloaded, Unauthenticated } from '../base/errors.ts'
import type { Database } from '../stores/database.ts'
import type { Audit } from './audit.ts'
import { networkOf } from './network.ts'
import { groupsOf } from './groups.ts'
import { findUserByName, normaliseName, replaceHash, type User, ADMIN, ADMINS } from './users.ts'
import {
  type LockoutKey,
  codesLockoutKey,
  deviceLockoutKey,
  guessesLockoutKey,
  nameLockoutKey,
  userLockoutKey,
  type Lockout,
} from './lockout.ts'
import { type Passwords, requirePasswordShape } from './passwords.ts'
import type { Client } from './sessions.ts'
import type { TrustedDevices } from './trusted-devices.ts'

interface Dependencies {
  readonly database: Database
  readonly passwords: Passwords
  readonly policy: PasswordLoginPolicy
  readonly lockout: Lockout
  /** Counts the codes of users whose passwords are not counted: a code is too short to be guessed without limit. */
  readonly codeLockout: Lockout
  /** Counts the codes of apps of all users, for a day. */
  readonly guessLockout: Lockout
  /** Absent when trusted devices are disabled. */
  readonly devices: TrustedDevices | undefined
  readonly audit: Audit
}

interface LoginOptions {
  /** The hash of `service.auth.adminpw`, which replaces the stored password while it is set (D5.6). */
  readonly adminOverride: string | undefined
  /** False if admin and the admin group are never locked out (D6.4). */
  readonly locksAdmins: boolean
}

/** How the user signs in; recorded in the audit log. */
export type Mechanism = 'form' | 'basic' | 'current-password'

export interface Attempt {
  readonly name: string
  readonly password: string
  readonly mechanism: Mechanism
  readonly client: Client
}

/**
 * The only place that checks a name and a password (D4.2). The order is lists, lockout, hash, disabled, for every mechanism
 * that takes a password.
 */
export class Login {
  readonly #deps: Dependencies
  readonly #options: LoginOptions

  constructor(deps: Dependencies, options: LoginOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** False if no user can sign in with a password (I5.8). */
  get takesPasswords(): boolean {
    return !this.#deps.policy.isOff
  }

  /**
   * @throws {InvalidInput} when it cannot be a password at all
   * @throws {Unauthenticated} `wrong-credentials`, the same for every combination of name and password that does not match
   * (D2.2)
   * @throws {LockedOut} without checking the password (D6.1)
   * @throws {Forbidden} `account-disabled`, only when the password is right; `password-login-off`
   * @throws {Overloaded} when too many passwords wait to be checked
   * The caller of `form` continues with `SignIn`, which asks for the second factor and records the sign-in.
   */
  async withPassword(attempt: Attempt): Promise<User> {
    const { policy, audit } = this.#deps
    if (policy.isOff) throw passwordLoginOff('Passwords are not accepted by this service.')
    requirePasswordShape(attempt.password)
    const name = normaliseName(attempt.name)
    const user = await findUserByName(this.#deps.database, name)
    // A user who may not sign in with a password is treated like a user without one: same work, same counters, same response
    // (D2.2).
    const stored = user && policy.admits(name) ? this.#storedPassword(user) : undefined
    const right = await this.#check(attempt, user, name, stored)
    if (!user || stored === undefined || !right) {
      throw new Unauthenticated('wrong-credentials', 'The user name or the password is wrong.')
    }
    const event = { userId: user.id, userName: user.name, address: attempt.client.address }
    if (user.disabled) {
      await audit.record({ event: 'login-failed', ...event, detail: { mechanism: attempt.mechanism, why: 'disabled' } })
      throw new Forbidden('account-disabled', 'This account is disabled.')
    }
    if (attempt.mechanism === 'basic') await this.#recordBasic(user, attempt)
    await this.#renewHash(user, stored, attempt.password)
    return user
  }

  /**
   * For users who want to use or replace their own password: nothing is compared or counted where it would not sign them in.
   * @throws {Forbidden} `password-login-off`
   */
  requireAdmitted(user: User): void {
    if (this.#deps.policy.admits(user.name ?? '')) return
    throw passwordLoginOff('You cannot sign in with a password at this service.')
  }

  /**
   * Checks the current password before a user changes their own password (D5.3). It is counted like any other attempt.
   * @throws {Forbidden} `current-password-wrong`, `password-login-off` @throws {LockedOut} @throws {InvalidInput}
   */
  async requireCurrentPassword(user: User, password: string, client: Client): Promise<void> {
    this.requireAdmitted(user)
    requirePasswordShape(password)
    const name = user.name ?? ''
    const attempt: Attempt = { name, password, mechanism: 'current-password', client }
    if (await this.#check(attempt, user, name, this.#storedPassword(user))) return
    throw new Forbidden('current-password-wrong', 'The current password is wrong.')
  }

  /**
   * Whether the user signs in here, not through a provider only: they have a password, and may use it. Where a passkey replaces
   * the password, the same users may use one: else an account would outlive its end at the provider (D29.6).
   */
  admits(user: User): boolean {
    return this.#deps.policy.admits(user.name ?? '') && this.#storedPassword(user) !== undefined
  }

  /** Whether the password of the user is a temporary one; the password of the settings never is (D33). */
  usesTemporaryPassword(user: User): boolean {
    return user.hasTemporaryPassword && this.#storedPassword(user) === user.password
  }

  /** Whether credentials that were verified recently may be used without a new check (D4.3). @throws {LockedOut} */
  async requireStillGood(user: User, name: string, client: Client): Promise<boolean> {
    const needsMore = user.hasSecondFactor || this.usesTemporaryPassword(user)
    if (user.disabled || needsMore || user.name !== name || !this.#deps.policy.admits(name)) return false
    if (await this.#isLockable(user))
      await this.#deps.lockout.requireNotLocked((await this.#lockoutKey({ client }, user, name)).key)
    return true
  }

  /**
   * Checks a second factor, or a code that replaces one. It counts as a password does, so wrong passwords and wrong codes add up
   * (D28.3).
   * @param kind for the audit log @throws {LockedOut} without checking
   * @throws {Forbidden} `codes-locked-out` for the code of an app, without checking
   */
  async attemptFactor(user: User, client: Client, kind: string, check: () => Promise<boolean>): Promise<boolean> {
    const { lockout, codeLockout } = this.#deps
    const isCounted = lockout.enabled && (await this.#isLockable(user))
    let isOut = false
    const limited = async (): Promise<boolean> => {
      if (kind !== 'totp') return await check()
      const { right, locked } = await this.#attemptGuess(user, check)
      isOut = locked
      return right
    }
    const { right, locked } = isCounted
      ? await lockout.attempt((await this.#lockoutKey({ client }, user, user.name ?? '')).key, limited)
      : await codeLockout.attempt(codesLockoutKey(user), limited)
    await this.#recordFailure({ right, locked: locked || isOut }, user, client, kind)
    return right
  }

  /** The lockouts above end after minutes: on their own they would permit more than a thousand guesses a day. */
  async #attemptGuess(user: User, check: () => Promise<boolean>): Promise<{ right: boolean; locked: boolean }> {
    try {
      return await this.#deps.guessLockout.attempt(guessesLockoutKey(user), check)
    } catch (error) {
      if (!(error instanceof LockedOut)) throw error
      throw new Forbidden(
        'codes-locked-out',
        'Too many wrong codes in a row: for a day, codes of apps are not accepted. Use a passkey or a recovery code, or ask an administrator. If the codes were not yours, change your password.',
        { cause: error },
      )
    }
  }

  async #check(attempt: Attempt, user: User | undefined, name: string, stored: string | undefined): Promise<boolean> {
    const { key, isTrusted } = await this.#lockoutKey(attempt, user, name)
    // A flood from one network delays others by one check at most, and users on their own devices hardly at all.
    const share = { of: networkOf(attempt.client.address), isPreferred: isTrusted }
    const verify = (): Promise<boolean> => this.#deps.passwords.verify(attempt.password, stored, share)
    const isLockable = user === undefined || (await this.#isLockable(user))
    // Attempts during a lock are not recorded one by one: they cost an attacker nothing and would fill the audit log.
    const { right, locked } = isLockable
      ? // Else a right password between wrong codes would give any number of attempts at the code.
        await this.#deps.lockout.attempt(key, verify, { clears: user?.hasSecondFactor !== true })
      : { right: await verify(), locked: false }
    await this.#recordFailure({ right, locked }, user, attempt.client, attempt.mechanism)
    return right
  }

  async #recordFailure(
    { right, locked }: { readonly right: boolean; readonly locked: boolean },
    user: User | undefined,
    { address }: Client,
    mechanism: string,
  ): Promise<void> {
    const subject = { userId: user?.id, userName: user?.name, address, detail: { mechanism } }
    if (!right) await this.#deps.audit.record({ event: 'login-failed', ...subject })
    if (locked) await this.#deps.audit.record({ event: 'locked-out', ...subject })
  }

  /**
   * @throws {Unauthenticated} `second-factor-required`, `password-change-required`: HTTP Basic cannot carry a second factor
   * (D28.5) or a new password (D33.3)
   */
  async #recordBasic(user: User, { client, mechanism }: Attempt): Promise<void> {
    const { id, name, hasSecondFactor } = user
    const event = { userId: id, userName: name, address: client.address }
    const isTemporary = this.usesTemporaryPassword(user)
    if (!hasSecondFactor && !isTemporary)
      return await this.#deps.audit.record({ event: 'login', ...event, actorId: id, detail: { mechanism } })
    const why = hasSecondFactor ? 'second-factor' : 'temporary-password'
    await this.#deps.audit.record({ event: 'login-failed', ...event, detail: { mechanism, why } })
    if (!hasSecondFactor) {
      throw new Unauthenticated(
        'password-change-required',
        'This password is temporary. Choose a new one on the sign-in page first.',
      )
    }
    throw new Unauthenticated(
      'second-factor-required',
      'HTTP Basic cannot carry the second factor of this user. Programs use an access token.',
    )
  }

  /** What failures are counted under, and whether the attempt comes from a device that the user has signed in from. */
  async #lockoutKey(
    { client }: Pick<Attempt, 'client'>,
    user: User | undefined,
    name: string,
  ): Promise<{ readonly key: LockoutKey; readonly isTrusted: boolean }> {
    if (!user) return { key: nameLockoutKey(name), isTrusted: false }
    const digest = await this.#deps.devices?.recognise(user, client.device)
    if (digest === undefined) return { key: userLockoutKey(user), isTrusted: false }
    return { key: deviceLockoutKey(user, digest), isTrusted: true }
  }

  async #isLockable(user: User): Promise<boolean> {
    if (this.#options.locksAdmins) return true
    return user.id !== ADMIN && !(await groupsOf(this.#deps.database, user.id)).includes(ADMINS)
  }

  /**
   * Stores the password in the current scheme if its stored form is weaker; this is possible now because the password is
   * known (D5.1).
   */
  async #renewHash(user: User, stored: string, password: string): Promise<void> {
    if (stored !== user.password || !this.#deps.passwords.outdated(stored)) return
    const fresh = await this.#deps.passwords.hash(password).catch((error: unknown) => {
      if (error instanceof Overloaded) return undefined
      throw error
    })
    // Too many hashes are waiting. The sign-in succeeds nevertheless, and a later one renews the hash.
    if (fresh !== undefined) await replaceHash(this.#deps.database, user, fresh)
  }

  #storedPassword(user: User): string | undefined {
    const { adminOverride } = this.#options
    return user.id === ADMIN && adminOverride !== undefined ? adminOverride : user.password
  }
}

const passwordLoginOff = (detail: string): Forbidden => new Forbidden('password-login-off', detail)

export interface PasswordLoginOptions {
  readonly mode: 'on' | 'off' | 'whitelist'
  /** As written in the settings. */
  readonly whitelist: readonly string[]
  readonly blacklist: readonly string[]
}

/** Decides who may sign in with a password (I5.8). Names are compared in their normal form (D1.7). */
export class PasswordLoginPolicy {
  #isOff = false
  #whitelist: ReadonlySet<string> | undefined
  #blacklist: ReadonlySet<string> = new Set()

  constructor(options: PasswordLoginOptions) {
    this.replace(options)
  }

  get isOff(): boolean {
    return this.#isOff
  }

  /** For all sign-ins from now on. */
  replace({ mode, whitelist, blacklist }: PasswordLoginOptions): void {
    this.#isOff = mode === 'off'
    this.#whitelist = mode === 'whitelist' ? new Set(whitelist.map(normaliseName)) : undefined
    this.#blacklist = new Set(blacklist.map(normaliseName))
  }

  /** @param name normalised */
  admits(name: string): boolean {
    return !this.#isOff && (this.#whitelist?.has(name) ?? true) && !this.#blacklist.has(name)
  }
}
