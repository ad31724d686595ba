import type { Caller } from '../accounts/caller.ts'
import { groupsOf } from '../accounts/groups.ts'
import { type Graph, graphOf, type Statement, statementsOf, uri } from '../graph/graph.ts'
import { RELATIVE } from '../graph/iri.ts'
import { store } from '../graph/vocabulary.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import {
  addressIn,
  CONTEXTS,
  type EntryAddress,
  entryUri,
  PRINCIPALS,
  principalUri,
  resourceUri,
} from '../model/addresses.ts'
import { type Entry, resourceOf } from '../model/entry.ts'
import { entriesAfter, findEntryHead } from './entry-records.ts'
import { listHolding } from './list-records.ts'
import { may } from '../model/rights.ts'

type Part = 'info' | 'metadata'

interface RelationRow {
  source_context: string
  source: string
  part: Part
  subject: string
  predicate: string
  object: string
}

const isInside = (iri: string): boolean => iri.startsWith(RELATIVE)

/** The statements of an entry that point at entries, by what they stand in (wire facts 2.9). */
function* pointing(entry: Entry): Generator<{ part: Part; statement: Statement; target: EntryAddress }> {
  const metadata = isInside(resourceOf(entry)) ? entry.metadata : {}
  for (const [part, graph] of [['info', entry.statements] as const, ['metadata', metadata] as const]) {
    for (const statement of statementsOf(graph)) {
      if (statement.object.type !== 'uri' || !isInside(statement.subject)) continue
      const target = addressIn(statement.object.value)
      if (target) yield { part, statement, target }
    }
  }
}

/** Notes what a new entry says about others. The others need not exist: they may still come. */
export async function addRelations(tx: Queries, entry: Entry): Promise<void> {
  for (const { part, statement, target } of pointing(entry)) {
    const { subject, predicate, object } = statement
    await tx.run(sql`INSERT INTO relations
        (target_context, target, source_context, source, part, subject, predicate, object)
      VALUES (${target.context}, ${target.id}, ${entry.context}, ${entry.id}, ${part},
        ${subject}, ${predicate}, ${object.value})`)
  }
}

/** Forgets what a deleted entry said about others; what others say about it stands in them still. */
export async function dropRelations(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`DELETE FROM relations WHERE source_context = ${context} AND source = ${id}`)
}

export async function dropRelationsOf(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`DELETE FROM relations WHERE source_context = ${context}`)
}

/** Follows a change of an entry, in its transaction. */
export async function renewRelations(tx: Queries, before: Entry, after: Entry): Promise<void> {
  const isSame =
    before.metadata === after.metadata &&
    before.statements === after.statements &&
    before.externalResource === after.externalResource
  if (isSame) return
  await dropRelations(tx, after)
  await addRelations(tx, after)
}

/** Statements of other entries in one response; which ones, when there are more, is not defined. */
const MAX_RELATIONS = 1000
/** Of these, so many are looked at when the caller may not read others. */
const MAX_RELATIONS_CHECKED = 5000

/**
 * What other entries say about one, with the list, the groups and the home contexts it plays a part in. Statements of
 * metadata that the caller may not read are left out.
 */
export async function relationsOf(
  queries: Queries,
  caller: Caller,
  entry: Entry,
  most = MAX_RELATIONS,
): Promise<Graph> {
  const rows = await queries.all<RelationRow>(sql`SELECT source_context, source, part, subject, predicate, object
    FROM relations WHERE target_context = ${entry.context} AND target = ${entry.id}
    LIMIT ${MAX_RELATIONS_CHECKED}`)
  const readable = new Map<string, boolean>()
  const statements: Statement[] = []
  for (const { source_context: context, source: id, part, subject, predicate, object } of rows) {
    if (part === 'metadata') {
      const key = `${context}/${id}`
      const isReadable = readable.get(key) ?? (await mayReadMetadata(queries, caller, { context, id }))
      readable.set(key, isReadable)
      if (!isReadable) continue
    }
    statements.push({ subject, predicate, object: uri(object) })
    if (statements.length >= most) break
  }
  return graphOf([...statements, ...(await partsPlayed(queries, entry))])
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

const BATCH = 500
const WORK = 'relations'

/** Notes the relations of a store from before there were any; does nothing when that is done. */
export async function buildMissingRelations(queries: Queries): Promise<void> {
  if (!(await queries.get(sql`SELECT 1 AS pending FROM pending_work WHERE name = ${WORK}`))) return
  await queries.run(sql`DELETE FROM relations`)
  let last: EntryAddress = { context: '', id: '' }
  for (;;) {
    const entries = await entriesAfter(queries, last, BATCH)
    for (const entry of entries) await addRelations(queries, entry)
    const next = entries.at(-1)
    if (!next) break
    last = next
  }
  await queries.run(sql`DELETE FROM pending_work WHERE name = ${WORK}`)
}
