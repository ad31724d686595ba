import type { System } from '../base/system.ts'
import { type Milliseconds, type Seconds, UNLIMITED } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import type { User } from './users.ts'

/** Where a request comes from, as the login list shows it. */
export interface Client {
  readonly address: string
  readonly userAgent: string
  /** The token of a trusted device, if the request carried one. */
  readonly device?: string | undefined
}

/** A login: what the server keeps about one token. */
export interface Session {
  readonly token: string
  readonly userId: string
  /** The user's epoch when the session was made or last confirmed; another one ends it. */
  readonly epoch: number
  /** Set while the user changes his own password: the epoch that the change, once done, will give him. */
  readonly nextEpoch?: number
  readonly loginTime: Milliseconds
  readonly lastAccess: Milliseconds
  readonly expires: Milliseconds
  /** How long the session lives without a call. */
  readonly maxAge: Seconds
  /** The cookie has no `Max-Age`. */
  readonly endsWithBrowser: boolean
  /** When the browser was last given the cookie. */
  readonly cookieSent: Milliseconds
  readonly client: Client
}

export interface SessionOptions {
  /** Longest life without a call; -1: the cookie is a browser-session cookie and the server keeps the login a day (D2.5). */
  readonly maxAge: Seconds
  readonly refreshOnAccess: boolean
  /** Nothing prolongs a session beyond this (D2.6); -1 for no end. */
  readonly absoluteMaxAge: Seconds
  /** Live logins of one user; the oldest goes when one more is made (D2.6). */
  readonly mostPerUser: number
}

/** How long one login may live, where that is not as configured for all. */
export interface Life {
  /** `auth_maxage`, at least 1; capped to the maximum (D2.3). */
  readonly requested?: Seconds | undefined
  /** Instead of the configured maximum, and with the same meaning of -1: logins by others have their own (interface 5.3, 5.4). */
  readonly maximum?: Seconds | undefined
}

/** Server-side life of a login whose cookie ends with the browser (D2.5). */
const BROWSER_SESSION_LIFE: Seconds = 86_400
const TOKEN_BYTES = 32
/** The cookie is sent again once this part of its life is gone, so that it never dies long before the session. */
const COOKIE_RENEWAL = 1 / 20

const sessionKey = (token: string): string => `session:${token}`
const listKey = (userId: string): string => `sessions-of:${userId}`

/**
 * Login sessions (interface 2.1, 3.1; D2, D3). Keyed by token and user id, never by name. A session is only as good as its
 * user's epoch: whoever recognises a caller compares it, so a raised epoch revokes with the next request even if the
 * store still holds the session.
 */
export class Sessions {
  readonly #store: EphemeralStore
  readonly #system: System
  readonly #options: SessionOptions

  constructor(store: EphemeralStore, system: System, options: SessionOptions) {
    this.#store = store
    this.#system = system
    this.#options = options
  }

  async open(user: User, client: Client, { requested, maximum = this.#options.maxAge }: Life = {}): Promise<Session> {
    const endsWithBrowser = maximum === UNLIMITED
    const longest = endsWithBrowser ? BROWSER_SESSION_LIFE : maximum
    const now = this.#system.now()
    const maxAge = Math.min(requested ?? longest, longest)
    const fresh: Session = {
      token: Buffer.from(this.#system.randomBytes(TOKEN_BYTES)).toString('base64url'),
      userId: user.id,
      epoch: user.epoch,
      loginTime: now,
      lastAccess: now,
      expires: 0,
      maxAge,
      endsWithBrowser,
      cookieSent: now,
      // A device's token is its owner's secret; no list of logins needs it.
      client: { address: client.address, userAgent: client.userAgent },
    }
    const session = { ...fresh, expires: this.#expiry(fresh, now) }
    await this.#store.add(sessionKey(session.token), session, session.expires - now)
    await this.#enlist(session)
    return session
  }

  /** The live session of a token; its user and epoch are for the caller to check. */
  async find(token: string): Promise<Session | undefined> {
    const session = await this.#store.get<Session>(sessionKey(token))
    return session && this.#system.now() < session.expires ? session : undefined
  }

  /** When the session will end if the request in hand succeeds. */
  expiryAfterAccess(session: Session): Milliseconds {
    return this.#options.refreshOnAccess ? this.#expiry(session, this.#system.now()) : session.expires
  }

  /**
   * Notes a finished request. A successful one prolongs the session when refreshing is on. The result is the session as
   * kept now if the browser needs the cookie again, else `undefined`.
   */
  async noteAccess(session: Session, successful: boolean): Promise<Session | undefined> {
    const now = this.#system.now()
    const prolongs = successful && this.#options.refreshOnAccess
    const renewsCookie =
      prolongs && !session.endsWithBrowser && now - session.cookieSent >= session.maxAge * 1000 * COOKIE_RENEWAL
    const kept = await this.#change(session.token, current => ({
      ...current,
      lastAccess: now,
      expires: prolongs ? this.#expiry(current, now) : current.expires,
      cookieSent: renewsCookie ? now : current.cookieSent,
    }))
    return renewsCookie ? kept : undefined
  }

