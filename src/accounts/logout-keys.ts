import { createHash } from 'node:crypto'
import type { Milliseconds } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'

/** A session as the entry of a logout key names it. */
export interface SessionRef {
  readonly id: string
  readonly userId: string
}

/** How long a single logout can end the sessions of a sign-on. CAS servers end their own sessions much earlier. */
const MAX_AGE: Milliseconds = 30 * 86_400_000
/** Maximum number of sessions for one key. A CAS ticket has one. */
const MAX_SESSIONS = 100

const keyOf = (logoutKey: string): string =>
  `sessions-by-key:${createHash('sha256').update(logoutKey).digest('base64url')}`

/**
 * The sessions that an identity provider can end, by the logout key of their sign-on (D19.11). Stored beside
 * the sessions, so that a logout sent to one node works for all. The key is a secret between the provider and
 * this service: only its digest is stored.
 */
export class LogoutKeys {
  readonly #store: EphemeralStore

  constructor(store: EphemeralStore) {
    this.#store = store
  }

  async add(logoutKey: string, session: SessionRef, ttl: Milliseconds): Promise<void> {
    const life = Math.min(ttl, MAX_AGE)
    await this.#store.update<readonly SessionRef[]>(keyOf(logoutKey), (old = []) => ({
      value: [...old, session].slice(-MAX_SESSIONS),
      ttl: life,
    }))
  }

  /** Removes the key and returns its sessions: a second logout with the key finds none. */
  async take(logoutKey: string): Promise<readonly SessionRef[]> {
    return (await this.#store.take<readonly SessionRef[]>(keyOf(logoutKey))) ?? []
  }
}
