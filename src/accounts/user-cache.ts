import type { Bytes } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { groupsOf } from './groups.ts'
import { findUser, type User } from './users.ts'

/** A user with the groups that they are a stored member of, as each request needs them. */
export interface KnownUser {
  readonly user: User
  readonly groups: ReadonlySet<string>
}

/** Estimated size of a user with a few custom properties, or of a group. */
const USER_BYTES: Bytes = 2000
const GROUP_BYTES: Bytes = 100

/** Caches users. Each request checks the store's revision first, so a revoked right takes effect with the next request. */
export class UserCache {
  readonly #database: Database
  readonly #cache: DependencyCache

  constructor(database: Database, cache: DependencyCache) {
    this.#database = database
    this.#cache = cache
  }

  find(id: string): Promise<KnownUser | undefined> {
    return this.#cache.get(`user ${id}`, async () => {
      const user = await findUser(this.#database, id)
      if (!user) return undefined
      const groups = new Set(await groupsOf(this.#database, id))
      const bytes = USER_BYTES + 2 * JSON.stringify(user.customProperties).length + GROUP_BYTES * groups.size
      return { value: { user, groups }, subjects: [`_principals/${id}`], bytes }
    })
  }
}
