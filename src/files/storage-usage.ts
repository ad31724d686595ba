import type { System } from '../base/system.ts'
import { type Bytes, type Milliseconds, UNLIMITED } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import type { Ledger } from './quota-ledger.ts'
import { THRESHOLDS } from './quota-thresholds.ts'

interface Measurement {
  /** Total size of all files. */
  readonly total: Bytes
  /** The {@link MAX_CONTEXTS} contexts with the most bytes, largest first. */
  readonly contexts: ReadonlyArray<{ readonly context: string; readonly used: Bytes }>
  /** How many contexts have reached each threshold. */
  readonly filled: ReadonlyArray<{ readonly percent: number; readonly count: number }>
}

/** How many of the fullest contexts are listed. */
export const MAX_CONTEXTS = 10
/** Measuring reads the usage of every context, so concurrent callers share a result. */
const CACHE_TTL: Milliseconds = 10_000

/** Measures how full the store is, for monitoring. */
export class StorageUsage {
  readonly #database: Database
  readonly #system: System
  readonly #ledger: Ledger
  #last: { readonly at: Milliseconds; readonly result: Promise<Measurement> } | undefined

  constructor(database: Database, system: System, ledger: Ledger) {
    this.#database = database
    this.#system = system
    this.#ledger = ledger
  }

  /** At most ten seconds old. */
  async measure(): Promise<Measurement> {
    const now = this.#system.monotonic()
    if (!this.#last || now - this.#last.at > CACHE_TTL) this.#last = { at: now, result: this.#read() }
    try {
      return await this.#last.result
    } catch (error) {
      this.#last = undefined
      throw error
    }
  }

  async #read(): Promise<Measurement> {
    const sum = await this.#database.get<{ total: number }>(
      sql`SELECT COALESCE(SUM(used), 0) AS total FROM quota_usage WHERE kind = 'context'`,
    )
    const contexts = await this.#database.all<{ context: string; used: Bytes }>(
      sql`SELECT owner AS context, used FROM quota_usage WHERE kind = 'context' ORDER BY used DESC, owner LIMIT ${MAX_CONTEXTS}`,
    )
    const filled = this.#ledger.enforced ? await Promise.all(THRESHOLDS.map(percent => this.#countAt(percent))) : []
    return { total: sum?.total ?? 0, contexts, filled }
  }

  async #countAt(percent: number): Promise<{ percent: number; count: number }> {
    const limit = this.#ledger.usage.limitOfBytes()
    const row = await this.#database.get<{ count: number }>(
      sql`SELECT COUNT(*) AS count FROM quota_usage WHERE kind = 'context' AND ${limit} <> ${UNLIMITED} AND used * 100 >= ${limit} * ${percent}`,
    )
    return { percent, count: row?.count ?? 0 }
  }
}
