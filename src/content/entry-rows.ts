import { GUEST } from '../accounts/users.ts'
import {
  emptyGraph,
  type Graph,
  type GraphText,
  parseGraph,
  RELATIVE,
  type Statement,
  statementsOf,
} from '../graph/graph.ts'
import { addressIn, type EntryAddress } from '../model/addresses.ts'
import { type Entry, type EntryHead, resourceOf } from '../model/entry.ts'
import { deleteRows, type Queries } from '../stores/database.ts'
import { listed, name, portionsOf, sql, type Sql } from '../stores/sql.ts'
import { lastNumberOf } from './contexts.ts'
import { rowOf, storedColumns } from './entry-columns.ts'
import { at } from './entry-records.ts'
import { findRevision, forEachRevision, revisionColumns, type RevisionNote } from './revisions.ts'

/**
 * Writes the rows of entries, of their statements about other entries, and of their revisions. Only `changes.ts` imports this
 * file: there is no other way to change an entry.
 */

/** @throws {UniqueViolation} when the context has an entry with this id */
export async function insertEntryRow(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(sql`INSERT INTO entries (${storedColumns}) VALUES (${listed(Object.values(rowOf(entry)))})`)
}

/** Writes every member that can change. */
export async function updateEntryRow(tx: Queries, entry: Entry): Promise<void> {
  const { context: _context, id: _id, created: _created, creator: _creator, ...changing } = rowOf(entry)
  const assignments = Object.entries(changing).map(([column, value]) => sql`${name(column)} = ${value}`)
  await tx.run(sql`UPDATE entries SET ${listed(assignments)} WHERE ${at(entry)}`)
}

/** Writes the members of the head that a change of the head alone can change. */
export async function updateHeadRow(tx: Queries, head: EntryHead): Promise<void> {
  await tx.run(sql`UPDATE entries SET modified = ${head.modified}, contributors = ${JSON.stringify(head.contributors)},
    acl = ${JSON.stringify(head.acl)} WHERE ${at(head)}`)
}

/** Deletes an entry and its revisions. */
export async function deleteEntryRow(tx: Queries, address: EntryAddress): Promise<void> {
  // Deleting the row would delete its revisions too, but all of them in one step.
  await forEachRevision(address, one => tx.run(sql`DELETE FROM metadata_revisions WHERE ${one}`))
  await tx.run(sql`DELETE FROM entries WHERE ${at(address)}`)
}

/** Deletes all entries of a context. */
export async function deleteEntryRowsOf(tx: Queries, context: string): Promise<void> {
  // The row of an entry takes its revisions with it, however many they are.
  await deleteRows(tx, name('metadata_revisions'), sql`context = ${context}`)
  await deleteRows(tx, name('entries'), sql`context = ${context}`)
}

/** Records that an id must never be given again: to nobody for users, groups and contexts, else not by the service. */
export async function retireId(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`INSERT INTO retired_ids (context, id) VALUES (${context}, ${id}) ON CONFLICT DO NOTHING`)
}

/**
 * Records the number of a deleted entry if the service could give this number to another entry. A number that a client has chosen does not
 * advance the counter (W1.6), so the service reaches it later.
 */
export async function retireNumber(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  if (!isNumber(id)) return
  await tx.run(sql`INSERT INTO retired_ids (context, id)
    SELECT id, CAST(${id} AS TEXT) FROM contexts WHERE id = ${context} AND last_number < ${Number(id)} ON CONFLICT DO NOTHING`)
}

/** The same for all entries of a context. Those in its trash have gone before. */
export async function retireNumbersOf(tx: Queries, context: string): Promise<void> {
  const last = await lastNumberOf(tx, context)
  // The ids that begin with a digit.
  const rows = await tx.all<{ id: string }>(
    sql`SELECT id FROM entries WHERE context = ${context} AND id >= '1' AND id < ':'`,
  )
  for (const { id } of rows) if (isNumber(id) && Number(id) > last) await retireId(tx, { context, id })
}

/** Numbers in the form that the service writes; it never reaches longer numbers. */
const isNumber = (id: string): boolean => /^[1-9]\d{0,14}$/.test(id)

export async function reuseId(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`DELETE FROM retired_ids WHERE context = ${context} AND id = ${id}`)
}

type Part = 'info' | 'metadata'

/** A statement of an entry whose object is another entry. */
interface Relation {
  readonly part: Part
  readonly statement: Statement
  readonly target: EntryAddress
}

const isRelative = (iri: string): boolean => iri.startsWith(RELATIVE)

/** The statements of this entry whose object is another entry, with the part (info or metadata) they occur in (W2.9). */
function relationsOf(entry: Entry): Relation[] {
  const metadata = isRelative(resourceOf(entry)) ? parseGraph(entry.metadata) : emptyGraph
  return [...relationsIn('info', entry.statements), ...relationsIn('metadata', metadata)]
}

function* relationsIn(part: Part, graph: Graph): Generator<Relation> {
  for (const statement of statementsOf(graph)) {
    const { subject, object } = statement
    const target = isRelative(subject) && object.type === 'uri' ? addressIn(object.value) : undefined
    if (target) yield { part, statement, target }
  }
}

/** Rows per statement: databases limit the number of values. */
const ROWS = 25
/** If more relations than this are removed, all are deleted and the remaining ones are inserted again. */
const MAX_SINGLE_DELETIONS = 8

/** Stores the statements of a new entry about others. The others need not exist yet. */
export async function addRelations(tx: Queries, entry: Entry): Promise<void> {
  await insertRelations(tx, entry, relationsOf(entry))
}

