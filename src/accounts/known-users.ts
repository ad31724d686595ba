import type { Bytes } from '../base/units.ts'
import type { Database, Queries } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { groupsOf } from './groups.ts'
import { findUser, type User } from './users.ts'
import { Unauthenticated } from '../base/errors.ts'
import { sql } from '../stores/sql.ts'
import { type Caller, isGuest } from './caller.ts'
import { isCurrent } from './sessions.ts'

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

/**
 * Loads the caller again with their current state and groups. For actions where much time passes between the head of the
 * request and its effect.
 * @throws {Unauthenticated} if the account, session or access token has ended, or the password has changed meanwhile. Not downgraded to
 * guest: the change would still be recorded under the user's name.
 */
export async function presentCaller(queries: Queries, caller: Caller): Promise<Caller> {
  if (isGuest(caller)) return caller
  const user = await findUser(queries, caller.user.id)
  const isGood = user && !user.disabled && (await isStill(queries, caller, user))
  if (!isGood) throw new Unauthenticated('not-signed-in', 'Your session has ended. Sign in again.')
  return { ...caller, user, groups: new Set(await groupsOf(queries, user.id)) }
}

/** Checks the caller's access token or session or, without them, the epoch under which their password was verified. */
async function isStill(queries: Queries, caller: Caller, user: User): Promise<boolean> {
  const { grant, session, user: before } = caller
  // A session that was ended by name has still the epoch of its user.
  if (caller.isStillValid && !(await caller.isStillValid(queries))) return false
  if (grant) return (await queries.get(sql`SELECT id FROM access_tokens WHERE id = ${grant.tokenId}`)) !== undefined
  return session ? isCurrent(session, user) : before.epoch === user.epoch && !user.hasSecondFactor
}
