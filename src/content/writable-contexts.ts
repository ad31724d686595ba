import { type Caller, isAdmin } from '../accounts/caller.ts'
import { GUEST, USERS } from '../accounts/principals.ts'
import type { Database, Engine } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../model/addresses.ts'
import { findEntry, findEntryHead } from './entry-records.ts'
import { may, type Placed } from '../model/rights.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** Contexts that the caller may write to, by name, and how many there are; all but those of the system for an administrator. */
export async function writableContexts(
  database: Database,
  caller: Caller,
  { limit, offset }: Page,
): Promise<{ readonly total: number; readonly contexts: readonly Placed[] }> {
  const from = isAdmin(caller)
    ? sql`FROM contexts c WHERE c.id NOT IN (${CONTEXTS}, ${PRINCIPALS})`
    : namedFor(database.engine, caller)
  const count = await database.get<{ total: number }>(sql`SELECT count(*) AS total ${from}`)
  const rows = await database.all<{ id: string }>(
    sql`SELECT c.id ${from} ORDER BY coalesce(c.name, c.id), c.id LIMIT ${limit} OFFSET ${offset}`,
  )
  const contextEntry = await findEntryHead(database, { context: CONTEXTS, id: CONTEXTS })
  const contexts: Placed[] = []
  for (const { id } of rows) {
    const entry = await findEntry(database, { context: CONTEXTS, id })
    // What the index says is judged once more by the rules themselves.
    const placed = entry && contextEntry && { entry, contextEntry }
    if (placed && may(caller, 'writeresource', placed)) contexts.push(placed)
  }
  return { total: count?.total ?? 0, contexts }
}

/** The slots of a context's access list that let somebody write, as the index of entries holds them. */
function namedFor(engine: Engine, { user, groups }: Caller): Sql {
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
