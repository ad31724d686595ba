import type { Bytes } from '../base/units.ts'
import type { Sql } from './sql.ts'

export type Engine = 'sqlite' | 'postgres'

/**
 * Statements against the store's tables. Columns come back as strings, numbers or null; whole numbers beyond 2^53 do not
 * occur in the schema. JSON is kept as text, a boolean as 0 or 1, a point of time as milliseconds.
 */
export interface Queries {
  /** For the few statements whose text cannot be common. */
  readonly engine: Engine
  all<Row>(statement: Sql): Promise<Row[]>
  /** The first row, or `undefined` when there is none. */
  get<Row>(statement: Sql): Promise<Row | undefined>
  /** The number of rows inserted, changed or deleted. */
  run(statement: Sql): Promise<number>
}

export interface TransactionOptions {
  /**
   * `full` (default): when the promise resolves, the change survives a power cut. `relaxed`: it survives the end of the
   * process, and every later `full` transaction carries it along; for facts that only matter while the machine is up.
   */
  readonly durability?: 'full' | 'relaxed'
  /** Not given up however long a statement takes: for steps of the schema. */
  readonly noTimeout?: true
  /** Takes so long that nobody is to wait for it who came before. */
  readonly ownCommit?: true
}

/**
 * One relational engine. Reads outside a transaction see committed state only.
 * A breach of a unique constraint rejects with {@link UniqueViolation}, the loss of a database server with
 * `StoreUnavailable`, any other engine error with its own.
 */
export interface Database extends Queries {
  /**
   * Another number after each change, of another process from the next turn of the event loop on; `undefined` where the engine
   * cannot tell. While it stays the same, so does all that can be read outside a transaction.
   */
  readonly revision: number | undefined
  /**
   * Serialisable. Commits when `work` resolves, rolls back when it rejects and passes the rejection on.
   * `work` may run again after a conflict, so it touches nothing but `tx`; transactions do not nest. After an error of the
   * engine the transaction cannot go on.
   */
  transaction<T>(work: (tx: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Of everybody on the store at most one does such work at a time: what prepares it, at a start. Does not nest. */
  withExclusiveLock<T>(work: () => Promise<T>): Promise<T>
  /**
   * Reads that all see the store as it was when they began, however long they take; others write meanwhile. `run` is
   * refused.
   */
  snapshot<T>(work: (at: Queries) => Promise<T>): Promise<T>
  /**
   * Lets the engine check its own data structures and returns what is wrong, in its words; nothing when all is in order
   * or when the engine checks itself, as PostgreSQL does with page checksums. SQLite blocks the process meanwhile.
   * @param maxBytes a larger database is not checked
   */
  findDamage(options?: { readonly maxBytes?: Bytes }): Promise<readonly string[]>
  close(): Promise<void>
}

/** A row with this key exists already. Who knows what the key means turns it into a refusal. */
export class UniqueViolation extends Error {
  constructor(options: { cause?: unknown } = {}) {
    super('a unique constraint refused the row', options)
    this.name = 'UniqueViolation'
  }
}
