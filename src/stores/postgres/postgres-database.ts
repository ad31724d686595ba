import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { Overloaded, StartupError, StoreUnavailable } from '../../base/errors.ts'
import { beginPhase, timed } from '../../base/request-timings.ts'
import { Mutex } from '../../base/semaphore.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type Database, type Queries, readOnly, type TransactionOptions } from '../database.ts'
import { changesOf, PostgresConnection, SerializationConflict, translated } from './postgres-connection.ts'
import { openPool, placeOf, takeStore, unusable } from './postgres-pool.ts'
import { type Sql, sql } from '../sql.ts'

export interface PostgresOptions {
  readonly system: Pick<System, 'monotonic' | 'randomBytes'>
  /** Maximum number of connections; 10 by default. */
  readonly connections?: number
  /** Time after which a server without a response is treated as lost; 10 s by default, 0 waits for ever. */
  readonly timeout?: Milliseconds
  /** Time after which the server ends a statement; `timeout` by default. */
  readonly statementTimeout?: Milliseconds
  /** No other node or command may have the database open. */
  readonly isExclusive?: boolean
  /** The address with the user name and password in force, if they can change. */
  readonly currentUrl?: () => string
  /** Refuses each new connection to a store with a later step of the schema. */
  readonly newestSchema?: number
  /** The name that the server shows for the connections; `stowage` by default. */
  readonly application?: string
}

/** With this many conflicting transactions, new transactions join the queue instead of competing with them. */
const CROWD = 3
/** After this many conflicts a transaction fails, and the client is asked to try again later. */
const MAX_ATTEMPTS = 20
const MAX_PAUSE: Milliseconds = 50
/** The advisory lock of {@link Database.withExclusiveLock}: `stow` in ASCII. */
const EXCLUSIVE_LOCK = 0x73746f77
/**
 * Transactions that conflicted, on any node, run one after another: each takes this lock first and holds it until its end. The mode of the
 * lock does not block reads or writes of the table. Unlike a query, `LOCK` does not fix the snapshot of the transaction before its turn.
 */
const AWAIT_TURN = 'LOCK TABLE schema_migrations IN SHARE UPDATE EXCLUSIVE MODE'

/**
 * Connects to the database that `url` names.
 * @throws {StartupError} when it cannot be reached, does not store text as UTF-8, or is in use although exclusive access is
 * required; the message does not contain the URL's password
 */
export async function openPostgresDatabase(url: string, options: PostgresOptions): Promise<Database> {
  const { connections = 10, timeout = 10_000, isExclusive = false, application = 'stowage' } = options
  const { currentUrl = () => url, newestSchema, statementTimeout = timeout } = options
  const isShared = !isExclusive
  const pool = await openPool({ currentUrl, connections, statementTimeout, isShared, application, newestSchema })
  const database = new PostgresDatabase(pool, options.system, timeout)
  try {
    if (isExclusive && !(await database.takeStore())) {
      throw new StartupError(`The database ${placeOf(url)} is in use by another Stowage process.`)
    }
    const row = await database.get<{ encoding: string }>(sql`SELECT current_setting('server_encoding') AS encoding`)
    if (row?.encoding !== 'UTF8') {
      throw new StartupError(
        `The database ${placeOf(url)} has the encoding ${row?.encoding ?? 'none'} instead of UTF8.`,
      )
    }
    return database
  } catch (error) {
    await database.close()
    throw error instanceof StoreUnavailable ? unusable(url, error) : error
  }
}

/**
 * A pool of connections to one server. Transactions are serialisable. Transactions that conflict, on this node or another, are repeated one
 * after another, so that all of many transactions that need the same row succeed. A statement outside a transaction is its own transaction
 * that waits for locked rows and then reads their new state: it never conflicts.
 */
