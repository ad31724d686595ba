import type { Caller } from '../accounts/caller.ts'
import { groupsOf } from '../accounts/groups.ts'
import { type Graph, graphOf, type Statement, statementsOf, uri } from '../graph/graph.ts'
import { store } from '../graph/vocabulary.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { CONTEXTS, type EntryAddress, entryUri, PRINCIPALS, principalUri, resourceUri } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import { findEntryHead } from './entry-records.ts'
import { listHolding } from './list-records.ts'
import { may } from '../model/rights.ts'

interface RelationRow {
  source_context: string
  source: string
  part: 'info' | 'metadata'
  subject: string
  predicate: string
  object: string
}

/** Statements of other entries in one response; which ones, when there are more, is not defined. */
const MAX_RELATIONS = 1000
/** So many are looked at when the caller may not read others. */
const MAX_RELATIONS_CHECKED = 5000

/** What other entries say about one, and the list, groups and home contexts it belongs to, whoever may read that. */
export interface Relations {
  readonly rows: readonly RelationRow[]
  /** The memberships, which everybody may read. */
  readonly memberships: Graph
}

export async function loadRelations(queries: Queries, entry: Entry): Promise<Relations> {
  const rows = await queries.all<RelationRow>(sql`SELECT source_context, source, part, subject, predicate, object
    FROM relations WHERE target_context = ${entry.context} AND target = ${entry.id}
    LIMIT ${MAX_RELATIONS_CHECKED}`)
  return { rows, memberships: graphOf(await partsPlayed(queries, entry)) }
}

/** The relations that the caller may read: statements of metadata that they may not read are left out. */
export async function readableRelations(
  queries: Queries,
  caller: Caller,
  { rows, memberships }: Relations,
  most = MAX_RELATIONS,
): Promise<Graph> {
  if (rows.length === 0) return memberships
  const readable = new Map<string, boolean>()
  const statements: Statement[] = []
  for (const { source_context: context, source: id, part, subject, predicate, object } of rows) {
    if (statements.length >= most) break
    if (part === 'metadata') {
      const key = `${context}/${id}`
      const isReadable = readable.get(key) ?? (await mayReadMetadata(queries, caller, { context, id }))
      readable.set(key, isReadable)
      if (!isReadable) continue
    }
    statements.push({ subject, predicate, object: uri(object) })
  }
  return graphOf([...statements, ...statementsOf(memberships)])
}

/** The relations of an entry that the caller may read. */
export async function relationsOf(
  queries: Queries,
  caller: Caller,
  entry: Entry,
  most = MAX_RELATIONS,
): Promise<Graph> {
  return await readableRelations(queries, caller, await loadRelations(queries, entry), most)
}

async function mayReadMetadata(queries: Queries, caller: Caller, source: EntryAddress): Promise<boolean> {
  const entry = await findEntryHead(queries, source)
  const contextEntry = await findEntryHead(queries, { context: CONTEXTS, id: source.context })
  return entry !== undefined && contextEntry !== undefined && may(caller, 'readmetadata', { entry, contextEntry })
}

/** Told from the tables of lists and accounts themselves, so that they can never disagree with them. */
async function partsPlayed(queries: Queries, entry: Entry): Promise<Statement[]> {
  const self = uri(entryUri(entry))
  const list = await listHolding(queries, entry)
  const statements: Statement[] =
    list === undefined
      ? []
      : [{ subject: resourceUri({ context: entry.context, id: list }), predicate: store.hasListMember, object: self }]
  if (entry.context === PRINCIPALS && entry.entryType === 'Local' && entry.graphType === 'User') {
    for (const group of await groupsOf(queries, entry.id)) {
      statements.push({ subject: principalUri(group), predicate: store.hasGroupMember, object: self })
    }
  }
  if (entry.context === CONTEXTS) {
    const rows = await queries.all<{ id: string }>(
      sql`SELECT id FROM principals WHERE home_context = ${entry.id} ORDER BY id`,
    )
    for (const { id } of rows) {
      statements.push({ subject: principalUri(id), predicate: store.homeContext, object: self })
    }
  }
  return statements
}
