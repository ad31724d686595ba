import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { Overloaded, StoreDamaged, StoreUnavailable, StorageReadOnly } from '../../base/errors.ts'
import { currentRequest } from '../../base/request-timings.ts'
import { isBusy } from './busy.ts'
import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type Queries, UniqueViolation, type TransactionOptions } from '../database.ts'
import { translateDiskError, isSyncFailure } from '../disk.ts'
import { bindable, type Sql } from '../sql.ts'
import type { Mutex } from '../../base/semaphore.ts'

interface Prepared {
  readonly statement: StatementSync
  readonly writes: boolean
}

/** A connection: prepares statements once, checks values before they are bound, and converts errors of SQLite. */
export class SqliteConnection {
  readonly #handle: DatabaseSync
  readonly #cache: LRUCache<string, Prepared>
  /** How many statements have been executed. */
  statements = 0
  #revisionStatement: StatementSync | undefined

  /** @param maxPrepared how many prepared statements are kept */
  constructor(handle: DatabaseSync, maxPrepared: number) {
    this.#handle = handle
    this.#cache = new LRUCache({ max: maxPrepared, memoMethod: text => prepare(handle, text) })
  }

  get inTransaction(): boolean {
    return this.#handle.isTransaction
  }

  /** Changes when another connection commits. Almost every request reads it, so its statement is kept. */
  get revision(): number {
    this.statements++
    try {
      this.#revisionStatement ??= this.#handle.prepare('PRAGMA data_version')
      return (this.#revisionStatement.get() as { readonly data_version: number }).data_version
    } catch (error) {
      throw this.#converted(error)
    }
  }

  all(statement: Sql): unknown[] {
    return this.#execute(statement, (prepared, values) => prepared.statement.all(...values))
  }

  /** The first row, or `undefined`. */
  get(statement: Sql): unknown {
    return this.#execute(statement, (prepared, values) => prepared.statement.get(...values))
  }

  run(statement: Sql): number {
    return this.#execute(statement, (prepared, values) => {
      // SQLite also returns the id of the last row, which in the tables of its text index can be too large for a number.
      prepared.statement.setReadBigInts(true)
      try {
        const { changes } = prepared.statement.run(...values)
        // For other statements SQLite returns the count of the last statement that wrote.
        return prepared.writes ? Number(changes) : 0
      } finally {
        prepared.statement.setReadBigInts(false)
      }
    })
  }

  /** For statements that must not be cached, such as pragmas: some take effect only when they are prepared. */
  execute(text: string): void {
    this.statements++
    try {
      this.#handle.exec(text)
    } catch (error) {
      throw this.#converted(error)
    }
  }

  close(): void {
    this.#cache.clear()
    this.#revisionStatement = undefined
    this.#handle.close()
  }

  /** SQLite also reports a damaged file when the disk fails to read, so this asks the disk. */
  #converted(error: unknown): unknown {
    if (isBusy(error)) {
      return new Overloaded('Another program holds the lock of the database.', 1, 'overloaded', { cause: error })
    }
    const converted = translateDiskError(error)
    const path = converted instanceof StoreDamaged ? this.#handle.location() : null
    return path === null ? converted : (failureOfDisk(dirname(path)) ?? converted)
  }

  #execute<T>(statement: Sql, use: (prepared: Prepared, values: ReturnType<typeof bindable>[]) => T): T {
    this.statements++
    const values = statement.values.map(bindable)
    try {
      // A damaged database fails here too: SQLite reads the schema.
      return use(this.#cache.memo(statementText(statement)), values)
    } catch (error) {
      if (error instanceof Error && 'errcode' in error && uniqueCodes.has(error.errcode)) {
        throw new UniqueViolation({ cause: error })
      }
      throw this.#converted(error)
    }
  }
}

/**
 * The error of a disk that fails; `undefined` if it works. Synchronises the folder and not the database file, because closing that file here
 * would drop the locks of SQLite.
 */
