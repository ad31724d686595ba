import { GUEST } from '../accounts/principals.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Graph } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'

/** What `info` tells of a revision (wire facts 2.8). */
export interface RevisionNote {
  /** Counts from 1, without gaps. */
  readonly number: number
  readonly time: Milliseconds
  /** Id of a user; the guest's where it is not on record who wrote this state. */
  readonly author: string
  /** The metadata are now as they were then; true of the latest revision at most. */
  readonly isPresent: boolean
}

export interface Revision {
  readonly number: number
  readonly time: Milliseconds
  readonly author: string
  readonly metadata: Graph
}

interface RevisionRow {
  number: number
  time: number
  author: string
}

/**
 * Earlier and present states of local metadata, kept for as long as their entry (`service.repository.provenance`). Who may
 * read them is who may read the metadata now; whoever calls has judged that.
 */
export class Revisions {
  readonly #enabled: boolean

  constructor(enabled: boolean) {
    this.#enabled = enabled
  }

  get enabled(): boolean {
    return this.#enabled
  }

  /**
   * Notes the metadata of `after` when they differ from those of `before`. Part of the transaction that writes them. A state
   * that was written while revisions were off is kept first.
   */
  async note(tx: Queries, before: Entry | undefined, after: Entry, by: string): Promise<void> {
    if (!this.#enabled || after.entryType === 'Reference') return
    const [present, next] = [JSON.stringify(before?.metadata ?? {}), JSON.stringify(after.metadata)]
    if (present === next) return
    const latest = await tx.get<{ number: number; metadata: string }>(sql`SELECT number, metadata
      FROM metadata_revisions WHERE context = ${after.context} AND entry = ${after.id} ORDER BY number DESC LIMIT 1`)
    let number = latest?.number ?? 0
    if (before && present !== (latest?.metadata ?? '{}')) {
      await insertRevision(
        tx,
        after,
        { number: ++number, time: before.modified, author: onlyAuthorOf(before) },
        present,
      )
    }
    await insertRevision(tx, after, { number: ++number, time: after.modified, author: by }, next)
  }

  /** The latest ones, the oldest of these first; none while revisions are off. */
  async list(queries: Queries, entry: Entry, most: number): Promise<RevisionNote[]> {
    if (!this.#enabled || entry.entryType === 'Reference') return []
    const latestFirst = await queries.all<RevisionRow>(sql`SELECT number, time, author FROM metadata_revisions
      WHERE context = ${entry.context} AND entry = ${entry.id} ORDER BY number DESC LIMIT ${most}`)
    const rows = latestFirst.reverse()
    const last = rows.at(-1)
    const isPresent = last !== undefined && (await this.#isPresent(queries, entry, last.number))
    return rows.map(({ number, time, author }) => ({
      number,
      time,
      author,
      isPresent: isPresent && number === last.number,
    }))
  }

  async #isPresent(queries: Queries, { context, id, metadata }: Entry, number: number): Promise<boolean> {
    const row = await queries.get(sql`SELECT 1 AS present FROM metadata_revisions
      WHERE context = ${context} AND entry = ${id} AND number = ${number} AND metadata = ${JSON.stringify(metadata)}`)
    return row !== undefined
  }

  /** `undefined` when there is none of this number, or revisions are off. */
  async find(queries: Queries, address: EntryAddress, number: number): Promise<Revision | undefined> {
    return this.#enabled ? await findRevision(queries, address, number) : undefined
  }
}

/** Who has made all changes of an entry has written its metadata too; with several it may have been any of them. */
const onlyAuthorOf = ({ contributors: [first, ...others] }: Entry): string =>
  first !== undefined && others.length === 0 ? first : GUEST

/** Whether or not revisions are on. */
export async function findRevision(
  queries: Queries,
  { context, id }: EntryAddress,
  number: number,
): Promise<Revision | undefined> {
  const row = await queries.get<RevisionRow & { metadata: string }>(sql`SELECT number, time, author, metadata
    FROM metadata_revisions WHERE context = ${context} AND entry = ${id} AND number = ${number}`)
  if (!row) return undefined
  return { number, time: row.time, author: row.author, metadata: JSON.parse(row.metadata) as Graph }
}

export async function insertRevision(
  tx: Queries,
  { context, id }: EntryAddress,
  { number, time, author }: Omit<RevisionNote, 'isPresent'>,
  metadata: string,
): Promise<void> {
  await tx.run(sql`INSERT INTO metadata_revisions (context, entry, number, time, author, metadata)
    VALUES (${context}, ${id}, ${number}, ${time}, ${author}, ${metadata})`)
}

/** Gives the revisions of an entry to the one it has become, one after the other, with their graphs as `rename` has them. */
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
