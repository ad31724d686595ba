import { countRows, holds, type Listed, type Portion } from '../accounts/directory.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { Database, Queries } from '../stores/database.ts'
import { listed, type Sql, sql } from '../stores/sql.ts'
import { CONTEXTS, PRINCIPALS } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import { entriesOf, findEntryHead } from './entry-records.ts'
import { type EntryInContext, may } from '../model/rights.ts'
import type { Caller } from '../accounts/caller.ts'
import { findContextsOfCaller, type WantedContexts } from '../search/contexts-of-caller.ts'

/** By name; by fullness (usage relative to the quota, fullest first); by used bytes, largest first. */
export const contextOrders = ['name', 'fullness', 'used'] as const
type ContextOrder = (typeof contextOrders)[number]

/** Lists all contexts except system contexts, for administrators. @param alsoIds contexts that match the query in another way */
export async function listContexts(
  database: Database,
  ledger: Ledger,
  { query, limit, offset, sort }: Portion & { readonly sort: ContextOrder },
  alsoIds: readonly string[] = [],
): Promise<Listed<EntryInContext>> {
  const isFound = holds(query)
  const matches = alsoIds.length === 0 ? isFound : sql`(${isFound} OR c.id IN (${listed(alsoIds)}))`
  const from = sql`FROM contexts c LEFT JOIN quota_usage s ON s.kind = 'context' AND s.owner = c.id
    WHERE c.id NOT IN (${CONTEXTS}, ${PRINCIPALS}) AND ${matches}`
  const rows = await database.all<{ id: string }>(
    sql`SELECT c.id ${from} ORDER BY ${orderBy(sort, ledger)} coalesce(c.name, c.id), c.id LIMIT ${limit} OFFSET ${offset}`,
  )
  const items = await entriesOfContexts(
    database,
    rows.map(({ id }) => id),
  )
  return { total: await countRows(database, from), items }
}

function orderBy(sort: ContextOrder, { enforced, usage }: Ledger): Sql {
  if (sort === 'name') return sql``
  // Without a quota there is no fill level to compare.
  if (sort === 'used' || !enforced) return sql`s.used DESC,`
  const quota = usage.limitOfBytes()
  return sql`CASE WHEN ${quota} < 0 THEN -1.0 WHEN ${quota} = 0 THEN 1.0 ELSE s.used * 1.0 / ${quota} END DESC, s.used DESC,`
}

/** The contexts to which the caller has this access, ordered by name, and their total number. */
export async function contextsOfCaller(
  database: Database,
  caller: Caller,
  wanted: WantedContexts,
): Promise<{ readonly total: number; readonly contexts: readonly EntryInContext[] }> {
  const { total, ids } = await findContextsOfCaller(database, caller, wanted)
  const right = wanted.access === 'write' ? 'writeresource' : 'readresource'
  const contexts = (await entriesOfContexts(database, ids)).filter(context => may(caller, right, context))
  return { total, contexts }
}

/** The entries of those contexts that exist, in the order of the ids. */
async function entriesOfContexts(database: Database, ids: readonly string[]): Promise<EntryInContext[]> {
  const contextEntry = await findEntryHead(database, { context: CONTEXTS, id: CONTEXTS })
  if (!contextEntry) return []
  const entries = new Map<string, Entry>()
  for await (const entry of entriesOf(database, CONTEXTS, ids)) entries.set(entry.id, entry)
  return ids.flatMap(id => {
    const entry = entries.get(id)
    return entry ? [{ entry, contextEntry }] : []
  })
}

/** The number of objects in the store without system contexts; the names are those of the status page. */
interface StoreCounts {
  readonly contextCount: number
  readonly groupCount: number
  readonly userCount: number
  readonly entryCount: number
  readonly fileCount: number
  readonly fileBytes: number
}

export async function countStore(queries: Queries): Promise<StoreCounts> {
  const counts = await queries.get<StoreCounts>(sql`SELECT
    (SELECT COUNT(*) FROM contexts WHERE id NOT IN (${CONTEXTS}, ${PRINCIPALS})) AS "contextCount",
    (SELECT COUNT(*) FROM principals WHERE kind = 'group') AS "groupCount",
    (SELECT COUNT(*) FROM principals WHERE kind = 'user') AS "userCount",
    (SELECT COUNT(*) FROM entries) AS "entryCount",
    (SELECT COUNT(*) FROM files) AS "fileCount",
    (SELECT COALESCE(SUM(used), 0) FROM quota_usage WHERE kind = 'context') AS "fileBytes"`)
  if (!counts) throw new Error('the engine returned no count')
  return { ...counts }
}