function failureOfDisk(folder: string): StoreUnavailable | undefined {
  try {
    const handle = openSync(folder, 'r')
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    return undefined
  } catch (error) {
    const converted = translateDiskError(error)
    return converted instanceof StoreUnavailable ? converted : undefined
  }
}

/** Whether the statement changes rows, by its first word. */
export function writesRows(statement: Sql): boolean {
  return /^\s*(insert|update|delete|replace)\b/i.test(statement.parts[0] ?? '')
}

/** SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID. */
const uniqueCodes: ReadonlySet<unknown> = new Set([1555, 2067, 2579])

const literalTexts = new WeakMap<readonly string[], string>()

/** The text with `?` for every value. A template literal passes the same array each time, so it is joined only once. */
function statementText(statement: Sql): string {
  const { parts } = statement
  if (!('raw' in parts)) return parts.join('?')
  const known = literalTexts.get(parts)
  if (known !== undefined) return known
  const text = parts.join('?')
  literalTexts.set(parts, text)
  return text
}

function prepare(handle: DatabaseSync, text: string): Prepared {
  // SQLite would prepare the first statement and silently ignore the others.
  const outline = text.replace(/'[^']*'/g, '')
  if (/;\s*\S/.test(outline) && !/^\s*create\s+trigger\b/i.test(outline)) {
    throw new TypeError('a text must contain exactly one statement')
  }
  return { statement: handle.prepare(text), writes: writesRows({ parts: [text], values: [] }) }
}

/**
 * SQLite blocks the process, so after this time other requests can read or queue writes. Measured by
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

  /**
   * Called before each statement and after it, so that the times of a long statement and of the computation of its caller do not add up.
   */
  #pause(): Promise<void> | undefined {
    return realSystem.monotonic() - this.#begun < MAX_STRETCH ? undefined : this.#nextIteration()
  }

  async #nextIteration(): Promise<void> {
    await setImmediate()
    this.#begun = realSystem.monotonic()
  }

  #live(): SqliteConnection {
    // Without an open transaction the statement would commit by itself.
    if (this.#ended || !this.#connection.inTransaction) throw new Error('the transaction has ended')
    return this.#connection
  }
}

/** Maximum number of transactions that share a commit, because the first of them waits for the work of all. */
const MAX_TOGETHER = 32

interface Waiting {
  readonly options: TransactionOptions
  readonly work: (tx: Queries) => Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The result of a transaction whose caller has not been notified yet. */
interface End {
  readonly one: Waiting
  readonly failure?: { readonly error: unknown }
}

/**
 * Runs transactions on the single writing connection, in order of arrival. A commit waits for the disk, longer than most work takes, so
 * transactions that arrive in the same iteration of the event loop share a commit. Each except the first begins with a savepoint, so that
 * it can be rolled back alone. Callers are notified only after the shared commit is on the disk.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection
  readonly #mutex: Mutex
  readonly #isLogInPlace: () => boolean
  readonly #waiting: Waiting[] = []
  /** Why nothing is written any more. */
  #broken: unknown
  /** Why the last transaction could not be stored, if the disk is the reason. */
  failure: unknown

  /**
   * @param mutex keeps all other work off the connection
   * @param isLogInPlace false when the write-ahead log is no longer the file that SQLite has open
   */
  constructor(connection: SqliteConnection, mutex: Mutex, isLogInPlace: () => boolean = () => true) {
    this.#connection = connection
    this.#mutex = mutex
    this.#isLogInPlace = isLogInPlace
  }

