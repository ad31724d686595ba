import type { Milliseconds } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'

const listKey = (userId: string): string => `sessions-of:${userId}`

/** The ids of each user's sessions, in the order of their logins. A session that expired stays in its list until the next login. */
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
