import { setImmediate } from 'node:timers/promises'
import { StorageReadOnly, StoreDamaged, StoreUnavailable } from '../../base/errors.ts'
import type { Mutex } from '../../base/semaphore.ts'
import type { Queries, TransactionOptions } from '../database.ts'
import { isSyncFailure } from '../disk.ts'
import { type SqliteConnection, SqliteTransaction } from './sqlite-connection.ts'

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
 * Runs transactions on the single writing connection, in order of arrival. A commit waits for the disk, longer than most
 * work takes, so transactions that come in the same iteration of the event loop share one. Each except the first is behind a
 * savepoint, so that a failed one is rolled back alone. Callers are notified only after the shared commit is on the disk.
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
      this.#waiting.push({ options, work: async tx => keep(await work(tx)), resolve: () => end(), reject })
      this.#mutex.run(() => this.#runTogether()).catch(reject)
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
    } catch (error) {
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
   * @throws when the engine has rolled back everything, as it does by itself when the disk is full
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
      // Work that ignores an error may have ignored one after which SQLite rolled back everything.
      if (!this.#connection.inTransaction) throw new Error('the engine has ended the transaction')
      return { one }
    } finally {
      transaction.end()
    }
  }
}

const isRelaxed = ({ options }: Waiting): boolean => options.durability === 'relaxed'