class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly #pool: Pool
  readonly #system: PostgresOptions['system']
  readonly #timeout: Milliseconds
  readonly #singleFile = new Mutex()
  /** The number of transactions in that queue, including the running one. */
  #inFile = 0
  #running = 0
  #commits = 0
  #idle: (() => void) | undefined
  #closed: Promise<void> | undefined
  /** The connection that holds the exclusive lock. */
  #guard: PoolClient | undefined

  constructor(pool: Pool, system: PostgresOptions['system'], timeout: Milliseconds) {
    this.#pool = pool
    this.#system = system
    this.#timeout = timeout
  }

  get revision(): number {
    return this.#commits
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    return await this.#use(
      async connection => (await timed('database', 'read', () => connection.query(statement))).rows as Row[],
    )
  }

  async get<Row>(statement: Sql): Promise<Row | undefined> {
    return (await this.all<Row>(statement))[0]
  }

  async run(statement: Sql): Promise<number> {
    const query = async (connection: PostgresConnection) =>
      changesOf(await timed('database', 'write', () => connection.query(statement)))
    return await this.#use(query).finally(() => this.#commits++)
  }

  async transaction<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const began = this.#system.monotonic()
    for (let attempt = 1; ; attempt++) {
      try {
        if (attempt === 1 && this.#inFile < CROWD) return await this.#attempt(work, options)
        return await this.#queue(began, () => this.#attempt(work, options, true))
      } catch (error) {
        if (!(error instanceof SerializationConflict)) throw error
        if (attempt === MAX_ATTEMPTS) throw crowded(error)
      }
      const [chance = 0] = this.#system.randomBytes(1)
      await timed('waiting', 'transaction', () => pause((Math.min(2 ** attempt, MAX_PAUSE) * chance) / 256))
    }
  }

  async snapshot<T>(work: (at: Queries) => Promise<T>): Promise<T> {
    return await this.#use(async connection => {
      const at = new PostgresTransaction(connection)
      try {
        // Stays idle for as long as the work takes, because it holds no locks that others wait for. The server takes its
        // snapshot with the first statement that reads.
        await connection.execute(
          `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0;
            SELECT 1`,
        )
        return await work(readOnly(at))
      } finally {
        await at.rollback()
      }
    })
  }

  async withExclusiveLock<T>(work: () => Promise<T>): Promise<T> {
    return await this.#use(async connection => {
      // The lock ends with the transaction, which is open on this connection only and does nothing else.
      const lock = new PostgresTransaction(connection)
      try {
        await connection.execute(
          'BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
        )
        await connection.execute(`SELECT pg_advisory_xact_lock(${EXCLUSIVE_LOCK})`, 0)
        const result = await work()
        await lock.commit()
        return result
      } catch (error) {
        await lock.rollback()
        throw error
      }
    })
  }

  async requireWritable(): Promise<void> {}

  async findDamage(): Promise<readonly string[]> {
    return []
  }

  close(): Promise<void> {
    this.#closed ??= new Promise<void>(resolve => {
      if (this.#running === 0) resolve()
      else this.#idle = resolve
    }).then(() => {
      this.#guard?.release(true)
      return this.#pool.end()
    })
    return this.#closed
  }

  /** Locks the store exclusively until `close`. Returns false when another process uses it. */
  async takeStore(): Promise<boolean> {
    try {
      this.#guard = await this.#pool.connect()
      return await takeStore(this.#guard)
    } catch (error) {
      throw translated(error)
    }
  }

  async #queue<T>(began: Milliseconds, work: () => Promise<T>): Promise<T> {
    this.#inFile++
    const endWaiting = beginPhase('waiting', 'transaction')
    try {
      return await this.#singleFile.run(() => {
        endWaiting()
        // Transactions before this one in the queue may each have waited for a server that was gone.
        if (this.#timeout > 0 && this.#system.monotonic() - began > this.#timeout) throw crowded()
        return work()
      })
    } finally {
      endWaiting()
      this.#inFile--
    }
  }

  /** @param inTurn after the conflicting transactions of other nodes */
  async #attempt<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions, inTurn = false): Promise<T> {
    return await this.#use(
      connection =>
        timed('database', 'transaction', async () => {
          const transaction = new PostgresTransaction(connection)
          try {
            // A relaxed transaction is as durable as any other here: the server may crash while this process goes on, and an upload whose
            // reservation is lost would leave bytes that no record refers to.
            const begin = ['BEGIN ISOLATION LEVEL SERIALIZABLE']
            if (options.noTimeout) begin.push('SET LOCAL statement_timeout = 0')
            if (inTurn) begin.push(AWAIT_TURN)
            await connection.begin(begin.join('; '))
            const result = await work(transaction)
            await transaction.commit().finally(() => this.#commits++)
            return result
          } catch (error) {
            await transaction.rollback()
            // The work may have converted the conflict into another error.
            throw transaction.conflict ?? error
          }
        }),
      options.noTimeout ? 0 : this.#timeout,
    )
  }

  async #use<T>(work: (connection: PostgresConnection) => Promise<T>, timeout = this.#timeout): Promise<T> {
    if (this.#closed) throw new Error('the database is closed')
    this.#running++
    try {
      // The pool throws at once if the driver cannot create a client.
      const connect = async (): Promise<PoolClient> => await this.#pool.connect()
      const client = await timed('waiting', 'connection', connect).catch((error: unknown) => {
        throw translated(error)
      })
      const connection = new PostgresConnection(client, timeout)
      try {
        return await work(connection)
      } finally {
        connection.release()
      }
    } finally {
      if (--this.#running === 0) this.#idle?.()
    }
  }
}

const crowded = (cause?: unknown): Overloaded =>
  Object.assign(new Overloaded('Conflicting writes to the database. Try again in 1 second.'), { cause })

class PostgresTransaction implements Queries {
  readonly engine = 'postgres'
  readonly #connection: PostgresConnection
  /** The connection runs one statement at a time. */
  readonly #mutex = new Mutex()
  #ended = false
  /** The conflict that the transaction failed with, if any. */
  conflict: SerializationConflict | undefined

  constructor(connection: PostgresConnection) {
    this.#connection = connection
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    return (await this.#query(statement)).rows as Row[]
  }

  async get<Row>(statement: Sql): Promise<Row | undefined> {
    return (await this.all<Row>(statement))[0]
  }

  async run(statement: Sql): Promise<number> {
    return changesOf(await this.#query(statement))
  }

  async commit(): Promise<void> {
    this.#ended = true
    const { command } = await this.#noting(() => this.#connection.execute('COMMIT'))
    // After an error the server rolls back every later command, and reports that as a success.
    if (command !== 'COMMIT') throw new Error('the transaction continued after an error')
  }

  async rollback(): Promise<void> {
    this.#ended = true
    await this.#mutex.run(() => this.#connection.rollback())
  }

  async #query(statement: Sql) {
    if (this.#ended) throw new Error('the transaction has ended')
    return await this.#noting(() => this.#connection.query(statement))
  }

  #noting<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      try {
        return await work()
      } catch (error) {
        if (error instanceof SerializationConflict) this.conflict = error
        throw error
      }
    })
  }
}
