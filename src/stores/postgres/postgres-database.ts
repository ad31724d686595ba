import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { Overloaded, StartupError, StoreUnavailable } from '../../base/errors.ts'
import { Mutex } from '../../base/mutex.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Database, Queries, TransactionOptions } from '../database.ts'
import { changesOf, PostgresConnection } from './postgres-connection.ts'
import { SerializationConflict, translated } from './postgres-errors.ts'
import { openPool, placeOf } from './postgres-pool.ts'
import { takeStore } from './postgres-presence.ts'
import { type Sql, sql } from '../sql.ts'

export interface PostgresOptions {
  readonly system: Pick<System, 'monotonic' | 'randomBytes'>
  /** How many connections there are at most; 10 by default. */
  readonly connections?: number
  /** A server that has not answered a statement for so long counts as lost; 10 s by default, 0 waits for ever. */
  readonly timeout?: Milliseconds
  /** Nobody else may have the database open, no node and no command. */
  readonly isExclusive?: boolean
  /** What the server shows as the name of the connections; `stowage` by default. */
  readonly application?: string
}

/** With so many transactions that have lost, nobody tries his luck beside them: the ones to come wait their turn as well. */
const CROWD = 3
/** A transaction that loses so often is told to come back later. */
const MAX_ATTEMPTS = 20
const MAX_PAUSE: Milliseconds = 50
/** The advisory lock of {@link Database.withExclusiveLock}: `stow` in ASCII. */
const ALONE = 0x73746f77

/**
 * Connects to the database that `url` names.
 * @throws {StartupError} when it cannot be reached or does not keep text as UTF-8, or is in use where
 *   it may not be; the URL's password is not told
 */
export async function openPostgresDatabase(url: string, options: PostgresOptions): Promise<Database> {
  const { connections = 10, timeout = 10_000, isExclusive = false, application = 'stowage' } = options
  const pool = await openPool(url, { connections, timeout, isShared: !isExclusive, application })
  const database = new PostgresDatabase(pool, options.system, timeout)
  try {
    if (isExclusive && !(await database.takeStore())) {
      throw new StartupError(`The database ${placeOf(url)} is in use by another Stowage process.`)
    }
    const row = await database.get<{ encoding: string }>(sql`SELECT current_setting('server_encoding') AS encoding`)
    if (row?.encoding !== 'UTF8') {
      throw new StartupError(`The database ${placeOf(url)} is in ${row?.encoding ?? 'no encoding'}, not in UTF8.`)
    }
    return database
  } catch (error) {
    await database.close()
    if (!(error instanceof StoreUnavailable)) throw error
    const reason = error.cause instanceof Error ? error.cause.message || error.cause.name : String(error.cause)
    throw new StartupError(`The database ${placeOf(url)} cannot be used: ${reason}`, { cause: error.cause })
  }
}

/**
 * A pool of connections to one server. Transactions are serialisable; those that lose to one another go on in single file,
 * so that of many that want the same row one after the other gets it. A statement outside of a transaction is one of its own
 * that waits for rows in use and judges them as they are then: it never loses.
 */
