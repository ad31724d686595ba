import { setImmediate } from 'node:timers/promises'
import type { Mutex } from '../../base/mutex.ts'
import type { Queries, TransactionOptions } from '../database.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { SqliteTransaction } from './sqlite-transaction.ts'

/** So many transactions share a commit at most: the first of them waits for the work of all. */
const MAX_TOGETHER = 32

/** The right to write to the database file, which threads of this process may share. */
export interface Turn {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Called when a commit can be read, before anybody is told of it. */
  committed(): void
}

interface Waiting {
  readonly options: TransactionOptions
  readonly work: (tx: Queries) => Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** What has become of a transaction; nobody is told yet. */
interface End {
  readonly one: Waiting
  readonly failure?: { readonly error: unknown }
}

/**
 * Transactions on the one connection that writes, in order of arrival. A commit waits for the disk, for longer than most work
 * takes: those that wait for their turn meanwhile share the next one. Each but the first is behind a savepoint, so that what fails is
 * taken back alone. None is told of its end before all of it is on the disk: who lost to another of them can read what that one did.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection
  readonly #mutex: Mutex
  readonly #turn: Turn
  readonly #waiting: Waiting[] = []

  /** @param mutex keeps everything else off the connection */
  constructor(connection: SqliteConnection, mutex: Mutex, turn: Turn) {
    this.#connection = connection
    this.#mutex = mutex
    this.#turn = turn
  }

  run<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let end = (): void => {}
      const keep = (result: T): void => void (end = () => resolve(result))
      this.#waiting.push({ options, work: async tx => keep(await work(tx)), resolve: () => end(), reject })
      this.#mutex.run(() => this.#runWaiting()).catch(reject)
    })
  }

  /** Called as often as there are transactions: most calls find theirs done, and need no turn. */
  async #runWaiting(): Promise<void> {
    if (this.#waiting.length > 0) await this.#turn.run(() => this.#runNext())
  }

  async #runNext(): Promise<void> {
    if (!this.#waiting.slice(0, MAX_TOGETHER).every(isRelaxed)) return await this.#runTogether(false)
    // In WAL mode NORMAL leaves the log unsynchronised on commit, FULL synchronises all of it: the next full commit
    // makes the relaxed ones before it durable as well. A checkpoint synchronises the log first in either mode.
    // The level cannot change inside a transaction, hence around it; the mutex keeps full commits out meanwhile.
    try {
      await this.#runTogether(true)
    } finally {
      this.#connection.execute('PRAGMA synchronous = FULL')
    }
  }

  async #runTogether(relaxed: boolean): Promise<void> {
    let next = this.#waiting.shift()
    const ends: End[] = []
    try {
      if (relaxed) this.#connection.execute('PRAGMA synchronous = NORMAL')
      // IMMEDIATE: with the write lock taken first, no later statement can fail because another writer came in between.
      this.#connection.execute('BEGIN IMMEDIATE')
    } catch (error) {
      return next?.reject(error)
    }
    try {
      for (; next; next = this.#join(next, ends.length, relaxed)) {
        ends.push(ends.length === 0 ? await this.#endOfFirst(next) : await this.#endOf(next))
        // The engine blocks the process: requests that have arrived meanwhile get as far as here only now.
        if (this.#waiting.length === 0) await setImmediate()
      }
      this.#connection.execute('COMMIT')
      this.#turn.committed()
    } catch (error) {
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

  /** The transaction that shares the commit with the last one. */
  #join(last: Waiting, count: number, relaxed: boolean): Waiting | undefined {
    const [next] = this.#waiting
    const fits = next && !next.options.ownCommit && (!relaxed || isRelaxed(next))
    return fits && !last.options.ownCommit && count < MAX_TOGETHER ? this.#waiting.shift() : undefined
  }

  /**
   * Without a savepoint: behind one, full-text tables go to the disk with every statement, which many entries would feel.
   * @throws what the work does: nobody else is concerned yet
   */
  async #endOfFirst(one: Waiting): Promise<End> {
    await this.#work(one)
    return { one }
  }

  /** @throws when the engine has taken everything back, as it does by itself when the disk is full */
  async #endOf(one: Waiting): Promise<End> {
    this.#connection.execute('SAVEPOINT one')
    try {
      await this.#work(one)
      return { one }
    } catch (error) {
      if (!this.#connection.inTransaction) throw error
      this.#connection.execute('ROLLBACK TO one')
      return { one, failure: { error } }
    } finally {
      if (this.#connection.inTransaction) this.#connection.execute('RELEASE one')
    }
  }

  async #work({ work }: Waiting): Promise<void> {
    const transaction = new SqliteTransaction(this.#connection)
    try {
      await work(transaction)
      // Work that passes over an error may have passed over one by which the engine took everything back.
      if (!this.#connection.inTransaction) throw new Error('the engine has ended the transaction')
    } finally {
      transaction.end()
    }
  }
}

const isRelaxed = ({ options }: Waiting): boolean => options.durability === 'relaxed'
