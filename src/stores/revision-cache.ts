import type { Database } from './database.ts'

/** What was found in a database, for as long as the database can tell that nothing has changed there. */
export class RevisionCache<T> {
  readonly #database: Pick<Database, 'revision'>
  readonly #most: number
  readonly #found = new Map<string, T>()
  #revision: number | undefined

  /** @param most beyond so many the memory starts anew */
  constructor(database: Pick<Database, 'revision'>, most: number) {
    this.#database = database
    this.#most = most
  }

  /** What `look` finds under the key, now or before; nothing found is not remembered. Rejects as `look` does. */
  async get<R extends T | undefined>(key: string, look: () => Promise<R>): Promise<T | R> {
    const { revision } = this.#database
    const known = revision !== undefined && revision === this.#revision ? this.#found.get(key) : undefined
    if (known !== undefined) return known
    const found = await look()
    // What changed meanwhile may have been read half before it and half after.
    if (found !== undefined && revision !== undefined && revision === this.#database.revision) {
      if (revision !== this.#revision || this.#found.size >= this.#most) this.#found.clear()
      this.#revision = revision
      this.#found.set(key, found)
    }
    return found
  }
}