class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly revision = undefined
  readonly #pool: Pool
  readonly #system: PostgresOptions['system']
  readonly #timeout: Milliseconds
  readonly #singleFile = new Mutex()
  /** Transactions that wait there, and the one at work. */
  #inFile = 0
  #running = 0
  #idle: (() => void) | undefined
  #closed: Promise<void> | undefined
  /** The connection that keeps others away. */
  #guard: PoolClient | undefined

  constructor(pool: Pool, system: PostgresOptions['system'], timeout: Milliseconds) {
    this.#pool = pool
    this.#system = system
    this.#timeout = timeout
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    return await this.#use(async connection => (await connection.query(statement)).rows as Row[])
  }

  async get<Row>(statement: Sql): Promise<Row | undefined> {
    return (await this.all<Row>(statement))[0]
  }

  async run(statement: Sql): Promise<number> {
    return await this.#use(async connection => changesOf(await connection.query(statement)))
  }

  async transaction<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const began = this.#system.monotonic()
    for (let attempt = 1; ; attempt++) {
      try {
        if (attempt === 1 && this.#inFile < CROWD) return await this.#attempt(work, options)
        return await this.#queue(began, () => this.#attempt(work, options))
      } catch (error) {
        if (!(error instanceof SerializationConflict)) throw error
        if (attempt === MAX_ATTEMPTS) throw crowded(error)
      }
      const [chance = 0] = this.#system.randomBytes(1)
      await pause((Math.min(2 ** attempt, MAX_PAUSE) * chance) / 256)
    }
  }

  async snapshot<T>(work: (at: Queries) => Promise<T>): Promise<T> {
    return await this.#use(async connection => {
      const at = new PostgresTransaction(connection)
      // Idle for as long as the work takes: it holds no locks that anybody waits for. The server looks at the store with
      // the first statement that reads.
      await connection.execute(
        `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0;
          SELECT 1`,
      )
      try {
        return await work({
          engine: 'postgres',
          all: statement => at.all(statement),
          get: statement => at.get(statement),
          run: async () => {
            throw new Error('a snapshot is for reading')
          },
        })
      } finally {
        await at.rollback()
      }
    })
  }

  async withExclusiveLock<T>(work: () => Promise<T>): Promise<T> {
    return await this.#use(async connection => {
      // The lock ends with the transaction, which is open on this connection only and does nothing else.
      await connection.execute(
        `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
          SELECT pg_advisory_xact_lock(${ALONE})`,
      )
      try {
        return await work()
      } finally {
        await connection.execute('COMMIT')
      }
    }, 0)
  }

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

  /** Keeps everybody else away until `close`; false when somebody is there. */
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
    try {
      return await this.#singleFile.run(() => {
        // Those before us may have found the server gone, one after the other.
        if (this.#timeout > 0 && this.#system.monotonic() - began > this.#timeout) throw crowded()
        return work()
      })
    } finally {
      this.#inFile--
    }
  }

  async #attempt<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions): Promise<T> {
    return await this.#use(
      async connection => {
        const transaction = new PostgresTransaction(connection)
        await connection.execute(beginning(options))
        try {
          const result = await work(transaction)
          await transaction.commit()
          return result
        } catch (error) {
          await transaction.rollback()
          // Work may have made something else of the loss.
          throw transaction.conflict ?? error
        }
      },
      options.noTimeout ? 0 : this.#timeout,
    )
  }

  async #use<T>(work: (connection: PostgresConnection) => Promise<T>, timeout = this.#timeout): Promise<T> {
    if (this.#closed) throw new Error('the database is closed')
    this.#running++
    try {
      const client = await this.#pool.connect().catch((error: unknown) => {
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

/**
 * A relaxed transaction is as durable as any: it outlives our process either way, but the server may crash without us, and an
 * upload whose reservation is lost leaves bytes that nobody knows of.
 */
function beginning({ noTimeout }: TransactionOptions): string {
  return ['BEGIN ISOLATION LEVEL SERIALIZABLE', ...(noTimeout ? ['SET LOCAL statement_timeout = 0'] : [])].join('; ')
}

const crowded = (cause?: unknown): Overloaded => {
  const refusal = new Overloaded('Too many changes of the same things at once.')
  refusal.cause = cause
  return refusal
}

class PostgresTransaction implements Queries {
  readonly engine = 'postgres'
  readonly #connection: PostgresConnection
  /** The connection takes one statement at a time. */
  readonly #mutex = new Mutex()
  #ended = false
  #conflict: SerializationConflict | undefined

  constructor(connection: PostgresConnection) {
    this.#connection = connection
  }

  /** That the transaction has lost, once it has. */
  get conflict(): SerializationConflict | undefined {
    return this.#conflict
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
    // After an error the server rolls back whatever it is asked to do, and calls that a success.
    if (command !== 'COMMIT') throw new Error('the transaction went on after an error')
  }

  async rollback(): Promise<void> {
    this.#ended = true
    await this.#mutex.run(() => this.#connection.execute('ROLLBACK')).catch(() => this.#connection.condemn())
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
        if (error instanceof SerializationConflict) this.#conflict = error
        throw error
      }
    })
  }
}
