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
    return this.#live().all(statement) as Row[]
  }

  async get<Row>(statement: Sql): Promise<Row | undefined> {
    await this.#pause()
    return this.#live().get(statement) as Row | undefined
  }

  async run(statement: Sql): Promise<number> {
    await this.#pause()
    return this.#live().run(statement)
  }

  async #pause(): Promise<void> {
    if (realSystem.monotonic() - this.#begun < MAX_STRETCH) return
    await setImmediate()
    this.#begun = realSystem.monotonic()
  }

  #live(): SqliteConnection {
    // Without an open transaction the statement would commit by itself.
    if (this.#ended || !this.#connection.inTransaction) throw new Error('the transaction has ended')
    return this.#connection
  }
}
