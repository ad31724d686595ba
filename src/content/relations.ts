import type { Caller } from '../accounts/caller.ts'
import { Turns } from '../base/concurrency.ts'
import { groupsOf } from '../accounts/groups.ts'
import { type Graph, graphOf, type Statement, uri } from '../graph/graph.ts'
import { store } from '../graph/vocabulary.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { CONTEXTS, type EntryAddress, entryUri, PRINCIPALS, principalUri, resourceUri } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import { findEntryHead } from './entry-records.ts'
import { listHolding } from './list-records.ts'
import { hasAnyRight, type AccessTarget, may } from '../model/rights.ts'

interface RelationRow {
  source_context: string
  source: string
  part: 'info' | 'metadata'
  subject: string
  predicate: string
  object: string
}

/** Limit of statements in one response; which ones are returned beyond it is undefined. */
const MAX_RELATIONS = 1000
/** Limit of statements that are checked when the caller may not read others. */
const MAX_RELATIONS_CHECKED = 5000

/**
 * The statements of other entries about one entry, and the list, groups and home contexts it belongs to, before access is
 * checked.
 */
export interface Relations {
  readonly rows: readonly RelationRow[]
  readonly memberships: readonly Membership[]
}

/** A list, group or home context that an entry belongs to. */
interface Membership {
  readonly statement: Statement
  /** The list or group that has the member, or the user or group that has the home context. */
  readonly holder: EntryAddress
  /** Whether a caller may read the membership: the members of that list or group, or the info of that user or group. */
  readonly check: Check
}

type Check = (caller: Caller, target: AccessTarget) => boolean
const mayReadMetadata: Check = (caller, target) => may(caller, 'readmetadata', target)
const mayReadMembers: Check = (caller, target) => may(caller, 'readresource', target)

export interface RelationsOptions {
  /** Every caller may read the info of every entry. */
  readonly publicInfo: boolean
  readonly most?: number
}

/** With more statements about one entry, checking them takes longer than other requests should wait. */
const MANY = 200

/** Whether many statements of other entries are about this one. */
export async function hasManyRelations(queries: Queries, { context, id }: EntryAddress): Promise<boolean> {
  const row = await queries.get<{ count: number }>(sql`SELECT count(*) AS count FROM (SELECT 1 AS one FROM relations
    WHERE target_context = ${context} AND target = ${id} LIMIT ${MANY + 1}) AS some`)
  return (row?.count ?? 0) > MANY
}

export async function loadRelations(queries: Queries, entry: Entry): Promise<Relations> {
  const rows = await queries.all<RelationRow>(sql`SELECT source_context, source, part, subject, predicate, object
    FROM relations WHERE target_context = ${entry.context} AND target = ${entry.id}
    LIMIT ${MAX_RELATIONS_CHECKED}`)
  return { rows, memberships: await partsPlayed(queries, entry) }
}

/**
 * The relations that the caller may read. Statements in metadata or info that they may not read are left out, and
 * memberships in lists and groups whose members they may not read, except their own (D18.12).
 */
export async function readableRelations(
  queries: Queries,
  caller: Caller,
  entry: EntryAddress,
  { rows, memberships }: Relations,
  { publicInfo, most = MAX_RELATIONS }: RelationsOptions,
): Promise<Graph> {
  const readable = new Map<string, boolean>()
  const statements: Statement[] = []
  // Thousands of entries may refer to this one, and each is checked.
  const turns = new Turns()
  for (const { source_context: context, source: id, part, subject, predicate, object } of rows) {
    if (statements.length >= most) break
    if (part === 'metadata' || !publicInfo) {
      const key = `${part} ${context}/${id}`
      const check = part === 'metadata' ? mayReadMetadata : hasAnyRight
      const isReadable = readable.get(key) ?? (await passes(queries, caller, { context, id }, check))
      readable.set(key, isReadable)
      await turns.after(0)
      if (!isReadable) continue
    }
    statements.push({ subject, predicate, object: uri(object) })
  }
  const isSelf = entry.context === PRINCIPALS && entry.id === caller.user.id
  for (const { statement, holder, check } of memberships) {
    if (isSelf || (await passes(queries, caller, holder, check))) statements.push(statement)
  }
  return graphOf(statements)
}

/** The relations of an entry that the caller may read. */
export async function relationsOf(
  queries: Queries,
  caller: Caller,
  entry: Entry,
  options: RelationsOptions,
): Promise<Graph> {
  return await readableRelations(queries, caller, entry, await loadRelations(queries, entry), options)
}

async function passes(queries: Queries, caller: Caller, address: EntryAddress, check: Check): Promise<boolean> {
  const entry = await findEntryHead(queries, address)
  const contextEntry = await findEntryHead(queries, { context: CONTEXTS, id: address.context })
  return entry !== undefined && contextEntry !== undefined && check(caller, { entry, contextEntry })
}

/** Read directly from the tables of lists and accounts, so that the result cannot contradict them. */
async function partsPlayed(queries: Queries, entry: Entry): Promise<Membership[]> {
  const self = uri(entryUri(entry))
  const list = await listHolding(queries, entry)
  const memberships: Membership[] = []
  if (list !== undefined) {
    const holder = { context: entry.context, id: list }
    const statement = { subject: resourceUri(holder), predicate: store.hasListMember, object: self }
    memberships.push({ statement, holder, check: mayReadMembers })
  }
  if (entry.context === PRINCIPALS && entry.entryType === 'Local' && entry.graphType === 'User') {
    for (const group of await groupsOf(queries, entry.id)) {
      const statement = { subject: principalUri(group), predicate: store.hasGroupMember, object: self }
      memberships.push({ statement, holder: { context: PRINCIPALS, id: group }, check: mayReadMembers })
    }
  }
  if (entry.context === CONTEXTS) {
    const rows = await queries.all<{ id: string }>(
      sql`SELECT id FROM principals WHERE home_context = ${entry.id} ORDER BY id`,
    )
    for (const { id } of rows) {
      const statement = { subject: principalUri(id), predicate: store.homeContext, object: self }
      memberships.push({ statement, holder: { context: PRINCIPALS, id }, check: hasAnyRight })
    }
  }
  return memberships
}
