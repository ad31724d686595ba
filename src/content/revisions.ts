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
