import { timed } from '../base/request-timings.ts'
import type { Bytes } from '../base/units.ts'
import { type Engine, type Sql, sql } from './sql.ts'

/**
 * Runs statements on the store's tables. Columns are returned as strings, numbers or null; the schema has no integers beyond
 * 2^53. JSON is stored as text, a boolean as 0 or 1, a time as milliseconds.
 */
export interface Queries {
  /** For the few statements whose SQL differs between databases. */
  readonly engine: Engine
  all<Row>(statement: Sql): Promise<Row[]>
  /** The first row, or `undefined` when there is none. */
  get<Row>(statement: Sql): Promise<Row | undefined>
  /** The number of rows inserted, changed or deleted. */
  run(statement: Sql): Promise<number>
}

export interface TransactionOptions {
  /**
   * `full` (default): when the promise resolves, the change survives a power failure. `relaxed`: it survives the end of the
   * process, and every later `full` transaction makes it durable too; for data that only matter while the machine is
   * running.
   */
  readonly durability?: 'full' | 'relaxed'
  /** No timeout for statements: for schema migrations. */
  readonly noTimeout?: true
  /** A long transaction with its own commit, so that transactions before it need not wait for it. */
  readonly ownCommit?: true
}

/**
 * A relational engine. Reads outside a transaction see committed state only; except for relaxed transactions, that is on the disk.
 * Violating a unique constraint rejects with {@link UniqueViolation}, losing the connection to a database server with
 * `StoreUnavailable`, any other engine error with its own error.
 */
export interface Database extends Queries {
  /**
   * Changes with each commit. On SQLite, commits of another process are seen from the next iteration of the event loop on; while it is
   * unchanged, reads outside a transaction return the same data. On PostgreSQL only the commits of this object count.
   * `undefined` if the database cannot provide it.
   */
  readonly revision: number | undefined
  /**
   * Serialisable. Commits when `work` resolves, rolls back when it rejects and passes the rejection on.
   * `work` may run again after a conflict, so it must have no effect except through `tx`. Transactions do not nest. After an
   * error of the database the transaction cannot continue.
   */
  transaction<T>(work: (tx: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Runs work that at most one process on the store does at a time, such as preparing the store at a start. Does not nest.
   */
  withExclusiveLock<T>(work: () => Promise<T>): Promise<T>
  /**
   * All reads see the store as it was at the beginning, however long they take; others can write meanwhile. `run` is
   * rejected.
   */
  snapshot<T>(work: (at: Queries) => Promise<T>): Promise<T>
  /**
   * Lets the database check its own data structures and returns its messages; empty when there is no damage or when the database
   * checks itself, as PostgreSQL does with page checksums. SQLite blocks the process meanwhile.
   * @param maxBytes a larger database is not checked
   */
  findDamage(options?: { readonly maxBytes?: Bytes }): Promise<readonly string[]>
  /** Rejects if the last write failed because of the disk, and writing still fails. */
  requireWritable(): Promise<void>
  close(): Promise<void>
}

/**
 * Work within a transaction that can fail alone: what it has written is undone, and the transaction goes on. On SQLite the full-text index is
 * written to the disk with each statement meanwhile, so this is slow.
 */
export async function withSavepoint<T>(tx: Queries, work: () => Promise<T>): Promise<T> {
  await tx.run(sql`SAVEPOINT step`)
  try {
    const result = await work()
    await tx.run(sql`RELEASE SAVEPOINT step`)
    return result
  } catch (error) {
    await tx.run(sql`ROLLBACK TO SAVEPOINT step`)
    await tx.run(sql`RELEASE SAVEPOINT step`)
    throw error
  }
}

/** The same queries without the one that writes. */
export const readOnly = (at: Queries): Queries => ({
  engine: at.engine,
  all: statement => timed('database', 'read', () => at.all(statement)),
  get: statement => timed('database', 'read', () => at.get(statement)),
  run: async () => {
    throw new Error('a snapshot is read-only')
  },
})

/** A row with this key already exists. The caller converts it into an error for clients. */
export class UniqueViolation extends Error {
  constructor(options: { cause?: unknown } = {}) {
    super('a unique constraint refused the row', options)
    this.name = 'UniqueViolation'
  }
}

/** A row may have megabytes, or cause others to be deleted. */
const ROWS_TOGETHER = 200

/**
 * Deletes all rows that match. SQLite runs a statement on the thread that answers, so it deletes some at a time: other requests run
 * between two statements.
 * @param table with row ids
 * @returns how many there were
 */
export async function deleteRows(tx: Queries, table: Sql, condition: Sql): Promise<number> {
  if (tx.engine === 'postgres') return await tx.run(sql`DELETE FROM ${table} WHERE ${condition}`)
  for (let deleted = 0; ; ) {
    const count = await tx.run(sql`DELETE FROM ${table}
      WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${condition} LIMIT ${ROWS_TOGETHER})`)
    deleted += count
    if (count < ROWS_TOGETHER) return deleted
  }
}
