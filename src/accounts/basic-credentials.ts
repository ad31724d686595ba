import { createHmac } from 'node:crypto'
import { InvalidInput, Unauthenticated } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import { normaliseName } from './users.ts'
import type { KnownUser, UserCache } from './user-cache.ts'
import type { Login } from './login.ts'
import type { Client } from './sessions.ts'

/** How long verified credentials are accepted without another hash. */
const TTL: Milliseconds = 300_000
/** The prefix of the keys of verified credentials in the store, and the maximum number of these keys. */
export const BASIC_PREFIX = 'basic:'
export const MAX_BASIC = 10_000
const WRONG = 'The user name or the password is wrong.'

interface Verified {
  readonly userId: string
  readonly epoch: number
}

type PasswordLogin = Pick<Login, 'withPassword' | 'requireStillGood'>

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
  readonly #login: PasswordLogin
  readonly #store: EphemeralStore
  readonly #key: Uint8Array
  readonly #checking = new Map<string, Promise<KnownUser>>()

  /**
   * @param store memory of this process, which its threads share
   * @param key random for each process, so a memory dump of another process reveals nothing
   */
  constructor(
    users: UserCache,
    login: PasswordLogin,
    { store, key }: { readonly store: EphemeralStore; readonly key: Uint8Array },
  ) {
    this.#users = users
    this.#login = login
    this.#store = store
    this.#key = key
  }

  /** @throws {Unauthenticated} `wrong-credentials` @throws {LockedOut} @throws {Forbidden} @throws {Overloaded} */
  async user(credentials: Credentials, client: Client): Promise<KnownUser> {
    const mac = this.#mac(credentials)
    return (await this.#remembered(mac, credentials, client)) ?? (await this.#checkOnce(mac, credentials, client))
  }

  /** Removes these credentials from the cache (D3.4). */
  async forget(credentials: Credentials): Promise<void> {
    await this.#store.take(BASIC_PREFIX + this.#mac(credentials))
  }

  async #remembered(mac: string, { name }: Credentials, client: Client): Promise<KnownUser | undefined> {
    const verified = await this.#store.get<Verified>(BASIC_PREFIX + mac)
    if (!verified) return undefined
    const known = await this.#users.find(verified.userId)
    const isSame = known?.user.epoch === verified.epoch
    if (isSame && (await this.#login.requireStillGood(known.user, normaliseName(name), client))) return known
    await this.#store.take(BASIC_PREFIX + mac)
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
    const verified: Verified = { userId: user.id, epoch: user.epoch }
    await this.#store.update(BASIC_PREFIX + mac, () => ({ value: verified, ttl: TTL }))
    return known
  }

  #mac({ name, password }: Credentials): string {
    return createHmac('sha256', this.#key)
      .update(`${Buffer.byteLength(name)}:${name}${password}`)
      .digest('base64url')
  }
}
