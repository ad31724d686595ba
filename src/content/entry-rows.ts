import { setImmediate } from 'node:timers/promises'
import { GUEST } from '../accounts/principals.ts'
import { type GraphText, RELATIVE, type Statement } from '../graph/graph.ts'
import { addressIn, type EntryAddress } from '../model/addresses.ts'
import { type Entry, type EntryHead, resourceOf } from '../model/entry.ts'
import { cachedMetadataText, metadataText, statementsText, storedStatements } from '../model/stored-graphs.ts'
import type { Queries } from '../stores/database.ts'
import { deleteRows } from '../stores/deletion.ts'
import { rowsInPortions } from '../stores/row-portions.ts'
import { listed, name, portionsOf, sql, type Sql } from '../stores/sql.ts'
import { at, columns } from './entry-records.ts'
import { findRevisionText, revisionColumns, type RevisionNote, revisionsInPortions } from './revisions.ts'

/**
 * Writes the rows of entries, of their statements about other entries, and of their revisions. Only `changes.ts` imports this
 * file: there is no other way to change an entry.
 */

/** @throws {UniqueViolation} when the context has an entry with this id */
export async function insertEntryRow(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(sql`INSERT INTO entries (${columns}) VALUES (
    ${entry.context}, ${entry.id}, ${entry.entryType}, ${entry.graphType}, ${entry.resourceType},
    ${entry.externalResource ?? null}, ${entry.externalMetadata ?? null}, ${entry.created}, ${entry.modified},
    ${entry.creator ?? null}, ${JSON.stringify(entry.contributors)}, ${JSON.stringify(entry.acl)},
    ${statementsText(entry)}, ${metadataText(entry)}, ${cachedMetadataText(entry) ?? null},
    ${entry.cached ?? null}, ${entry.content ?? null})`)
}

/** Writes every member that can change. */
export async function updateEntryRow(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(sql`UPDATE entries SET
      entry_type = ${entry.entryType}, graph_type = ${entry.graphType}, resource_type = ${entry.resourceType},
      resource_uri = ${entry.externalResource ?? null}, external_metadata = ${entry.externalMetadata ?? null},
      modified = ${entry.modified}, contributors = ${JSON.stringify(entry.contributors)},
      acl = ${JSON.stringify(entry.acl)}, statements = ${statementsText(entry)},
      metadata = ${metadataText(entry)}, cached_external_metadata = ${cachedMetadataText(entry) ?? null},
      cached = ${entry.cached ?? null}, content = ${entry.content ?? null}
    WHERE ${at(entry)}`)
}

/** Writes the members of the head that a change of the head alone can change. */
export async function updateHeadRow(tx: Queries, head: EntryHead): Promise<void> {
  await tx.run(sql`UPDATE entries SET modified = ${head.modified}, contributors = ${JSON.stringify(head.contributors)},
    acl = ${JSON.stringify(head.acl)} WHERE ${at(head)}`)
}

/** Deletes an entry and its revisions. */
export async function deleteEntryRow(tx: Queries, address: EntryAddress): Promise<void> {
  // The row would take them with it, but in one step.
  for (const some of await revisionsInPortions(tx, 'metadata_revisions', address)) {
    await tx.run(sql`DELETE FROM metadata_revisions WHERE ${some}`)
  }
  await tx.run(sql`DELETE FROM entries WHERE ${at(address)}`)
}

/** Deletes all entries of a context. */
export async function deleteEntryRowsOf(tx: Queries, context: string): Promise<void> {
  // The row of an entry takes its revisions with it, however many they are.
  await deleteRows(tx, name('metadata_revisions'), sql`context = ${context}`)
  await deleteRows(tx, name('entries'), sql`context = ${context}`)
}

/** Records that an id must never be reused (users, groups and contexts). */
export async function retireId(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`INSERT INTO retired_ids (context, id) VALUES (${context}, ${id}) ON CONFLICT DO NOTHING`)
}

type Part = 'info' | 'metadata'

/** A statement of an entry whose object is another entry. */
interface Relation {
  readonly part: Part
  readonly statement: Statement
  readonly target: EntryAddress
}

const isRelative = (iri: string): boolean => iri.startsWith(RELATIVE)

/** How many statements are searched for relations at once: a graph can have a hundred thousand. */
const STATEMENTS_TOGETHER = 1000

/**
 * Yields the statements of this entry whose object is another entry, with the part (info or metadata) they occur in (W2.9), in portions
 * between which other requests have their turn.
 */
async function* relationsIn(
  entry: Entry,
  parts: readonly Part[] = ['info', 'metadata'],
): AsyncGenerator<readonly Relation[]> {
  let [found, searched]: [Relation[], number] = [[], 0]
  for (const part of parts) {
    if (part === 'metadata' && !isRelative(resourceOf(entry))) continue
    for (const statement of storedStatements(entry, part === 'info' ? 'statements' : 'metadata')) {
      if (++searched % STATEMENTS_TOGETHER === 0) {
        yield found
        found = []
        await setImmediate()
      }
      if (!isRelative(statement.subject)) continue
      const { object } = statement
      const target = object.type === 'uri' ? addressIn(object.value) : undefined
      if (target) found.push({ part, statement, target })
    }
  }
  yield found
}

