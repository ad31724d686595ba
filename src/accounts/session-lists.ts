import type { Milliseconds } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import { createHash } from 'node:crypto'
import type { System } from '../base/system.ts'

const listKey = (userId: string): string => `sessions-of:${userId}`

/** The ids of each user's sessions, in the order of their sign-ins. A session that expired stays in its list until the next sign-in. */
export class SessionLists {
  readonly #store: EphemeralStore
  readonly #maxTtl: Milliseconds

  /** @param maxTtl of a session. A list lives as long, counted from its last change. */
  constructor(store: EphemeralStore, maxTtl: Milliseconds) {
    this.#store = store
    this.#maxTtl = maxTtl
  }

  async of(userId: string): Promise<readonly string[]> {
    return (await this.#store.get<readonly string[]>(listKey(userId))) ?? []
  }

  /** Resolves to the list with the new session. */
  async add(userId: string, id: string): Promise<readonly string[]> {
    return await this.#change(userId, list => [...list, id])
  }

  async remove(userId: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const gone = new Set(ids)
    await this.#change(userId, list => list.filter(id => !gone.has(id)))
  }

  async #change(userId: string, change: (list: readonly string[]) => readonly string[]): Promise<readonly string[]> {
    const kept = await this.#store.update<readonly string[]>(listKey(userId), old => {
      const value = change(old ?? [])
      return value.length === 0 ? undefined : { value, ttl: this.#maxTtl }
    })
    return kept ?? []
  }
}

/** A session as the entry of a logout key names it. */
export interface SessionRef {
  readonly id: string
  readonly userId: string
}

/** How long a single logout can end the sessions of a sign-on. Most providers end their own sessions much earlier. */
const MAX_AGE: Milliseconds = 30 * 86_400_000
/** Maximum number of sessions for one key. Most have one. */
const MAX_SESSIONS = 100

const shortened = (logoutKey: string): string => createHash('sha256').update(logoutKey).digest('base64url')
const keyOf = (logoutKey: string): string => `sessions-by-key:${shortened(logoutKey)}`
const pendingKeyOf = (logoutKey: string): string => `pending-by-key:${shortened(logoutKey)}`
const MARK_BYTES = 16

/** The logout key by which a provider ends all sign-ins of a user that wait for a second factor. */
export const userLogoutKey = (provider: string, userId: string): string => `${provider}\nuser:${userId}`

/**
 * The sessions that an identity provider can end, by the logout key of their sign-on (D19.11). Stored beside
 * the sessions, so that a logout sent to one node works for all. The key is a secret between the provider and
 * this service: only its digest is stored.
 */
export class LogoutKeys {
  readonly #store: EphemeralStore
  readonly #system: Pick<System, 'randomBytes'>

  constructor(store: EphemeralStore, system: Pick<System, 'randomBytes'>) {
    this.#store = store
    this.#system = system
  }

  async add(logoutKey: string, session: SessionRef, ttl: Milliseconds): Promise<void> {
    const life = Math.min(ttl, MAX_AGE)
    await this.#store.update<readonly SessionRef[]>(keyOf(logoutKey), (old = []) => ({
      value: [...old, session].slice(-MAX_SESSIONS),
      ttl: life,
    }))
  }

  /**
   * Leaves a mark under each key for a sign-in that waits, and returns the marks. A logout removes them, so a message with an unknown key
   * stores nothing.
   */
  async addPending(logoutKeys: readonly string[], ttl: Milliseconds): Promise<readonly string[]> {
    const marks: string[] = []
    for (const key of logoutKeys) {
      const fresh = Buffer.from(this.#system.randomBytes(MARK_BYTES)).toString('base64url')
      marks.push((await this.#store.update<string>(pendingKeyOf(key), (old = fresh) => ({ value: old, ttl }))) ?? fresh)
    }
    return marks
  }

  /** Whether no logout with one of these keys has arrived since the marks were left. */
  async arePending(logoutKeys: readonly string[], marks: readonly string[]): Promise<boolean> {
    for (const [at, key] of logoutKeys.entries()) {
      if ((await this.#store.get<string>(pendingKeyOf(key))) !== marks[at]) return false
    }
    return true
  }

  /** Removes the key and returns its sessions: a second logout with the key finds none. Sign-ins that wait end first. */
  async take(logoutKey: string): Promise<readonly SessionRef[]> {
    await this.#store.take(pendingKeyOf(logoutKey))
    return (await this.#store.take<readonly SessionRef[]>(keyOf(logoutKey))) ?? []
  }
}
