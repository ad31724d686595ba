import type { Milliseconds } from '../base/units.ts'
import type { GraphText } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'

/** What `info` contains about a revision (W2.8). */
export interface RevisionNote {
  /** Counts from 1, without gaps. */
  readonly number: number
  readonly time: Milliseconds
  /** Id of a user; the guest's id if the author of this state is unknown. */
  readonly author: string
  /** True if the present metadata equal this revision; possible for the latest revision only. */
  readonly isPresent: boolean
}

export interface Revision {
  readonly number: number
  readonly time: Milliseconds
  readonly author: string
  readonly metadata: GraphText
}

/**
 * Earlier and present states of local metadata, kept as long as their entry (`service.repository.provenance`). Reading them
 * requires the right to read the present metadata, which the caller must have checked.
 */
export class Revisions {
  readonly #enabled: boolean

  constructor(enabled: boolean) {
    this.#enabled = enabled
  }

  get enabled(): boolean {
    return this.#enabled
  }

  /** The latest revisions, oldest of them first; none while revisions are off. */
  async list(queries: Queries, entry: Entry, most: number): Promise<RevisionNote[]> {
    if (!this.#enabled || entry.entryType === 'Reference') return []
    const of = sql`context = ${entry.context} AND entry = ${entry.id}`
    const latestFirst = await queries.all<
      Omit<Revision, 'metadata'> & { present: unknown }
    >(sql`SELECT number, time, author,
        CASE WHEN number = (SELECT max(number) FROM metadata_revisions WHERE ${of})
          THEN metadata = ${entry.metadata} ELSE FALSE END AS present
      FROM metadata_revisions WHERE ${of} ORDER BY number DESC LIMIT ${most}`)
    return latestFirst.reverse().map(({ present, ...revision }) => ({ ...revision, isPresent: Boolean(present) }))
  }

  /** Returns `undefined` when there is no revision with this number, or revisions are off. */
  async find(queries: Queries, address: EntryAddress, number: number): Promise<Revision | undefined> {
    return this.#enabled ? await findRevision(queries, address, number) : undefined
  }
}

/** The same in both tables. */
export const revisionColumns = sql`context, entry, number, time, author, metadata`

/** Runs a statement for each revision of an entry, one after the other: each may have megabytes. @param run returns how many rows it wrote */
export async function forEachRevision(
  { context, id }: EntryAddress,
  run: (condition: Sql) => Promise<number>,
): Promise<void> {
  let number = 1
  while ((await run(sql`context = ${context} AND entry = ${id} AND number = ${number}`)) > 0) number++
}

/** Works whether or not revisions are on. */
export async function findRevision(
  queries: Queries,
  { context, id }: EntryAddress,
  number: number,
): Promise<Revision | undefined> {
  return await queries.get(sql`SELECT number, time, author, metadata FROM metadata_revisions
    WHERE context = ${context} AND entry = ${id} AND number = ${number}`)
}