/** Rows per statement: engines limit the number of values. */
const ROWS = 25
/** If more relations than this are removed, all are deleted and the remaining ones are inserted again. */
const MAX_SINGLE_DELETIONS = 8

/** Stores the statements of a new entry about others. The others need not exist yet. */
export async function addRelations(tx: Queries, entry: Entry): Promise<void> {
  await insertRelations(tx, entry, relationsIn(entry))
}

async function insertRelations(
  tx: Queries,
  { context, id }: EntryAddress,
  relations: AsyncIterable<readonly Relation[]>,
  isWanted: (relation: Relation) => boolean = () => true,
): Promise<void> {
  for await (const found of relations) {
    for (const some of portionsOf(found.filter(isWanted), ROWS)) {
      const rows = some.map(
        ({ part, target, statement: { subject, predicate, object } }) =>
          sql`(${target.context}, ${target.id}, ${context}, ${id}, ${part}, ${subject}, ${predicate}, ${object.value})`,
      )
      await tx.run(sql`INSERT INTO relations
        (target_context, target, source_context, source, part, subject, predicate, object) VALUES ${listed(rows)}`)
    }
  }
}

const from = ({ context, id }: EntryAddress): Sql => sql`source_context = ${context} AND source = ${id}`

/** Deletes the statements of a deleted entry about others. Statements of others about it remain with them. */
export async function dropRelations(tx: Queries, address: EntryAddress): Promise<void> {
  await deleteRows(tx, name('relations'), from(address))
}

/** Deletes the relations of all entries, before they are built again. */
export async function dropAllRelations(tx: Queries): Promise<void> {
  await tx.run(sql`DELETE FROM relations`)
}

export async function dropRelationsOf(tx: Queries, context: string): Promise<void> {
  await deleteRows(tx, name('relations'), sql`source_context = ${context}`)
}

/** What distinguishes the relations of one part of an entry: for a relation, and for its row. */
const keyOf = ({ statement: { subject, predicate, object } }: Relation): string =>
  [subject, predicate, object.value].join('\n')
const keyOfRow = sql`subject || '\n' || predicate || '\n' || object`

/**
 * Updates the relations of a changed entry, in its transaction: deletes the removed ones and inserts the new ones. They are compared
 * with the stored rows, so that the former graphs are not parsed for it; and read from the new graphs twice instead of being
 * collected, because there can be a hundred thousand.
 */
export async function renewRelations(tx: Queries, before: Entry, after: Entry): Promise<void> {
  if (statementsText(before) !== statementsText(after)) await renewPart(tx, after, 'info')
  const isSame = metadataText(before) === metadataText(after) && before.externalResource === after.externalResource
  if (!isSame) await renewPart(tx, after, 'metadata')
}

async function renewPart(tx: Queries, after: Entry, part: Part): Promise<void> {
  const ofPart = sql`${from(after)} AND part = ${part}`
  const isKept = new Map<string, boolean>()
  for await (const rows of rowsInPortions<{ key: string }>(tx, sql`${keyOfRow} AS key`, name('relations'), ofPart)) {
    for (const { key } of rows) isKept.set(key, false)
  }
  // There is nothing to compare with, and the keys of a hundred thousand relations take memory and time.
  if (isKept.size === 0) return await insertRelations(tx, after, relationsIn(after, [part]))
  for await (const relations of relationsIn(after, [part])) {
    for (const relation of relations) {
      const key = keyOf(relation)
      if (isKept.has(key)) isKept.set(key, true)
    }
  }
  const gone = [...isKept].filter(([, kept]) => !kept)
  if (gone.length > MAX_SINGLE_DELETIONS) {
    await deleteRows(tx, name('relations'), ofPart)
    return await insertRelations(tx, after, relationsIn(after, [part]))
  }
  for (const [key] of gone) await tx.run(sql`DELETE FROM relations WHERE ${ofPart} AND ${keyOfRow} = ${key}`)
  await insertRelations(tx, after, relationsIn(after, [part]), relation => !isKept.has(keyOf(relation)))
}

/**
 * Stores the metadata of `after` as a revision when they differ from those of `before`, in the transaction that writes them. A state
 * that was written while revisions were off is stored first.
 */
export async function addRevision(tx: Queries, before: Entry | undefined, after: Entry, by: string): Promise<void> {
  if (after.entryType === 'Reference') return
  const [present, next] = [before ? metadataText(before) : '{}', metadataText(after)]
  if (present === next) return
  // A new entry has none. Compared by the engine: each revision can have several megabytes.
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
  for (const some of await revisionsInPortions(tx, 'trashed_revisions', address)) {
    await tx.run(sql`INSERT INTO metadata_revisions (${revisionColumns})
      SELECT ${revisionColumns} FROM trashed_revisions WHERE ${some}`)
  }
}

/** Moves the revisions of an entry to its new address, one after the other, with their graphs changed by `rename`. */
export async function moveRevisions(
  tx: Queries,
  from: EntryAddress,
  to: EntryAddress,
  rename: (metadata: GraphText) => Promise<GraphText>,
): Promise<void> {
  for (let number = 1; ; number++) {
    const revision = await findRevisionText(tx, from, number)
    if (!revision) return
    await insertRevision(tx, to, revision, await rename(revision.metadata))
  }
}
