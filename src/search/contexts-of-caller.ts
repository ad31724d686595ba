import { isAdmin } from '../accounts/caller-guards.ts'
import type { Caller } from '../accounts/caller.ts'
import { GUEST, USERS } from '../accounts/users.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../model/addresses.ts'
import type { Database } from '../stores/database.ts'
import { type Engine, listed, type Sql, sql } from '../stores/sql.ts'
import { dialects } from './dialects.ts'

/** Contexts that the caller can write to (`write`), or other users' contexts that the caller can read or write to. */
export const contextAccesses = ['write', 'shared'] as const
export type ContextAccess = (typeof contextAccesses)[number]

export interface WantedContexts {
  readonly access: ContextAccess
  readonly limit: number
  readonly offset: number
}

/**
 * The ids of contexts whose access list in the index gives the caller this access, ordered by name, and their number.
 * Administrators can write to all contexts except system contexts. The caller of this function must check the result against
 * `model/rights.ts`.
 */
export async function findContextsOfCaller(
  database: Database,
  caller: Caller,
  { access, limit, offset }: WantedContexts,
): Promise<{ readonly total: number; readonly ids: readonly string[] }> {
  const from = sql`FROM contexts c WHERE ${conditionFor(database.engine, caller, access)}`
  const count = await database.get<{ total: number }>(sql`SELECT count(*) AS total ${from}`)
  const rows = await database.all<{ id: string }>(
    sql`SELECT c.id ${from} ORDER BY coalesce(c.name, c.id), c.id LIMIT ${limit} OFFSET ${offset}`,
  )
  return { total: count?.total ?? 0, ids: rows.map(({ id }) => id) }
}

function conditionFor(engine: Engine, caller: Caller, access: ContextAccess): Sql {
  const noSystem = sql`c.id NOT IN (${CONTEXTS}, ${PRINCIPALS})`
  if (access === 'write') return isAdmin(caller) ? noSystem : naming(engine, caller, ['acl.admin', 'acl.resource.rw'])
  const shared = naming(engine, caller, ['acl.resource.r', 'acl.resource.rw'])
  return sql`${noSystem} AND ${shared} AND NOT (${naming(engine, caller, ['acl.admin'])})`
}

/** Contexts whose indexed access list names the caller in one of these slots. */
function naming(engine: Engine, { user, groups }: Caller, slots: readonly string[]): Sql {
  const { fieldKey, isOneOf } = dialects[engine]
  const principals = [user.id, GUEST, USERS, ...groups].map(principalUri)
  return sql`c.id IN (SELECT e.id FROM search_strings s JOIN search_entries e ON e.doc = s.doc
    WHERE e.context = ${CONTEXTS} AND field IN (${listed(slots.map(fieldKey))}) AND ${isOneOf(principals)})`
}
