import type { Database } from '../stores/database.ts'
import { groupsOf } from './groups.ts'
import { findUser, type User } from './users.ts'

/** A user as a request needs him: with the groups that he is a stored member of. */
export interface KnownUser {
  readonly user: User
  readonly groups: ReadonlySet<string>
}

/** Beyond so many the memory starts anew. */
const MOST_KNOWN = 10_000

/**
 * Users as they are now, for each request anew: a revoked right counts with the next one. Where the database can tell that
 * nothing has changed since the last look, that look is still good.
 */
export class KnownUsers {
  readonly #database: Database
  readonly #known = new Map<string, KnownUser>()
  #revision: number | undefined

  constructor(database: Database) {
    this.#database = database
  }

  async find(id: string): Promise<KnownUser | undefined> {
    const { revision } = this.#database
    const known = revision !== undefined && revision === this.#revision ? this.#known.get(id) : undefined
    return known ?? (await this.#look(id, revision))
  }

  async #look(id: string, revision: number | undefined): Promise<KnownUser | undefined> {
    const user = await findUser(this.#database, id)
    if (!user) return undefined
    const found = { user, groups: new Set(await groupsOf(this.#database, id)) }
    // What was changed meanwhile may have been read half before it and half after.
    if (revision !== undefined && revision === this.#database.revision) this.#remember(found, revision)
    return found
  }

  #remember(found: KnownUser, revision: number): void {
    if (revision !== this.#revision || this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#revision = revision
    this.#known.set(found.user.id, found)
  }
}
