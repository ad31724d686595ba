import type { Database } from '../stores/database.ts'
import { RevisionCache } from '../stores/revision-cache.ts'
import { groupsOf } from './groups.ts'
import { findUser, type User } from './users.ts'

/** A user as a request needs him: with the groups that he is a stored member of. */
export interface KnownUser {
  readonly user: User
  readonly groups: ReadonlySet<string>
}

const MAX_KNOWN = 10_000

/** Users as they are now: whoever asks for each request anew sees a revoked right with the next one. */
export class UserCache {
  readonly #database: Database
  readonly #known: RevisionCache<KnownUser>

  constructor(database: Database) {
    this.#database = database
    this.#known = new RevisionCache(database, MAX_KNOWN)
  }

  async find(id: string): Promise<KnownUser | undefined> {
    return await this.#known.get(id, () => this.#look(id))
  }

  async #look(id: string): Promise<KnownUser | undefined> {
    const user = await findUser(this.#database, id)
    return user && { user, groups: new Set(await groupsOf(this.#database, id)) }
  }
}
