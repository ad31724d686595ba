import { isAdmin } from '../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../accounts/caller.ts'
import { principalIn, principalUri } from '../model/addresses.ts'
import type { Database } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { CONTEXT_READERS, everybody } from './index-fields.ts'
import { dialects } from './dialects.ts'

/** Whose names and e-mail addresses users may read: those of all users, of users who share a group or context with them, or of nobody. */
export type NameAudience = 'users' | 'shared' | 'nobody'

/** Decides whose names each caller may read (D18.20). */
export class Acquaintances {
  readonly #database: Database
  readonly #audience: Exclude<NameAudience, 'users'>

  constructor(database: Database, audience: Exclude<NameAudience, 'users'>) {
    this.#database = database
    this.#audience = audience
  }

  /** The caller with their acquaintances. */
  async introduce(caller: Caller): Promise<Caller> {
    if (isAdmin(caller)) return caller
    const knowsSome = this.#audience === 'shared' && !isGuest(caller)
    return { ...caller, acquaintances: new Set(knowsSome ? await this.#sharing(caller) : []) }
  }

  /** The groups of the caller, and the users and groups in the access lists of their contexts. */
  async #sharing({ user, groups }: Caller): Promise<readonly string[]> {
    const { fieldKey, isOneOf } = dialects[this.#database.engine]
    const isReader = sql`field = ${fieldKey(CONTEXT_READERS)}`
    const rows = await this.#database.all<{ value: string }>(sql`SELECT DISTINCT value FROM search_strings
      WHERE ${isReader} AND doc IN (SELECT doc FROM search_strings
        WHERE ${isReader} AND ${isOneOf([user.id, ...groups].map(principalUri))})`)
    const named = rows.filter(({ value }) => !everybody.includes(value))
    return [...groups, ...named.flatMap(({ value }) => principalIn(value) ?? [])]
  }
}
