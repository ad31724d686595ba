import { LRUCache } from 'lru-cache'
import type { System } from '../base/system.ts'
import { type Milliseconds, type Seconds, UNLIMITED } from '../base/units.ts'
import type { Queries } from '../stores/database.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import { LogoutKeys, type SessionRef, SessionLists } from './session-lists.ts'
import { handleOf, userOfHandle, digestOf, type TokenSealer } from './tokens.ts'
import type { SessionLifetime, SessionOptions } from './session-options.ts'
import type { User } from './users.ts'
import { StoreUnavailable } from '../base/errors.ts'

/** Where a request comes from, as shown in the list of sessions. */
export interface Client {
  readonly address: string
  readonly userAgent: string
  /** The token of a trusted device, if the request carried one. */
  readonly device?: string | undefined
}

/** A session: what the server stores about one token. */
export interface Session {
  readonly token: string
  /** The key of the session in the store, if it is not the token: see {@link idOf}. */
  readonly id?: string
  readonly userId: string
  /** The user's epoch when the session was made. */
  readonly epoch: number
  /** With microseconds. */
  readonly loginTime: Milliseconds
  readonly lastAccess: Milliseconds
  readonly expires: Milliseconds
  /** How long the session lives without a request. */
  readonly maxAge: Seconds
  /** The cookie has no `Max-Age`. */
  readonly endsWithBrowser: boolean
  /** When the cookie was last sent to the browser, or would have been sent if the browser did not keep it anyway. */
  readonly cookieSent: Milliseconds
  readonly client: Client
  /** The session is never extended beyond this moment, because the identity provider's own session ends then. */
  readonly notAfter?: Milliseconds | undefined
  /** Name of the identity provider that the user signed in with; absent after a sign-in with a password. */
  readonly provider?: string | undefined
  /** The user proved a second factor in this session, or their identity provider did (D28). */
  readonly hasSecondFactor?: true | undefined
  /** The identity provider has checked a second factor, so the user needs none of their own in this session (D28.10). */
  readonly hasProviderFactor?: true | undefined
  /** When the user last proved who they are; absent: at the sign-in. */
  readonly authenticated?: Milliseconds | undefined
  /** What the provider's protocol needs to end the session there. */
  readonly providerSession?: string | undefined
}

/** A session as stored: in plain form in the memory of this process, sealed in other stores. */
type Stored = Session | SealedSession

interface SealedSession extends Omit<Session, 'id' | 'token'> {
  readonly sealed: string
}

/** What limits the life of a session. */
type Limits = Pick<Session, 'loginTime' | 'maxAge'> & { readonly notAfter?: Milliseconds | undefined }

/** How long the server keeps a session whose cookie ends with the browser (D2.5). */
const BROWSER_SESSION_TTL: Seconds = 86_400
const TOKEN_BYTES = 32
/** The form of a token. Texts of any other form are not looked up. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/
/** The cookie is sent again after this part of its lifetime, so that it never expires long before the session. */
const COOKIE_RENEWAL = 1 / 20

/** Enough for any list that a person reads. */
const MAX_LISTED = 10_000

const PREFIX = 'session:'
const sessionKey = (id: string): string => PREFIX + id

/**
 * Sessions (I2.1, I3.1; D2, D3). Stored under an id that the token sealer derives from the token, and
 * listed by user id, never by name. Callers must also check a session against its user's row ({@link
 * isCurrent}): a raised epoch revokes the session with the next request, even if the store still contains it.
 */
export class Sessions {
  readonly #store: EphemeralStore
  readonly #sealer: TokenSealer | undefined
  readonly #system: System
  readonly #options: SessionOptions
  readonly #logoutKeys: LogoutKeys
  readonly #lists: SessionLists
  readonly #maxTtl: Milliseconds
  /** Shares one string for equal `User-Agent` values, because most sessions have one of a few. */
  readonly #userAgents = new LRUCache<string, string>({ max: 1000, memoMethod: name => name })

  /** @param sealer keeps tokens out of the store; absent if the store is memory of this process, where its secrets are as well */
  constructor(store: EphemeralStore, sealer: TokenSealer | undefined, system: System, options: SessionOptions) {
    this.#store = store
    this.#sealer = sealer
    this.#system = system
    this.#options = options
    this.#logoutKeys = new LogoutKeys(store, system)
    const { absoluteMaxAge } = options
    this.#maxTtl = absoluteMaxAge === UNLIMITED ? Number.MAX_SAFE_INTEGER : absoluteMaxAge * 1000
    this.#lists = new SessionLists(store, this.#maxTtl)
  }

