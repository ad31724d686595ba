import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../accounts/caller.ts'
import { groupsOf } from '../accounts/groups.ts'
import { type Graph, graphOf, type Statement, uri } from '../graph/graph.ts'
import { store } from '../graph/vocabulary.ts'
import type { Queries } from '../stores/database.ts'
import { listed, sql } from '../stores/sql.ts'
import { CONTEXTS, type EntryAddress, entryUri, PRINCIPALS, resourceUri } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { Attached } from './entry-records.ts'
import { hasAnyRight, type AccessTarget, may } from '../model/rights.ts'

interface RelationRow {
  source_context: string
  source: string
  part: 'info' | 'metadata'
  subject: string
  predicate: string
  object: string
}

/** Maximum number of statements in one response; which ones are returned beyond it is undefined. */
const MAX_RELATIONS = 1000
/** Maximum number of statements that are checked when the caller may not read others. */
const MAX_RELATIONS_CHECKED = 5000
/** Checks in a row, before other requests run. */
const CHECKS_TOGETHER = 50

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
  readonly of: keyof typeof memberships
  /** The list or group that has the member, or the user or group that has the home context. */
  readonly holder: EntryAddress
}

type Check = (caller: Caller, target: AccessTarget) => boolean
const mayReadMetadata: Check = (caller, target) => may(caller, 'readmetadata', target)
const mayReadMembers: Check = (caller, target) => may(caller, 'readresource', target)

/** How the resource of the holder is stated to have the entry, and whether a caller may read that. */
const memberships = {
  list: { predicate: store.hasListMember, check: mayReadMembers },
  group: { predicate: store.hasGroupMember, check: mayReadMembers },
  homeContext: { predicate: store.homeContext, check: hasAnyRight },
} as const

export interface RelationsOptions {
  /** Every caller may read the info of every entry. */
  readonly publicInfo: boolean
  readonly most?: number
}

export async function loadRelations(queries: Queries, entry: Entry, attached: Attached): Promise<Relations> {
  const rows = attached.hasRelations
    ? await queries.all<RelationRow>(sql`SELECT source_context, source, part, subject, predicate, object
        FROM relations WHERE target_context = ${entry.context} AND target = ${entry.id}
        LIMIT ${MAX_RELATIONS_CHECKED}`)
    : []
  return { rows, memberships: await partsPlayed(queries, entry, attached) }
}

/** The entries whose metadata state one of these predicates of an entry, before access is checked. */
export async function entriesStating(
  queries: Queries,
  { context, id }: EntryAddress,
  predicates: readonly string[],
): Promise<EntryAddress[]> {
  return await queries.all<EntryAddress>(sql`SELECT DISTINCT source_context AS context, source AS id FROM relations
    WHERE target_context = ${context} AND target = ${id} AND part = 'metadata' AND predicate IN (${listed(predicates)})
    ORDER BY source_context, source LIMIT ${MAX_RELATIONS_CHECKED}`)
}

/** Loads the data on which rights on an entry depend. */
export type FindTarget = (address: EntryAddress) => Promise<AccessTarget | undefined>

/**
 * The relations that the caller may read. Statements in metadata or info that they may not read are left out, and
 * memberships in lists and groups whose members they may not read, except their own (D18.12).
 */
export async function readableRelations(
  find: FindTarget,
  caller: Caller,
  entry: EntryAddress,
  { rows, memberships: holders }: Relations,
  { publicInfo, most = MAX_RELATIONS }: RelationsOptions,
): Promise<Graph> {
  const readable = new Map<string, boolean>()
  const statements: Statement[] = []
  for (const { source_context: context, source: id, part, subject, predicate, object } of rows) {
    if (statements.length >= most) break
    if (part === 'metadata' || !publicInfo) {
      const key = `${part} ${context}/${id}`
      const check = part === 'metadata' ? mayReadMetadata : hasAnyRight
      const isReadable = readable.get(key) ?? (await passes(find, caller, { context, id }, check))
      readable.set(key, isReadable)
      // Thousands of entries may refer to this one, and each is checked.
      if (readable.size % CHECKS_TOGETHER === 0) await setImmediate()
      if (!isReadable) continue
    }
    statements.push({ subject, predicate, object: uri(object) })
  }
  const isSelf = entry.context === PRINCIPALS && entry.id === caller.user.id
  for (const { of, holder } of holders) {
    const { predicate, check } = memberships[of]
    if (!isSelf && !(await passes(find, caller, holder, check))) continue
    statements.push({ subject: resourceUri(holder), predicate, object: uri(entryUri(entry)) })
  }
  return graphOf(statements)
}

async function passes(find: FindTarget, caller: Caller, address: EntryAddress, check: Check): Promise<boolean> {
  const target = await find(address)
  return target !== undefined && check(caller, target)
}

/** Read directly from the tables of lists and accounts, so that the result cannot contradict them. */
async function partsPlayed(queries: Queries, entry: Entry, { list }: Attached): Promise<Membership[]> {
  const found: Membership[] = list === undefined ? [] : [{ of: 'list', holder: { context: entry.context, id: list } }]
  if (entry.context === PRINCIPALS && entry.entryType === 'Local' && entry.graphType === 'User') {
    for (const id of await groupsOf(queries, entry.id)) found.push({ of: 'group', holder: { context: PRINCIPALS, id } })
  }
  if (entry.context === CONTEXTS) {
    const rows = await queries.all<{ id: string }>(
      sql`SELECT id FROM principals WHERE home_context = ${entry.id} ORDER BY id`,
    )
    for (const { id } of rows) found.push({ of: 'homeContext', holder: { context: PRINCIPALS, id } })
  }
  return found
}
