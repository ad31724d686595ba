import type { Database } from '../../src/stores/database.ts'
import type { Sql } from '../../src/stores/sql.ts'

export interface CountedDatabase {
  /** The same database, without transactions: its statements are recorded. */
  readonly counted: Database
  /** The statements so far. A test empties it to count anew. */
  readonly statements: Sql[]
}

/** Records the statements that code sends to `database` outside transactions. */
export function countStatements(database: Database): CountedDatabase {
  const statements: Sql[] = []
  const record = (statement: Sql): Sql => {
    statements.push(statement)
    return statement
  }
  const counted: Pick<Database, 'engine' | 'revision' | 'all' | 'get' | 'run'> = {
    engine: database.engine,
    get revision() {
      return database.revision
    },
    all: statement => database.all(record(statement)),
    get: statement => database.get(record(statement)),
    run: statement => database.run(record(statement)),
  }
  return { counted: counted as Database, statements }
}
