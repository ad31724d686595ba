import { createHash } from 'node:crypto'
import { StoreUnavailable } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { LruCache } from '../base/lru-cache.ts'
import { type Milliseconds, type Seconds, UNLIMITED } from '../base/units.ts'
import type { EphemeralStore, Kept } from '../stores/ephemeral-store.ts'
import { type Access, AccessWriteBuffer } from './access-write-buffer.ts'
import { digestOf } from './token-digest.ts'
import type { TokenSealer } from './token-sealer.ts'
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
  /** What the store calls it; told to nobody. */
  readonly id: string
  readonly userId: string
  /** The user's epoch when the session was made. */
  readonly epoch: number
  readonly loginTime: Milliseconds
  readonly lastAccess: Milliseconds
  readonly expires: Milliseconds
  /** How long the session lives without a call. */
  readonly maxAge: Seconds
  /** The cookie has no `Max-Age`. */
  readonly endsWithBrowser: boolean
  /** When the browser was last given the cookie, or would have been if it did not keep it anyway. */
  readonly cookieSent: Milliseconds
  readonly client: Client
  /** Nothing prolongs the session beyond this moment: the identity provider's own session ends then. */
  readonly notAfter?: Milliseconds
  /** Name of the identity provider that the user signed in with; absent after a login with a password. */
  readonly provider?: string
}

export interface SessionOptions {
  /** Longest life without a call; -1: the cookie is a browser-session cookie and the server keeps the login a day (D2.5). */
  readonly maxAge: Seconds
  readonly refreshOnAccess: boolean
  /** Nothing prolongs a session beyond this (D2.6); -1 for no end. */
  readonly absoluteMaxAge: Seconds
  /** Live logins of one user; the oldest goes when one more is made (D2.6). */
  readonly mostPerUser: number
  /** How long the time of an access may wait to be written, together with others; 0: each is written at once. */
  readonly writeDelay: Milliseconds
  /** An access is written at once if the last one is longer ago than `writeDelay`: where writing costs little. */
  readonly writesFirstAtOnce?: boolean
}

/** A session as the store has it: with what the vault lets it know of the token. */
interface Stored extends Omit<Session, 'id' | 'token'> {
  readonly sealed: string
}

/** How long one login may live, where that is not as configured for all. */
export interface Life {
  /** `auth_maxage`, at least 1; capped to the maximum (D2.3). */
  readonly requested?: Seconds | undefined
  /** Instead of the configured maximum, and with the same meaning of -1: logins by others have their own (interface 5.3, 5.4). */
  readonly maximum?: Seconds | undefined
  /** The login ends at this moment at the latest, wall clock. */
  readonly notAfter?: Milliseconds | undefined
  /** Name of the identity provider. */
  readonly provider?: string | undefined
}

/** Server-side life of a login whose cookie ends with the browser (D2.5). */
const BROWSER_SESSION_TTL: Seconds = 86_400
const TOKEN_BYTES = 32
/** Nothing else is looked up. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/
/** The cookie is sent again once this part of its life is gone, so that it never dies long before the session. */
const COOKIE_RENEWAL = 1 / 20

/** Enough for any list that a person reads. */
const MAX_LISTED = 10_000

const PREFIX = 'session:'
const sessionKey = (id: string): string => PREFIX + id
const listKey = (userId: string): string => `sessions-of:${userId}`

/**
 * Login sessions (interface 2.1, 3.1; D2, D3). Keyed by what the vault makes of the token, and by user id, never by name. A
 * session is only as good as its user's row says ({@link isCurrent}): whoever recognises a caller asks, so a raised epoch revokes with the
 * next request even if the store still holds the session.
 */
export class Sessions {
  readonly #store: EphemeralStore
  readonly #vault: TokenSealer
  readonly #system: System
  readonly #options: SessionOptions
  readonly #notes: AccessWriteBuffer
  /** One copy of each browser's name: most logins have one of a few. */
  readonly #userAgents = new LruCache(name => name, 1000)

  constructor(store: EphemeralStore, vault: TokenSealer, system: System, options: SessionOptions) {
    this.#store = store
    this.#vault = vault
    this.#system = system
    this.#options = options
    this.#notes = new AccessWriteBuffer(options.writeDelay, notes => this.#writeNotes(notes))
  }