  /** Whether the session was made under the user's present epoch. */
  isCurrent({ epoch, nextEpoch }: Session, user: User): boolean {
    return epoch === user.epoch || nextEpoch === user.epoch
  }

  /**
   * Runs a change that gives the user a new epoch, and lets this one session of his go on (D5.3): at every moment, also for
   * other requests with the same token. If the change fails, the session is as it was.
   */
  async surviving<T>(session: Session, change: () => Promise<T>): Promise<T> {
    const { token, epoch } = session
    const nextEpoch = epoch + 1
    const settle = (epoch: number): Promise<unknown> =>
      this.#change(token, ({ nextEpoch: _settled, ...current }) => ({ ...current, epoch }))
    await this.#change(token, current => ({ ...current, nextEpoch }))
    try {
      const result = await change()
      await settle(nextEpoch)
      return result
    } catch (error) {
      await settle(epoch)
      throw error
    }
  }

  /** Whole seconds until the cookie of the session should end; `undefined` when it ends with the browser. */
  cookieLife(session: Session): Seconds | undefined {
    if (session.endsWithBrowser) return undefined
    return Math.max(0, Math.ceil((session.expires - this.#system.now()) / 1000))
  }

  /** The user's live sessions of the given epoch, oldest login first. */
  async list(user: User): Promise<Session[]> {
    const tokens = (await this.#store.get<readonly string[]>(listKey(user.id))) ?? []
    const sessions = await Promise.all(tokens.map(token => this.find(token)))
    return sessions.filter(session => session !== undefined && this.isCurrent(session, user)) as Session[]
  }

  /** Ends the session of the token; false when there was none. */
  async end(token: string): Promise<boolean> {
    const session = await this.#store.take<Session>(sessionKey(token))
    if (!session) return false
    await this.#delist(session.userId, [token])
    return this.#system.now() < session.expires
  }

  /** Ends the user's sessions, all of them or all but one. */
  async endAll(userId: string, except?: Session): Promise<void> {
    const tokens = (await this.#store.get<readonly string[]>(listKey(userId))) ?? []
    const ending = tokens.filter(token => token !== except?.token)
    for (const token of ending) await this.#store.take(sessionKey(token))
    await this.#delist(userId, ending)
  }

  #expiry(session: Session, from: Milliseconds): Milliseconds {
    const sliding = from + session.maxAge * 1000
    if (this.#options.absoluteMaxAge === UNLIMITED) return sliding
    return Math.min(sliding, session.loginTime + this.#options.absoluteMaxAge * 1000)
  }

  /** A session that was ended meanwhile stays ended. */
  #change(token: string, change: (current: Session) => Session): Promise<Session | undefined> {
    return this.#store.update<Session>(sessionKey(token), current => {
      if (!current) return undefined
      const value = change(current)
      return { value, ttl: Math.max(0, value.expires - this.#system.now()) }
    })
  }

  async #enlist(session: Session): Promise<void> {
    const tokens = await this.#changeList(session.userId, list => [...list, session.token])
    if (tokens.length <= this.#options.mostPerUser) return
    const live = []
    for (const token of tokens) if (await this.find(token)) live.push(token)
    const surplus = live.slice(0, Math.max(0, live.length - this.#options.mostPerUser))
    for (const token of surplus) await this.#store.take(sessionKey(token))
    const kept = new Set(live.slice(surplus.length))
    await this.#delist(
      session.userId,
      tokens.filter(token => !kept.has(token)),
    )
  }

  async #delist(userId: string, tokens: readonly string[]): Promise<void> {
    if (tokens.length === 0) return
    const gone = new Set(tokens)
    await this.#changeList(userId, list => list.filter(token => !gone.has(token)))
  }

  async #changeList(
    userId: string,
    change: (list: readonly string[]) => readonly string[],
  ): Promise<readonly string[]> {
    const kept = await this.#store.update<readonly string[]>(listKey(userId), old => {
      const value = change(old ?? [])
      // The list lives as long as anything in it may: the longest life there is, counted from its last change.
      return value.length === 0 ? undefined : { value, ttl: this.#longestLife() }
    })
    return kept ?? []
  }

  #longestLife(): Milliseconds {
    return this.#options.absoluteMaxAge === UNLIMITED ? Number.MAX_SAFE_INTEGER : this.#options.absoluteMaxAge * 1000
  }
}
