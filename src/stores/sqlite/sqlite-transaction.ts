import { setImmediate } from 'node:timers/promises'
import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Queries } from '../database.ts'
import type { Sql } from '../sql.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/**
 * The engine blocks the process, so after this time other requests get their turn to read or to queue writes. Measured by
 * the clock of the machine, even if a test uses another clock.
 */
const MAX_STRETCH: Milliseconds = 10

/** The connection that the work of one transaction uses, until the transaction ends. */
export class SqliteTransaction implements Queries {
  readonly engine = 'sqlite'
  readonly #connection: SqliteConnection
  #ended = false
  #begun = realSystem.monotonic()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  end(): void {
    this.#ended = true
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    await this.#pause()
    const rows = this.#live().all(statement) as Row[]
    await this.#pause()
    return rows
  }

  async get<Row>(statement: Sql): Promise<Row | undefined> {
    await this.#pause()
    const row = this.#live().get(statement) as Row | undefined
    await this.#pause()
    return row
  }

  async run(statement: Sql): Promise<number> {
    await this.#pause()
    const count = this.#live().run(statement)
    await this.#pause()
    return count
  }

  /** Before each statement and after it, so that a long statement and what its caller computes do not add up. */
  #pause(): Promise<void> | undefined {
    return realSystem.monotonic() - this.#begun < MAX_STRETCH ? undefined : this.#nextTurn()
  }

  async #nextTurn(): Promise<void> {
    await setImmediate()
    this.#begun = realSystem.monotonic()
  }

  #live(): SqliteConnection {
    // Without an open transaction the statement would commit by itself.
    if (this.#ended || !this.#connection.inTransaction) throw new Error('the transaction has ended')
    return this.#connection
  }
}
