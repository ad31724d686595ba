import { setImmediate } from 'node:timers/promises'
import type { Database } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { latestGeneration } from './sqlite-index.ts'

/** From this number on, a search in all parts takes twice as long as in one. */
const MANY_PARTS = 8
/** One transaction writes about so many pages, which takes some milliseconds. */
const PAGES = 32
/** So much of the index must have changed since the last time: it is written anew as a whole. */
const CHANGED = 0.1

interface Table {
  readonly parts: Sql
  readonly merge: (pages: number) => Sql
}

const tables: readonly Table[] = [
  {
    parts: sql`SELECT count(DISTINCT segid) AS count FROM search_ngrams_idx`,
    merge: pages => sql`INSERT INTO search_ngrams (search_ngrams, rank) VALUES ('merge', ${pages})`,
  },
  {
    parts: sql`SELECT count(DISTINCT segid) AS count FROM search_texts_idx`,
    merge: pages => sql`INSERT INTO search_texts (search_texts, rank) VALUES ('merge', ${pages})`,
  },
]

/**
 * Merges the parts of the full-text tables. FTS5 begins a part with each commit and merges some of them together as more are written, but
 * leaves up to twenty, and looks each trigram of a search up in all of them.
 */
export class SqliteMerging {
  readonly #database: Database
  /** The generation of the index when this was last called. */
  #seen: number | undefined
  /** The generation for which it was last decided whether to merge. */
  #decided: number | undefined
  /** The generation of the index when its parts were last merged. */
  #merged: number | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Called again and again; works when nothing has been written since the call before. */
  async run(): Promise<void> {
    const generation = await latestGeneration(this.#database)
    const isQuiet = generation === this.#seen
    this.#seen = generation
    if (!isQuiet || generation === this.#decided) return
    if (await this.#isMuchNew(generation)) {
      for (const table of tables) await this.#merge(table)
      this.#merged = generation
    }
    this.#decided = generation
  }

  async #isMuchNew(generation: number): Promise<boolean> {
    if (this.#merged === undefined) return true
    const entries = await this.#count(sql`SELECT count(*) AS count FROM search_entries`)
    return generation - this.#merged > CHANGED * entries
  }

  async #merge(table: Table): Promise<void> {
    if ((await this.#count(table.parts)) < MANY_PARTS) return
    // A negative number begins to merge all parts, and positive ones go on with it.
    for (let pages = -PAGES; await this.#step(table, pages); pages = PAGES) await setImmediate()
  }

  /** False when nothing was left to do: less than two rows were written (SQLite, FTS5, "The 'merge' Command"). */
  async #step({ merge }: Table, pages: number): Promise<boolean> {
    const changes = sql`SELECT total_changes() AS count`
    return await this.#database.transaction(
      async tx => {
        const before = await tx.get<{ count: number }>(changes)
        await tx.run(merge(pages))
        const after = await tx.get<{ count: number }>(changes)
        return (after?.count ?? 0) - (before?.count ?? 0) >= 2
      },
      { durability: 'relaxed' },
    )
  }

  async #count(statement: Sql): Promise<number> {
    return (await this.#database.get<{ count: number }>(statement))?.count ?? 0
  }
}