async function insertRelations(
  tx: Queries,
  { context, id }: EntryAddress,
  relations: readonly Relation[],
): Promise<void> {
  for (const some of portionsOf(relations, ROWS)) {
    const rows = some.map(
      ({ part, target, statement: { subject, predicate, object } }) =>
        sql`(${target.context}, ${target.id}, ${context}, ${id}, ${part}, ${subject}, ${predicate}, ${object.value})`,
    )
    await tx.run(sql`INSERT INTO relations
      (target_context, target, source_context, source, part, subject, predicate, object) VALUES ${listed(rows)}`)
  }
}

const from = ({ context, id }: EntryAddress): Sql => sql`source_context = ${context} AND source = ${id}`

/** Deletes the statements of a deleted entry about others. Statements of others about it remain with them. */
export async function dropRelations(tx: Queries, address: EntryAddress): Promise<void> {
  await tx.run(sql`DELETE FROM relations WHERE ${from(address)}`)
}

/** Deletes the relations of all entries, before they are built again. */
export async function dropAllRelations(tx: Queries): Promise<void> {
  await tx.run(sql`DELETE FROM relations`)
}

export async function dropRelationsOf(tx: Queries, context: string): Promise<void> {
  await deleteRows(tx, name('relations'), sql`source_context = ${context}`)
}

const keyOf = ({ part, statement: { subject, predicate, object } }: Relation): string =>
  [part, subject, predicate, object.value].join('\n')

/** Updates the relations of a changed entry, in its transaction: deletes the removed ones and inserts the new ones. */
export async function renewRelations(tx: Queries, before: Entry, after: Entry): Promise<void> {
  const [former, present] = [before, after].map(entry => new Map(relationsOf(entry).map(one => [keyOf(one), one])))
  if (!former || !present) return
  const gone = [...former].filter(([key]) => !present.has(key))
  if (gone.length > MAX_SINGLE_DELETIONS) {
    await dropRelations(tx, after)
    return await insertRelations(tx, after, [...present.values()])
  }
  for (const [, { part, statement }] of gone) {
    const { subject, predicate, object } = statement
    await tx.run(sql`DELETE FROM relations WHERE ${from(after)} AND part = ${part} AND subject = ${subject}
      AND predicate = ${predicate} AND object = ${object.value}`)
  }
  const added = [...present].filter(([key]) => !former.has(key))
  await insertRelations(
    tx,
    after,
    added.map(([, relation]) => relation),
  )
}

/**
 * Stores the metadata of `after` as a revision when they differ from those of `before`, in the transaction that writes them. A state
 * that was written while revisions were off is stored first.
 */
export async function addRevision(tx: Queries, before: Entry | undefined, after: Entry, by: string): Promise<void> {
  if (after.entryType === 'Reference') return
  const [present, next] = [before?.metadata ?? '{}', after.metadata]
  if (present === next) return
  // A new entry has none. Compared by the database: each revision can have several megabytes.
  const latest =
    before &&
    (await tx.get<{ number: number; holds: number }>(sql`SELECT number,
      CASE WHEN metadata = ${present} THEN 1 ELSE 0 END AS holds
    FROM metadata_revisions WHERE context = ${after.context} AND entry = ${after.id} ORDER BY number DESC LIMIT 1`))
  let number = latest?.number ?? 0
  const isKept = latest ? latest.holds === 1 : present === '{}'
  if (before && !isKept) {
    const earlier = { number: ++number, time: before.modified, author: onlyAuthorOf(before) }
    await insertRevision(tx, after, earlier, present)
  }
  await insertPresentRevision(tx, after, ++number, by)
}

/** Copies the metadata from the row of the entry, where they have just been written: a second value would take the memory of two. */
async function insertPresentRevision(tx: Queries, entry: Entry, number: number, author: string): Promise<void> {
  await tx.run(sql`INSERT INTO metadata_revisions (context, entry, number, time, author, metadata)
    SELECT context, id, CAST(${number} AS BIGINT), modified, CAST(${author} AS TEXT), metadata FROM entries WHERE ${at(entry)}`)
}

/** A sole contributor is the author; with several the author is unknown, so the guest is recorded. */
const onlyAuthorOf = ({ contributors: [first, ...others] }: Entry): string =>
  first !== undefined && others.length === 0 ? first : GUEST

export async function insertRevision(
  tx: Queries,
  { context, id }: EntryAddress,
  { number, time, author }: Omit<RevisionNote, 'isPresent'>,
  metadata: string,
): Promise<void> {
  await tx.run(sql`INSERT INTO metadata_revisions (context, entry, number, time, author, metadata)
    VALUES (${context}, ${id}, ${number}, ${time}, ${author}, ${metadata})`)
}

/** Copies the revisions of an entry back from the trash. */
export async function restoreRevisions(tx: Queries, address: EntryAddress): Promise<void> {
  await forEachRevision(address, one =>
    tx.run(sql`INSERT INTO metadata_revisions (${revisionColumns})
      SELECT ${revisionColumns} FROM trashed_revisions WHERE ${one}`),
  )
}

/** Moves the revisions of an entry to its new address, one after the other, with their graphs changed by `rename`. */
export async function moveRevisions(
  tx: Queries,
  from: EntryAddress,
  to: EntryAddress,
  rename: (metadata: GraphText) => GraphText,
): Promise<void> {
  for (let number = 1; ; number++) {
    const revision = await findRevision(tx, from, number)
    if (!revision) return
    await insertRevision(tx, to, revision, rename(revision.metadata))
  }
}
