import { GUEST } from '../accounts/principals.ts'
import { type Graph, graphText } from '../graph/graph.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { findRevision, type RevisionNote } from './revisions.ts'

/** Writes the revisions of metadata. Only `changes.ts` imports this file. */

/**
 * Stores the metadata of `after` as a revision when they differ from those of `before`, in the transaction that writes them. A state
 * that was written while revisions were off is stored first.
 */
export async function addRevision(tx: Queries, before: Entry | undefined, after: Entry, by: string): Promise<void> {
  if (after.entryType === 'Reference' || before?.metadata === after.metadata) return
  const [present, next] = [graphText(before?.metadata ?? {}), graphText(after.metadata)]
  if (present === next) return
  const latest = await tx.get<{ number: number; metadata: string }>(sql`SELECT number, metadata
    FROM metadata_revisions WHERE context = ${after.context} AND entry = ${after.id} ORDER BY number DESC LIMIT 1`)
  let number = latest?.number ?? 0
  if (before && present !== (latest?.metadata ?? '{}')) {
    const earlier = { number: ++number, time: before.modified, author: onlyAuthorOf(before) }
    await insertRevision(tx, after, earlier, present)
  }
  await insertRevision(tx, after, { number: ++number, time: after.modified, author: by }, next)
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

/** Moves the revisions of an entry to its new address, one after the other, with their graphs changed by `rename`. */
export async function moveRevisions(
  tx: Queries,
  from: EntryAddress,
  to: EntryAddress,
  rename: (graph: Graph) => Graph,
): Promise<void> {
  for (let number = 1; ; number++) {
    const revision = await findRevision(tx, from, number)
    if (!revision) return
    await insertRevision(tx, to, revision, JSON.stringify(rename(revision.metadata)))
  }
}
