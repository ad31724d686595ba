import { setImmediate } from 'node:timers/promises'
import type { Milliseconds } from '../../base/units.ts'
import { realSystem } from '../../base/system.ts'
import type { Mutex } from '../../base/mutex.ts'
import type { Queries, TransactionOptions } from '../database.ts'
import { CommitQueue } from './commit-queue.ts'
import { type SqliteConnection, SqliteTransaction } from './sqlite-connection.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

/** A commit that takes so long has written thousands of pages. */
const LARGE_COMMIT: Milliseconds = 10
/** In pages of 4 KiB. */
const LONG_LOG = 8000
/** Maximum number of transactions that share a commit, because the first of them waits for the work of all. */
const MAX_TOGETHER = 32

/** The right to write to the database file, which threads of this process may share. */
export interface Turn {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Called when a commit can be read, before its callers are notified. */
  committed(): void
  /** How many pages the log has, as far as the thread that copies it has said. */
  readonly logPages: number
  /** Asks that thread to copy the log, which is otherwise done after some commits. */
  askForCopy(): void
  /** Resolves when that thread has copied the whole log: with the next commit it begins anew. */
  copyAll(): Promise<void>
}

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
 * work takes, so transactions that wait meanwhile share the next commit. Each except the first is behind a savepoint, so
 * that a failed one is rolled back alone. Callers are notified only after the shared commit is durable, so a rejected
 * transaction can already read the changes it conflicted with. What transactions leave for the end of the commit is written
 * together, after all of them.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection
  readonly #mutex: Mutex
  readonly #turn: Turn
  readonly #log: Pick<WriteAheadLog, 'sync'> | undefined
  readonly #waiting: Waiting[] = []

  /** @param mutex keeps all other work off the connection @param log absent where nothing is written to the disk */
  constructor(connection: SqliteConnection, mutex: Mutex, turn: Turn, log?: Pick<WriteAheadLog, 'sync'>) {
    this.#connection = connection
    this.#mutex = mutex
    this.#turn = turn
    this.#log = log
  }

  run<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let end = (): void => {}
      const keep = (result: T): void => void (end = () => resolve(result))
      this.#waiting.push({ options, work: async tx => keep(await work(tx)), resolve: () => end(), reject })
      this.#mutex.run(() => this.#runWaiting()).catch(reject)
    })
  }

  /** Called once per transaction. Most calls find their transaction done and need no turn. */
  async #runWaiting(): Promise<void> {
    if (this.#waiting.length > 0) await this.#turn.run(() => this.#runTogether())
  }

  async #runTogether(): Promise<void> {
    const relaxed = this.#waiting.slice(0, MAX_TOGETHER).every(isRelaxed)
    let next = this.#waiting.shift()
    const ends: End[] = []
    const queue = new CommitQueue()
    try {
      // IMMEDIATE takes the write lock first, so that no later statement can fail because of another writer.
      this.#connection.execute('BEGIN IMMEDIATE')
    } catch (error) {
      return next?.reject(error)
    }
    try {
      for (; next; next = this.#join(next, ends.length, relaxed)) {
        ends.push(ends.length === 0 ? await this.#endOfFirst(next, queue) : await this.#endOf(next, queue))
        // Statements block the process, so requests that have arrived meanwhile only get this far now.
        if (this.#waiting.length === 0) await setImmediate()
      }
      await this.#inTransaction(tx => queue.write(tx))
      const begun = realSystem.monotonic()
      this.#connection.execute('COMMIT')
      this.#turn.committed()
      if (realSystem.monotonic() - begun > LARGE_COMMIT) this.#turn.askForCopy()
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.execute('ROLLBACK')
      next?.reject(error)
      for (const { one, failure } of ends) one.reject(failure?.error ?? error)
      return
    }
    // Still in turn: work that begins after this sees nothing that is not on the disk. All of the log is synchronised, so the
    // relaxed commits before it are durable as well.
    if (!relaxed) await this.#log?.sync()
    for (const { one, failure } of ends) {
      if (failure) one.reject(failure.error)
      else one.resolve()
    }
    // New commits come while the log is copied, so it would never end unless those who write wait for that.
    if (this.#turn.logPages >= LONG_LOG) await this.#turn.copyAll()
  }

  /** Adds the next transaction to the shared commit. */
  #join(last: Waiting, count: number, relaxed: boolean): Waiting | undefined {
    const [next] = this.#waiting
    const fits = next && !next.options.ownCommit && (!relaxed || isRelaxed(next))
    return fits && !last.options.ownCommit && count < MAX_TOGETHER ? this.#waiting.shift() : undefined
  }

  /**
   * Without a savepoint: inside one, full-text tables are written to the disk with every statement, which slows down large
   * changes.
   * @throws the error of the work: no other transaction is affected yet
   */
  async #endOfFirst(one: Waiting, queue: CommitQueue): Promise<End> {
    await this.#work(one, queue)
    return { one }
  }

  /** @throws when the engine has rolled back everything, as it does by itself when the disk is full */
  async #endOf(one: Waiting, queue: CommitQueue): Promise<End> {
    this.#connection.execute('SAVEPOINT one')
    try {
      await this.#work(one, queue)
      return { one }
    } catch (error) {
      if (!this.#connection.inTransaction) throw error
      this.#connection.execute('ROLLBACK TO one')
      return { one, failure: { error } }
    } finally {
      if (this.#connection.inTransaction) this.#connection.execute('RELEASE one')
    }
  }

  async #work({ work }: Waiting, queue: CommitQueue): Promise<void> {
    const own = new CommitQueue(queue)
    await this.#inTransaction(work, own)
    queue.join(own)
  }

  async #inTransaction(work: (tx: Queries) => Promise<void>, last?: CommitQueue): Promise<void> {
    const transaction = new SqliteTransaction(this.#connection, last)
    try {
      await work(transaction)
      // Work that ignores an error may have ignored one after which the engine rolled back everything.
      if (!this.#connection.inTransaction) throw new Error('the engine has ended the transaction')
    } finally {
      transaction.end()
    }
  }
}

const isRelaxed = ({ options }: Waiting): boolean => options.durability === 'relaxed'