  async open(user: User, client: Client, life: Life = {}): Promise<Session> {
    const { requested, maximum = this.#options.maxAge, notAfter, provider } = life
    const endsWithBrowser = maximum === UNLIMITED
    const longest = endsWithBrowser ? BROWSER_SESSION_TTL : maximum
    const now = this.#system.now()
    const maxAge = Math.min(requested ?? longest, longest)
    const token = Buffer.from(this.#system.randomBytes(TOKEN_BYTES)).toString('base64url')
    const fresh: Stored = {
      sealed: this.#vault.seal(token, user.id),
      userId: user.id,
      epoch: user.epoch,
      loginTime: now,
      lastAccess: now,
      expires: 0,
      maxAge,
      endsWithBrowser,
      cookieSent: now,
      // A device's token is its owner's secret; no list of logins needs it.
      client: { address: client.address, userAgent: this.#userAgents.get(client.userAgent) },
      ...(notAfter === undefined ? {} : { notAfter }),
      ...(provider === undefined ? {} : { provider }),
    }
    const stored = { ...fresh, expires: this.#expiry(fresh, now) }
    const [id] = this.#vault.idsOf(token)
    await this.#store.add(sessionKey(id), stored, stored.expires - now)
    await this.#enlist(user.id, id)
    return { ...stored, id, token }
  }

  /** The live session of a token; its user and epoch are for the caller to check. */
  async find(token: string): Promise<Session | undefined> {
    if (!TOKEN.test(token)) return undefined
    for (const id of this.#vault.idsOf(token)) {
      const stored = await this.#get(id)
      if (stored && this.#vault.isOf(stored.sealed, token, stored.userId)) return { ...stored, id, token }
    }
    return undefined
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
    const renews = prolongs && now - session.cookieSent >= session.maxAge * 1000 * COOKIE_RENEWAL
    const access: Access = {
      lastAccess: now,
      expires: prolongs ? this.#expiry(session, now) : session.expires,
      cookieSent: renews ? now : session.cookieSent,
    }
    // What prolongs a session by more than a little does not wait, so that no other node believes it has run out.
    const { writeDelay, writesFirstAtOnce } = this.#options
    const isFirst = writesFirstAtOnce === true && now - session.lastAccess >= writeDelay
    const waits = !renews && !isFirst && writeDelay > 0
    const kept = waits ? undefined : await this.#change(session.id, withAccess(access)).catch(unlessUnreachable)
    // The cookie is sent only with what is written.
    if (waits || kept === UNREACHABLE) this.#notes.add(session.id, { ...access, cookieSent: session.cookieSent })
    if (!renews || session.endsWithBrowser || !kept || kept === UNREACHABLE) return undefined
    return { ...session, ...access }
  }

  /** Whole seconds until the cookie of the session should end; `undefined` when it ends with the browser. */
  cookieLife(session: Session): Seconds | undefined {
    if (session.endsWithBrowser) return undefined
    return Math.max(0, Math.ceil((session.expires - this.#system.now()) / 1000))
  }

  /** The user's live sessions of the given epoch, oldest login first. */
  async list(user: User): Promise<Session[]> {
    const sessions = await Promise.all((await this.#idsOf(user.id)).map(id => this.#opened(id)))
    return sessions.filter(session => session !== undefined && isCurrent(session, user)) as Session[]
  }

  /** Sessions of all users, the latest login first, at most {@link MAX_LISTED}; user and epoch are for the caller to check. */
  async listAll(): Promise<Session[]> {
    const found: Session[] = []
    for await (const [key] of this.#store.scan<Stored>(PREFIX)) {
      const session = await this.#opened(key.slice(PREFIX.length))
      if (session) found.push(session)
      if (found.length >= MAX_LISTED) break
    }
    return found.sort((a, b) => b.loginTime - a.loginTime)
  }

  /** Ends the session with this handle, which says whose it is; false when there is none. */
  async endByHandle(handle: string): Promise<boolean> {
    const userId = userOfHandle(handle)
    const ids = userId === undefined ? [] : await this.#idsOf(userId)
    for (const id of ids) {
      const session = await this.#opened(id)
      if (session && handleOf(session) === handle) return await this.end(session.token)
    }
    return false
  }

  /** Live logins of everybody; it looks at each of them. */
  async count(): Promise<number> {
    return await this.#store.count(PREFIX)
  }

  /** Ends the session of the token; false when there was none. */
  async end(token: string): Promise<boolean> {
    const session = await this.find(token)
    if (!session || !(await this.#store.take(sessionKey(session.id)))) return false
    await this.#delist(session.userId, [session.id])
    return true
  }

  /** Ends the user's sessions, all of them or all but one. */
  async endAll(userId: string, except?: Session): Promise<void> {
    const ending = (await this.#idsOf(userId)).filter(id => id !== except?.id)
    for (const id of ending) await this.#store.take(sessionKey(id))
    await this.#delist(userId, ending)
  }

  /** Takes sessions out of the store that a new epoch has ended already; where it cannot be reached they run out. */
  async clearAway(userId: string, except?: Session): Promise<void> {
    await this.endAll(userId, except).catch(unlessUnreachable)
  }

  /** Writes what waits to be written. */
  async close(): Promise<void> {
    await this.#notes.flush()
  }

  async #opened(id: string): Promise<Session | undefined> {
    const stored = await this.#get(id)
    const token = stored && this.#vault.open(stored.sealed, stored.userId)
    return stored && token !== undefined ? { ...stored, id, token } : undefined
  }

  /** What is live under the id, with the access that waits to be written. */
  async #get(id: string): Promise<Stored | undefined> {
    const stored = await this.#store.get<Stored>(sessionKey(id))
    const noted = stored && this.#notes.of(id)
    const present = stored && noted ? withAccess(noted)(stored) : stored
    return present && this.#system.now() < present.expires ? present : undefined
  }

  #expiry(session: Pick<Session, 'loginTime' | 'maxAge' | 'notAfter'>, from: Milliseconds): Milliseconds {
    const sliding = Math.min(from + session.maxAge * 1000, session.notAfter ?? Number.POSITIVE_INFINITY)
    if (this.#options.absoluteMaxAge === UNLIMITED) return sliding
    return Math.min(sliding, session.loginTime + this.#options.absoluteMaxAge * 1000)
  }

  /** A session that was ended meanwhile stays ended. */
  #change(id: string, change: (current: Stored) => Stored): Promise<Stored | undefined> {
    return this.#store.update<Stored>(sessionKey(id), current => current && this.#kept(change(current)))
  }

  #kept(value: Stored): Kept<Stored> {
    return { value, ttl: Math.max(0, value.expires - this.#system.now()) }
  }

  async #writeNotes(notes: ReadonlyMap<string, Access>): Promise<void> {
    const byKey = new Map([...notes].map(([id, access]) => [sessionKey(id), withAccess(access)]))
    await this.#store.updateAll<Stored>([...byKey.keys()], (key, old) => this.#kept(byKey.get(key)?.(old) ?? old))
  }

  async #idsOf(userId: string): Promise<readonly string[]> {
    return (await this.#store.get<readonly string[]>(listKey(userId))) ?? []
  }

  async #enlist(userId: string, id: string): Promise<void> {
    const ids = await this.#changeList(userId, list => [...list, id])
    if (ids.length <= this.#options.mostPerUser) return
    const found = await Promise.all(ids.map(id => this.#get(id)))
    const live = ids.filter((_id, index) => found[index] !== undefined)
    const surplus = live.slice(0, Math.max(0, live.length - this.#options.mostPerUser))
    for (const id of surplus) await this.#store.take(sessionKey(id))
    const kept = new Set(live.slice(surplus.length))
    await this.#delist(
      userId,
      ids.filter(id => !kept.has(id)),
    )
  }

  async #delist(userId: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const gone = new Set(ids)
    await this.#changeList(userId, list => list.filter(id => !gone.has(id)))
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

/**
 * Names a login for other users: whoever knows the handle can end the login if they are permitted to, but cannot use it. It has a
 * dot, which no token has.
 */
export const handleOf = ({ token, userId }: Pick<Session, 'token' | 'userId'>): string =>
  `${createHash('sha256').update(`handle\n${token}`).digest('base64url')}.${userId}`

/** Whose login a handle names; `undefined` for a token. */
export function userOfHandle(handle: string): string | undefined {
  const dot = handle.indexOf('.')
  return dot < 0 ? undefined : handle.slice(dot + 1)
}

/** Whether the session is one of the user as he is now: made under his present epoch, or spared when it was raised. */
export const isCurrent = ({ epoch, token }: Session, user: User): boolean =>
  epoch === user.epoch || (user.keptSessionDigest !== undefined && user.keptSessionDigest === digestOf(token))

/** Of accesses noted by several nodes the later counts, in whatever order they are written. */
const withAccess =
  (access: Access) =>
  (stored: Stored): Stored => ({
    ...stored,
    lastAccess: Math.max(stored.lastAccess, access.lastAccess),
    expires: Math.max(stored.expires, access.expires),
    cookieSent: Math.max(stored.cookieSent, access.cookieSent),
  })

const UNREACHABLE = Symbol('unreachable')

const unlessUnreachable = (error: unknown): typeof UNREACHABLE => {
  if (error instanceof StoreUnavailable) return UNREACHABLE
  throw error
}