  async open(user: User, client: Client, lifetime: SessionLifetime = {}): Promise<Session> {
    const { requested, maximum = this.#options.maxAge, notAfter, provider, hasSecondFactor } = lifetime
    const { logoutKeys = [], providerSession, hasProviderFactor, authenticated } = lifetime
    const endsWithBrowser = maximum === UNLIMITED
    const longest = endsWithBrowser ? BROWSER_SESSION_TTL : maximum
    const now = this.#system.now()
    const loginTime = this.#system.preciseNow()
    const maxAge = Math.min(requested ?? longest, longest)
    const token = Buffer.from(this.#system.randomBytes(TOKEN_BYTES)).toString('base64url')
    const session: Session = {
      token,
      userId: user.id,
      epoch: user.epoch,
      loginTime,
      lastAccess: now,
      expires: this.#expiry({ loginTime, maxAge, notAfter }, now),
      maxAge,
      endsWithBrowser,
      cookieSent: now,
      // The token of a trusted device is a secret of its owner, and no list of sessions needs it.
      client: { address: client.address, userAgent: this.#userAgents.memo(client.userAgent) },
      notAfter,
      provider,
      authenticated,
      hasSecondFactor: hasSecondFactor || undefined,
      hasProviderFactor: hasProviderFactor || undefined,
      providerSession,
    }
    const id = this.#sealer?.idsOf(token)[0] ?? token
    await this.#store.add(sessionKey(id), this.#seal(session), session.expires - now)
    await this.#enlist(user.id, id)
    for (const key of logoutKeys) await this.#logoutKeys.add(key, { id, userId: user.id }, this.#maxTtl)
    return this.#sealer ? { ...session, id } : session
  }

  #seal(session: Session): Stored {
    if (!this.#sealer) return session
    const { token, ...others } = session
    return { ...others, sealed: this.#sealer.seal(token, session.userId) }
  }

  /** The live session of a token. The caller must check its user and epoch. */
  async find(token: string): Promise<Session | undefined> {
    if (!TOKEN.test(token)) return undefined
    return this.#sealer ? await this.#findUnder(this.#sealer.idsOf(token), token) : await this.#get<Session>(token)
  }

  /** Whether the session has not ended since it was found. @param queries the transaction in which this matters */
  async isLive(session: Session, queries: Queries): Promise<boolean> {
    const key = sessionKey(idOf(session))
    const store = this.#store
    const stored = await (store.getWithin ? store.getWithin<Stored>(queries, key) : store.get<Stored>(key))
    return stored !== undefined && this.#isLive(stored)
  }

  /** Tells all nodes that a session of the user has ended, so that they end its downloads and uploads. */
  async #noteEnd(userId: string): Promise<void> {
    await this.#options.onEnd?.(userId)
  }

  /** The session of the token under one of these ids. */
  async #findUnder(ids: readonly string[], token: string): Promise<Session | undefined> {
    for (const id of ids) {
      const stored = await this.#store.get<Stored>(sessionKey(id))
      const session = stored && 'sealed' in stored ? this.#unsealedBy(token, stored, id) : undefined
      if (session) return this.#isLive(session) ? session : undefined
    }
    return undefined
  }

  /** Absent when the token does not belong to the session. */
  #unsealedBy(token: string, stored: SealedSession, id: string): Session | undefined {
    return this.#sealer?.isOf(stored.sealed, token, stored.userId) === true ? unsealed(stored, id, token) : undefined
  }

  /** When the session ends if the current request succeeds. */
  expiryAfterAccess(session: Session): Milliseconds {
    return this.#options.refreshOnAccess ? this.#expiry(session, this.#system.now()) : session.expires
  }

  /**
   * Records the access of a finished request. A successful request extends the session when refreshing is on. Returns the
   * stored session if the browser needs the cookie again, else `undefined`.
   */
  async noteAccess(session: Session, successful: boolean): Promise<Session | undefined> {
    const now = this.#system.now()
    const prolongs = successful && this.#options.refreshOnAccess
    const renews = prolongs && now - session.cookieSent >= session.maxAge * 1000 * COOKIE_RENEWAL
    const access: Access = {
      lastAccess: now,
      expires: prolongs ? this.#expiry(session, now) : session.expires,
      cookieSent: renews ? now : session.cookieSent,
    }
    // An access that extends the session considerably is written: other nodes could take the session for expired.
    if (!renews && now - session.lastAccess < this.#options.accessInterval) return undefined
    try {
      const kept = await this.#change(idOf(session), current => touch(current, access))
      // The cookie is sent only when the access has been written.
      return renews && !session.endsWithBrowser && kept ? { ...session, ...access } : undefined
    } catch (error) {
      return unlessUnreachable(error)
    }
  }

  /** Notes that the user has just proved again who they are, by a second factor or otherwise. */
  async noteProof(session: Session, byFactor: boolean): Promise<void> {
    const proof = { authenticated: this.#system.now(), ...(byFactor ? { hasSecondFactor: true as const } : {}) }
    await this.#change(idOf(session), current => ({ ...current, ...proof }))
  }

  /** Seconds until the cookie of the session should expire; `undefined` when it ends with the browser. */
  cookieMaxAge(session: Session): Seconds | undefined {
    return session.endsWithBrowser ? undefined : Math.max(0, Math.ceil((session.expires - this.#system.now()) / 1000))
  }

  /** The user's live sessions of their current epoch, oldest sign-in first. */
  async list(user: User): Promise<Session[]> {
    const sessions = await Promise.all((await this.#lists.of(user.id)).map(id => this.#opened(id)))
    return sessions.filter(session => session !== undefined && isCurrent(session, user)) as Session[]
  }

  /** Sessions of all users, latest sign-in first, at most {@link MAX_LISTED}. The caller must check user and epoch. */
  async listAll(): Promise<Session[]> {
    const found: Session[] = []
    for await (const [key] of this.#store.scan<Stored>(PREFIX)) {
      const session = await this.#opened(key.slice(PREFIX.length))
      if (session) found.push(session)
      if (found.length >= MAX_LISTED) break
    }
    return found.sort((a, b) => b.loginTime - a.loginTime)
  }

  /** Ends the session with this handle, which contains the user's id. Returns false when there is none. */
  async endByHandle(handle: string): Promise<boolean> {
    const session = await this.findByHandle(handle)
    return session !== undefined && (await this.end(session.token))
  }

  /** The live session with this handle. The caller must check its user and epoch. */
  async findByHandle(handle: string): Promise<Session | undefined> {
    const userId = userOfHandle(handle)
    const ids = userId === undefined ? [] : await this.#lists.of(userId)
    for (const id of ids) {
      const session = await this.#opened(id)
      if (session && handleOf(session) === handle) return session
    }
    return undefined
  }

  /**
   * Ends the sessions that were opened with this logout key and returns those that were still alive. The key works once.
   * @param isFurther ends further sessions of the same users
   */
  async endByLogoutKey(logoutKey: string, isFurther?: (session: Session) => boolean): Promise<readonly SessionRef[]> {
    const named = await this.#logoutKeys.take(logoutKey)
    const ended: SessionRef[] = []
    for (const session of isFurther ? [...named, ...(await this.#further(named, isFurther))] : named) {
      if (!(await this.#store.take(sessionKey(session.id)))) continue
      ended.push(session)
      await this.#noteEnd(session.userId)
      await this.#lists.remove(session.userId, [session.id])
    }
    return ended
  }

  /** Other sessions of these users: a key names only the latest sessions. */
  async #further(named: readonly SessionRef[], isFurther: (session: Session) => boolean): Promise<SessionRef[]> {
    const found: SessionRef[] = []
    for (const userId of new Set(named.map(session => session.userId))) {
      for (const id of await this.#lists.of(userId)) {
        const session = await this.#opened(id)
        if (session && isFurther(session)) found.push({ id, userId })
      }
    }
    return found
  }

  /** Counts the live sessions of all users by reading each of them. */
  async count(): Promise<number> {
    return await this.#store.count(PREFIX)
  }

  /** Ends the session of the token. Returns false when there was none. */
  async end(token: string): Promise<boolean> {
    const session = await this.find(token)
    if (!session || !(await this.#store.take(sessionKey(idOf(session))))) return false
    await this.#noteEnd(session.userId)
    await this.#lists.remove(session.userId, [idOf(session)])
    return true
  }

  /** Ends all sessions of the user, except the given one. */
  async endAll(userId: string, except?: Session): Promise<void> {
    const ending = (await this.#lists.of(userId)).filter(id => !except || id !== idOf(except))
    for (const id of ending) await this.#store.take(sessionKey(id))
    if (ending.length > 0) await this.#noteEnd(userId)
    await this.#lists.remove(userId, ending)
  }

  /** Deletes sessions that a new epoch has already ended. If the store is unreachable they expire by themselves. */
  async clearAway(userId: string, except?: Session): Promise<void> {
    await this.endAll(userId, except).catch(unlessUnreachable)
  }

  /** The live session with this key of the store ({@link idOf}). The caller must check its user and epoch. */
  async findById(id: string): Promise<Session | undefined> {
    return await this.#opened(id)
  }

  async #opened(id: string): Promise<Session | undefined> {
    const stored = await this.#get(id)
    if (!stored || !('sealed' in stored)) return stored
    const token = this.#sealer?.open(stored.sealed, stored.userId)
    return token === undefined ? undefined : unsealed(stored, id, token)
  }

  /** The live session with this id. */
  async #get<Found extends Stored = Stored>(id: string): Promise<Found | undefined> {
    const stored = await this.#store.get<Found>(sessionKey(id))
    return stored && this.#isLive(stored) ? stored : undefined
  }

  #isLive({ expires }: Pick<Session, 'expires'>): boolean {
    return this.#system.now() < expires
  }

  #expiry({ loginTime, maxAge, notAfter = Infinity }: Limits, from: Milliseconds): Milliseconds {
    const { absoluteMaxAge } = this.#options
    const end = absoluteMaxAge === UNLIMITED ? Infinity : Math.floor(loginTime) + absoluteMaxAge * 1000
    return Math.min(from + maxAge * 1000, notAfter, end)
  }

  /** A session that was ended meanwhile stays ended. */
  #change(id: string, change: (current: Stored) => Stored): Promise<Stored | undefined> {
    return this.#store.update<Stored>(sessionKey(id), current => {
      const value = current && change(current)
      return value && { value, ttl: Math.max(0, value.expires - this.#system.now()) }
    })
  }

  async #enlist(userId: string, id: string): Promise<void> {
    const ids = await this.#lists.add(userId, id)
    if (ids.length <= this.#options.maxPerUser) return
    const found = await Promise.all(ids.map(async id => await this.#get(id)))
    const live = ids.filter((_id, index) => found[index] !== undefined)
    const surplus = live.slice(0, Math.max(0, live.length - this.#options.maxPerUser))
    for (const id of surplus) await this.#store.take(sessionKey(id))
    if (surplus.length > 0) await this.#noteEnd(userId)
    const kept = new Set(live.slice(surplus.length))
    await this.#lists.remove(
      userId,
      ids.filter(id => !kept.has(id)),
    )
  }
}

function unsealed({ sealed: _sealed, ...session }: SealedSession, id: string, token: string): Session {
  return { ...session, id, token }
}

/** The key of a session in the store; never shown to users. */
export const idOf = ({ id, token }: Session): string => id ?? token

/**
 * Whether the session is valid for the user as they are now: it was kept when their epoch was raised, or it was created under the present
 * epoch, with a second factor if the user has one. A kept session has proven the factors of the user, or added the first one (D28.4), so a
 * request that began before is not refused at its end.
 */
export const isCurrent = ({ epoch, token, hasSecondFactor }: Session, user: User): boolean =>
  isKept(token, user) || (epoch === user.epoch && (hasSecondFactor === true || !user.hasSecondFactor))

const isKept = (token: string, { keptSessionDigest }: User): boolean =>
  keptSessionDigest !== undefined && keptSessionDigest === digestOf(token)

/** What a request records in its session. */
type Access = Pick<Session, 'lastAccess' | 'expires' | 'cookieSent'>

/**
 * Records an access in the session object itself and returns it: a copy for each request would be most of the garbage that the request
 * creates. If several nodes record accesses, the latest access is kept, in whatever order they are written.
 */
export function touch<Accessed extends Access>(session: Accessed, access: Access): Accessed {
  return Object.assign(session, {
    lastAccess: Math.max(session.lastAccess, access.lastAccess),
    expires: Math.max(session.expires, access.expires),
    cookieSent: Math.max(session.cookieSent, access.cookieSent),
  })
}

/** For writes that may be lost: the session is then less fresh, or expires by itself. */
export const unlessUnreachable = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error
}
