import { createHmac } from 'node:crypto'
import { InvalidInput, Unauthenticated } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { KnownUser, UserCache } from './user-cache.ts'
import type { Login } from './login.ts'
import { normaliseName } from './names.ts'
import type { Client } from './sessions.ts'
import type { User } from './users.ts'

/** How long verified credentials are accepted without another hash. */
const TTL: Milliseconds = 300_000
const MAX_REMEMBERED = 10_000
const WRONG = 'The user name or the password is wrong.'

interface Verified {
  readonly userId: string
  readonly epoch: number
  readonly expires: Milliseconds
}

type AccessCheck = Pick<Login, 'withPassword' | 'requireStillGood'>

export interface Credentials {
  readonly name: string
  readonly password: string
}

/**
 * HTTP Basic sends the password with each request, and hashing it each time would limit the service to the rate of the hash.
 * Verified credentials are therefore cached for a short time under a keyed MAC. They are accepted only while the user's row,
 * read again for each request, has the same epoch: a changed password, a disabled user or a lockout takes effect with the
 * next request (D4.3).
 */
export class BasicCredentials {
  readonly #users: UserCache
  readonly #login: AccessCheck
  readonly #system: System
  /** Random for each process, so a memory dump of another process reveals nothing. */
  readonly #key: Uint8Array
  readonly #verified = new Map<string, Verified>()
  readonly #checking = new Map<string, Promise<KnownUser>>()

  constructor(users: UserCache, login: AccessCheck, system: System) {
    this.#users = users
    this.#login = login
    this.#system = system
    this.#key = system.randomBytes(32)
  }

  /** @throws {Unauthenticated} `wrong-credentials` @throws {LockedOut} @throws {Forbidden} @throws {Overloaded} */
  async user(credentials: Credentials, client: Client): Promise<KnownUser> {
    const mac = this.#mac(credentials)
    return (await this.#remembered(mac, credentials, client)) ?? (await this.#checkOnce(mac, credentials, client))
  }

  /** Removes these credentials from the cache (D3.4). */
  forget(credentials: Credentials): void {
    this.#verified.delete(this.#mac(credentials))
  }

  async #remembered(mac: string, { name }: Credentials, client: Client): Promise<KnownUser | undefined> {
    const verified = this.#verified.get(mac)
    if (!verified) return undefined
    const known = this.#system.monotonic() < verified.expires ? await this.#users.find(verified.userId) : undefined
    const isSame = known?.user.epoch === verified.epoch
    if (isSame && (await this.#login.requireStillGood(known.user, normaliseName(name), client))) return known
    this.#verified.delete(mac)
    return undefined
  }

  /**
   * Concurrent requests with the same right credentials share one check. Wrong credentials are checked for each request
   * (D6.2).
   */
  async #checkOnce(mac: string, credentials: Credentials, client: Client): Promise<KnownUser> {
    const others = await this.#checking.get(mac)?.catch(() => undefined)
    // The shared check may have begun before the password changed, while this request arrived after the change.
    const known = others && (await this.#remembered(mac, credentials, client))
    if (known) return known
    const check = this.#check(mac, credentials, client).finally(() => this.#checking.delete(mac))
    this.#checking.set(mac, check)
    return await check
  }

  async #check(mac: string, credentials: Credentials, client: Client): Promise<KnownUser> {
    const user = await this.#login
      .withPassword({ ...credentials, mechanism: 'basic', client })
      .catch((error: unknown) => {
        // In a header, a text that cannot be a password is treated as a wrong password (D4.2).
        if (!(error instanceof InvalidInput)) throw error
        throw new Unauthenticated('wrong-credentials', WRONG, { cause: error })
      })
    const known = await this.#users.find(user.id)
    // The user may have been disabled, or their password changed, while the check was running.
    if (!known || known.user.disabled || known.user.epoch !== user.epoch) {
      throw new Unauthenticated('wrong-credentials', WRONG)
    }
    this.#remember(mac, user)
    return known
  }

  #remember(mac: string, user: User): void {
    const oldest = this.#verified.size < MAX_REMEMBERED ? undefined : this.#verified.keys().next().value
    if (oldest !== undefined) this.#verified.delete(oldest)
    this.#verified.set(mac, { userId: user.id, epoch: user.epoch, expires: this.#system.monotonic() + TTL })
  }

  #mac({ name, password }: Credentials): string {
    return createHmac('sha256', this.#key)
      .update(`${Buffer.byteLength(name)}:${name}${password}`)
      .digest('base64url')
  }
}