  run<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let end = (): void => {}
      const keep = (result: T): void => void (end = () => resolve(result))
      // Noted here: a shared commit runs for several requests at once.
      const request = currentRequest()
      let endPhase = request?.begin('waiting', 'transaction')
      const begin = (): void => {
        endPhase?.()
        endPhase = request?.begin('database', 'transaction')
      }
      const fail = (error: unknown): void => {
        endPhase?.(error)
        reject(error)
      }
      const succeed = (): void => {
        endPhase?.()
        end()
      }
      const timedWork = async (tx: Queries): Promise<void> => {
        begin()
        keep(await work(tx))
      }
      this.#waiting.push({ options, work: timedWork, resolve: succeed, reject: fail })
      this.#mutex.run(() => this.#runTogether()).catch(fail)
    })
  }

  /** Called once per transaction. Most calls find their transaction done. */
  async #runTogether(): Promise<void> {
    const relaxed = this.#waiting.slice(0, MAX_TOGETHER).every(isRelaxed)
    let next = this.#waiting.shift()
    if (!next) return
    const ends: End[] = []
    try {
      this.#begin(relaxed)
    } catch (cause) {
      // The log may be out of reach of the file system, too.
      const error = translateDiskError(cause)
      this.#note(error)
      return next.reject(error)
    }
    try {
      for (; next; next = this.#join(next, ends.length, relaxed)) {
        // The first has no savepoint: inside one, full-text tables are written to the disk with every statement.
        ends.push(ends.length === 0 ? await this.#work(next) : await this.#workAlone(next))
        // Statements block the process, so requests that have arrived meanwhile only get this far now.
        if (this.#waiting.length === 0) await setImmediate()
      }
      this.#connection.execute('COMMIT')
      this.failure = undefined
    } catch (error) {
      this.#note(error)
      if (this.#connection.inTransaction) this.#connection.execute('ROLLBACK')
      next?.reject(error)
      for (const { one, failure } of ends) one.reject(failure?.error ?? error)
      return
    }
    for (const { one, failure } of ends) {
      if (failure) one.reject(failure.error)
      else one.resolve()
    }
  }

  #begin(relaxed: boolean): void {
    if (!this.#broken && !this.#isLogInPlace())
      this.#broken = new Error('Another program has replaced the log of the database. Restart the service.')
    if (this.#broken) throw new StoreUnavailable('The database', { cause: this.#broken, retryAfter: 60 })
    // A full commit synchronises all of the log, so the relaxed ones before it are durable as well.
    this.#connection.execute(`PRAGMA synchronous = ${relaxed ? 'NORMAL' : 'FULL'}`)
    // IMMEDIATE takes the write lock first, so that no later statement can fail because of another writer.
    this.#connection.execute('BEGIN IMMEDIATE')
  }

  #note(error: unknown): void {
    // The system may have dropped relaxed commits that it could not write, and every later commit would be lost with them.
    if (isSyncFailure(error)) this.#broken = error
    if (error instanceof StoreUnavailable || error instanceof StorageReadOnly || error instanceof StoreDamaged)
      this.failure = error
  }

  /** Adds the next transaction to the shared commit. */
  #join(last: Waiting, count: number, relaxed: boolean): Waiting | undefined {
    const [next] = this.#waiting
    const fits = next && !next.options.ownCommit && (!relaxed || isRelaxed(next))
    return fits && !last.options.ownCommit && count < MAX_TOGETHER ? this.#waiting.shift() : undefined
  }

  /**
   * Behind a savepoint, so that it can fail alone.
   * @throws when SQLite has rolled back everything, as it does by itself when the disk is full
   */
  async #workAlone(one: Waiting): Promise<End> {
    this.#connection.execute('SAVEPOINT one')
    try {
      return await this.#work(one)
    } catch (error) {
      if (!this.#connection.inTransaction) throw error
      this.#connection.execute('ROLLBACK TO one')
      return { one, failure: { error } }
    } finally {
      if (this.#connection.inTransaction) this.#connection.execute('RELEASE one')
    }
  }

  /** @throws the error of the work */
  async #work(one: Waiting): Promise<End> {
    const transaction = new SqliteTransaction(this.#connection)
    try {
      await one.work(transaction)
      // Work that ignores errors may have ignored an error after which SQLite rolled back the whole transaction.
      if (!this.#connection.inTransaction) throw new Error('the engine has ended the transaction')
      return { one }
    } finally {
      transaction.end()
    }
  }
}

const isRelaxed = ({ options }: Waiting): boolean => options.durability === 'relaxed'
