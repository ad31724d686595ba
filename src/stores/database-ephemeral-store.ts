import { parseStored } from '../base/json.ts'
import { KeyedMutex } from '../base/semaphore.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Database, Queries } from './database.ts'
import type { CachedValue, EphemeralStore } from './ephemeral-store.ts'
import { sql } from './sql.ts'

/** Maximum number of rows in one statement or transaction. */
const SLICE = 200

interface Row {
  key: string
  value: string
  expires: number
}

/**
 * Stores values that must outlive the process in the table `ephemeral`. They expire by this machine's wall clock, which must be
 * synchronised on nodes that share the database. A removed value stays removed after a power failure; a value that was added or changed
 * just before may return to its old state.
 */
export class DatabaseEphemeralStore implements EphemeralStore {
  readonly #database: Database
  readonly #system: System
  /** Serialises changes of one key, which would otherwise conflict in the database and be repeated. */
  readonly #changing = new KeyedMutex()

  constructor(database: Database, system: System) {
    this.#database = database
    this.#system = system
  }

  async get<T>(key: string): Promise<T | undefined> {
    return parse<T>(await this.#find(this.#database, key))
  }

  async getWithin<T>(queries: Queries, key: string): Promise<T | undefined> {
    return parse<T>(await this.#find(queries, key))
  }

  add<T>(key: string, value: T, ttl: Milliseconds): Promise<boolean> {
    return this.#transaction(async tx => {
      if (await this.#find(tx, key)) return false
      await this.#put(tx, { key, value: JSON.stringify(value), expires: this.#end(ttl) })
      return true
    })
  }

  update<T>(key: string, change: (old: T | undefined) => CachedValue<T> | undefined): Promise<T | undefined> {
    const work = async (tx: Queries): Promise<T | undefined> => {
      const row = await this.#find(tx, key)
      const kept = change(parse<T>(row))
      const expires = kept?.ttl === undefined ? row?.expires : this.#end(kept.ttl)
      if (kept && expires !== undefined) await this.#put(tx, { key, value: JSON.stringify(kept.value), expires })
      else if (row) await tx.run(sql`DELETE FROM ephemeral WHERE key = ${key}`)
      return kept?.value
    }
    return this.#changing.run(key, () => this.#transaction(work))
  }

  async take<T>(key: string): Promise<T | undefined> {
    const row = await this.#database.get<Row>(
      sql`DELETE FROM ephemeral WHERE key = ${key} RETURNING key, value, expires`,
    )
    return row && row.expires > this.#system.now() ? parse<T>(row) : undefined
  }

  async *scan<T>(prefix: string): AsyncIterable<readonly [key: string, value: T]> {
    const length = [...prefix].length
    for (let last = ''; ; ) {
      const rows = await this.#database.all<Row>(sql`SELECT key, value, expires FROM ephemeral
        WHERE substr(key, 1, ${length}) = ${prefix} AND key > ${last} AND expires > ${this.#system.now()}
        ORDER BY key LIMIT ${SLICE}`)
      for (const row of rows) if (row.expires > this.#system.now()) yield [row.key, parseStored<T>(row.value)]
      if (rows.length < SLICE) return
      last = rows.at(-1)?.key ?? ''
    }
  }

  async count(prefix: string): Promise<number> {
    const row = await this.#database.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM ephemeral
      WHERE substr(key, 1, ${[...prefix].length}) = ${prefix} AND expires > ${this.#system.now()}`)
    return row?.count ?? 0
  }

  /** Deletes expired rows, which are already invisible. */
  async sweep(): Promise<void> {
    const some = sql`SELECT key FROM ephemeral WHERE expires <= ${this.#system.now()} LIMIT ${SLICE}`
    while ((await this.#database.run(sql`DELETE FROM ephemeral WHERE key IN (${some})`)) === SLICE);
  }

  /** The code that opened the database closes it. */
  async close(): Promise<void> {}

  #transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    return this.#database.transaction(work, { durability: 'relaxed' })
  }

  #find(queries: Queries, key: string): Promise<Row | undefined> {
    return queries.get<Row>(sql`SELECT key, value, expires FROM ephemeral
      WHERE key = ${key} AND expires > ${this.#system.now()}`)
  }

  async #put(tx: Queries, { key, value, expires }: Row): Promise<void> {
    await tx.run(sql`INSERT INTO ephemeral (key, value, expires) VALUES (${key}, ${value}, ${expires})
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires`)
  }

  #end(ttl: Milliseconds): Milliseconds {
    return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(this.#system.now() + ttl))
  }
}

const parse = <T>(row: Row | undefined): T | undefined => row && parseStored<T>(row.value)
