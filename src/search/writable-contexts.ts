import { type Caller, isAdmin } from '../accounts/caller.ts'
import { GUEST, USERS } from '../accounts/principals.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../model/addresses.ts'
import type { Database, Engine } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'

/**
 * The ids of contexts whose access list in the index lets the caller write, in the order of their names, and how many there are. For an
 * administrator all contexts but those of the system. `model/rights.ts` has not decided yet: the caller of this function asks it.
 */
export async function findWritableContexts(
  database: Database,
  caller: Caller,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly total: number; readonly ids: readonly string[] }> {
  const from = isAdmin(caller)
    ? sql`FROM contexts c WHERE c.id NOT IN (${CONTEXTS}, ${PRINCIPALS})`
    : namingCaller(database.engine, caller)
  const count = await database.get<{ total: number }>(sql`SELECT count(*) AS total ${from}`)
  const rows = await database.all<{ id: string }>(
    sql`SELECT c.id ${from} ORDER BY coalesce(c.name, c.id), c.id LIMIT ${limit} OFFSET ${offset}`,
  )
  return { total: count?.total ?? 0, ids: rows.map(({ id }) => id) }
}

/** The slots of a context's access list that allow writing, as the index holds them. */
function namingCaller(engine: Engine, { user, groups }: Caller): Sql {
  const principals = [user.id, GUEST, USERS, ...groups].map(principalUri)
  if (engine === 'postgres') {
    return sql`FROM contexts c WHERE c.id IN (SELECT e.id FROM search_entries e JOIN search_strings s ON s.doc = e.doc
      WHERE e.context = ${CONTEXTS} AND s.field IN ('acl.admin', 'acl.resource.rw')
        AND s.value IN (SELECT jsonb_array_elements_text(CAST(${JSON.stringify(principals)} AS JSONB))))`
  }
  return sql`FROM contexts c WHERE c.id IN (SELECT e.id FROM search_fields f
    JOIN search_strings s ON s.field = f.number
    JOIN search_entries e ON e.doc = s.doc AND e.context = ${CONTEXTS}
    WHERE f.name IN ('acl.admin', 'acl.resource.rw')
      AND s.value IN (SELECT value FROM json_each(${JSON.stringify(principals)})))`
}
