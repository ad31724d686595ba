import { LRUCache } from 'lru-cache'
import type { Bytes, Milliseconds } from '../base/units.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { changesAfter, WHO_READS } from './sqlite-index.ts'

/** A row of `search_entries`: what a page shows of an entry, and what most pages are sorted by. */
export interface DocRow extends EntryAddress {
  readonly doc: number
  readonly modified: Milliseconds
}

const MAX_BYTES: Bytes = 2 * 2 ** 20
/** Memory of a row without its texts. */
const ROW_BYTES: Bytes = 200

/**
 * A cache of the rows of entries that searches have found. The same entries are found by many queries, and one statement for the rows of a
 * page takes as long as the rest of a search whose sets are cached.
 */
export class DocRows {
  readonly #queries: Queries
  readonly #kept = new LRUCache<number, DocRow>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ context, id }) => ROW_BYTES + context.length + id.length,
  })
  /** The cached rows reflect the index at this generation or later. */
  #generation = 0

  constructor(queries: Queries) {
    this.#queries = queries
  }

  /** The rows of those documents that are in the index, in any order, as of this generation or later. */
  async of(docs: readonly number[], generation: number): Promise<DocRow[]> {
    if (generation > this.#generation) await this.#dropChanged(generation)
    const rows: DocRow[] = []
    const missing: number[] = []
    for (const doc of docs) {
      const kept = this.#kept.get(doc)
      if (kept) rows.push(kept)
      else missing.push(doc)
    }
    return missing.length === 0 ? rows : rows.concat(await this.#load(missing))
  }

  async #dropChanged(generation: number): Promise<void> {
    const changed = this.#kept.size === 0 ? new Set<number>() : await changesAfter(this.#queries, this.#generation)
    // Entries that go with their context are not recorded one by one.
    if (!changed || changed.has(WHO_READS)) this.#kept.clear()
    else for (const doc of changed) this.#kept.delete(doc)
    this.#generation = Math.max(this.#generation, generation)
  }

  async #load(docs: readonly number[]): Promise<DocRow[]> {
    const generation = this.#generation
    // As one text, which is quicker than a row for each.
    const row = await this.#queries.get<{ found: string }>(sql`
      SELECT json_group_array(json_array(doc, context, id, modified)) AS found FROM search_entries
      WHERE doc IN (SELECT value FROM json_each(${JSON.stringify(docs)}))`)
    const found = JSON.parse(row?.found ?? '[]') as ReadonlyArray<readonly [number, string, string, Milliseconds]>
    const rows = found.map(([doc, context, id, modified]) => ({ doc, context, id, modified }))
    // Another search may have dropped one of them meanwhile.
    if (generation === this.#generation) for (const one of rows) this.#kept.set(one.doc, one)
    return rows
  }
}
