import type { Queries } from './database.ts'
import type { Sql } from './sql.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** A connection as the work of one transaction sees it: until the transaction ends. */
export class SqliteTransaction implements Queries {
  readonly engine = 'sqlite'
  readonly #connection: SqliteConnection
  #ended = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  end(): void {
    this.#ended = true
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    return this.#live().all(statement) as Row[]
  }

  async get<Row>(statement: Sql): Promise<Row | undefined> {
    return this.#live().get(statement) as Row | undefined
  }

  async run(statement: Sql): Promise<number> {
    return this.#live().run(statement)
  }

  #live(): SqliteConnection {
    // Without a transaction open the statement would commit by itself.
    if (this.#ended || !this.#connection.inTransaction) throw new Error('the transaction has ended')
    return this.#connection
  }
}
