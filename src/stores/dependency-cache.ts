import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Awaitable } from '../base/awaitable.ts'
import type { System } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { type Cacheable, CachedValues } from './cached-values.ts'
import { DELETED } from './change-log.ts'
import type { Database, Queries } from './database.ts'
import { sql } from './sql.ts'

/** The subject of a value that depends on more than can be named: every change in the log drops it. */
export const ANYTHING = '(anything)'

/** The memory of a text: the engine takes one byte for each character, or two if a character needs them. */
export const memoryOf = (text: string): Bytes => (/[\u0100-\uffff]/.test(text) ? 2 : 1) * text.length

/** What a request on PostgreSQL knows of its last question: no answer to it misses a change committed before this time. */
interface Confirmed {
  revision?: number | undefined
  time?: Milliseconds
  /** The question that was asked ahead. */
  asking?: Promise<void> | undefined
}

/** A request that waits for its body asks again after it, and so does work that goes on after its request. */
const CONFIRMED_FOR: Milliseconds = 1000

/**
 * Caches values derived from rows, each until one of its rows changes, in any thread or process. One instance caches all
 * kinds of values, so that they share one memory limit. A database in memory has nothing cached.
 */
export class DependencyCache {
  readonly #database: Database
  readonly #system: Pick<System, 'monotonic'>
  readonly #values: CachedValues
  /** These and those of all partitions. */
  readonly #all: CachedValues[]
  /** The revision of the database up to which the change log has been read. */
  #revision: number | undefined
  /** How far the change log has been read. */
  #position: Position | undefined
  /** How many readings of the log have found changes. */
  #readings = 0
  #reading: Promise<void> | undefined
  /** The reading that begins when the present one has ended. */
  #nextReading: Promise<void> | undefined
  readonly #request = new AsyncLocalStorage<Confirmed>()
  /** What {@link alone} knows of the revision. */
  #ofTask: number | undefined

  constructor(database: Database, maxBytes: Bytes, system: Pick<System, 'monotonic'>) {
    this.#database = database
    this.#system = system
    this.#values = new CachedValues(maxBytes)
    this.#all = [this.#values]
  }

  /** Number of cached values, and their approximate memory. */
  get load(): { readonly values: number; readonly bytes: Bytes } {
    return this.#values.load
  }

  /** Whether the database server has to be asked what has changed. */
  get asks(): boolean {
    return this.#database.engine === 'postgres'
  }

  /** Runs a request: where the database server has to be asked what has changed, one question is enough for all it reads. */
  during<T>(request: () => T): T {
    return this.asks ? this.#request.run({}, request) : request()
  }

  /** Where the server has to be asked, asks for a request that has something else to wait for before it reads. */
  askAhead(): void {
    const confirmed = this.asks ? this.#request.getStore() : undefined
    const revision = this.present
    if (!confirmed || confirmed.asking || revision === undefined || this.#isConfirmed(revision)) return
    const forget = (): void => void (confirmed.asking = undefined)
    confirmed.asking = this.#confirm(revision)
    // A read gets the error, from this question or from the next one.
    confirmed.asking.then(forget, forget)
  }

  /**
   * Runs a task on a thread that has one at a time. What was committed before it begins is respected; so it asks once what that is, and
   * not for each value.
   */
  async alone<T>(task: () => Promise<T>): Promise<T> {
    if (this.asks) return await this.during(task)
    this.#ofTask = this.#database.revision
    try {
      return await task()
    } finally {
      this.#ofTask = undefined
    }
  }

  /** The revision up to which changes must be respected now. */
  get present(): number | undefined {
    return this.#ofTask ?? this.#database.revision
  }

  /**
   * Returns the cached value of the key, or calls `load` and caches its result. `undefined` is not cached. Changes committed
   * before the call are respected, or in a request on PostgreSQL those committed before it began and its own.
   * @param key begins with the kind of value, so that kinds do not collide
   */
  get<T>(key: string, load: () => Promise<Cacheable<T> | undefined>): Awaitable<T | undefined> {
    return this.#get(this.#values, key, load)
  }

  /** Values that do not displace the others, in a memory of their own. What has changed is asked once for all. */
  partition(maxBytes: Bytes): Pick<DependencyCache, 'get'> {
    const values = new CachedValues(maxBytes)
    this.#all.push(values)
    return { get: (key, load) => this.#get(values, key, load) }
  }

  #get<T>(values: CachedValues, key: string, load: () => Promise<Cacheable<T> | undefined>): Awaitable<T | undefined> {
    const revision = this.present
    // Where the server has to be asked, nothing is known to be valid before its answer.
    const isKnown = revision !== undefined && (this.asks ? this.#isConfirmed(revision) : revision === this.#revision)
    const kept = isKnown ? values.get(key) : undefined
    return kept ? (kept.value as T) : this.#getOrLoad(values, key, load)
  }

  async #getOrLoad<T>(
    values: CachedValues,
    key: string,
    load: () => Promise<Cacheable<T> | undefined>,
  ): Promise<T | undefined> {
    const revision = this.present
    if (revision === undefined) return (await load())?.value
    if (!this.asks) {
      if (revision !== this.#revision) await this.#catchUp()
    } else {
      await this.#request.getStore()?.asking
      if (!this.#isConfirmed(revision)) await this.#confirm(revision)
    }
    const kept = values.get(key)
    if (kept) return kept.value as T
    const readings = this.#readings
    const loaded = await load()
    // A row may have changed while the value was loaded, and the log may have been read since: then the value is only used
    // for this call.
    if (loaded && readings === this.#readings) values.keep(key, loaded)
    return loaded?.value
  }

  /** Reads the change log; concurrent callers share one read. */
  async #catchUp(): Promise<void> {
    while (this.present !== this.#revision) {
      this.#reading ??= this.#readLog().finally(() => (this.#reading = undefined))
      await this.#reading
      // The log may reach further than the task must look.
      if (this.#ofTask !== undefined) this.#ofTask = this.#revision
    }
  }

  /** Whether the request has asked PostgreSQL what has changed, and this process has committed nothing since. */
  #isConfirmed(present: number): boolean {
    const { revision, time } = this.#request.getStore() ?? {}
    return time !== undefined && revision === present && this.#system.monotonic() - time < CONFIRMED_FOR
  }

  /** Asks PostgreSQL what has changed (D37.1). */
  async #confirm(revision: number): Promise<void> {
    const time = this.#system.monotonic()
    const confirmed = this.#request.getStore()
    await this.#ask()
    if (confirmed) Object.assign(confirmed, { revision, time })
  }

  /**
   * The question is asked at the end of this turn of the event loop, for all who call in it. One at a time: those who call meanwhile
   * share the next one.
   */
  #ask(): Promise<void> {
    this.#nextReading ??= this.#readNext()
    return this.#nextReading
  }

  async #readNext(): Promise<void> {
    await this.#reading
    await nextTurn()
    this.#nextReading = undefined
    const reading = this.#readLog()
    this.#reading = reading.catch(() => {})
    await reading
  }

  async #readLog(): Promise<void> {
    // Read first, so that a later commit changes the revision again.
    const { revision } = this.#database
    const { position, subjects } = await changesSince(this.#database, this.#position)
    for (const values of this.#all) dropChanged(values, subjects)
    if (subjects?.size !== 0) this.#readings++
    this.#position = position
    this.#revision = revision
  }
}

/** @param subjects `undefined` when anything may have changed */
function dropChanged(values: CachedValues, subjects: Changes['subjects']): void {
  if (subjects === undefined) return values.clear()
  for (const subject of subjects) values.drop(subject)
  if (subjects.size > 0) values.drop(ANYTHING)
}

/** How far a reader has read the change log: on SQLite the number of a change, on PostgreSQL a snapshot of the transactions. */
type Position = number | string

interface Changes {
  readonly position: Position
  /** `undefined` when the log does not reach back far enough, so that anything may have changed. */
  readonly subjects: ReadonlySet<string> | undefined
}

/** @param known how far the reader has read; `undefined` if it has not yet */
const changesSince = (queries: Queries, known: Position | undefined): Promise<Changes> =>
  queries.engine === 'sqlite' ? changesAfter(queries, known) : changesOutside(queries, known)

/** From so many changes on, everything is dropped: sorting them out would take longer than loading again what is needed. */
const MAX_SUBJECTS = 5000

async function changesAfter(queries: Queries, known: Position | undefined): Promise<Changes> {
  const rows = await queries.all<{ number: number; subject: string | null }>(
    known === undefined
      ? sql`SELECT coalesce(max(number), 0) AS number, NULL AS subject FROM change_log`
      : sql`SELECT number, subject FROM change_log WHERE number > ${known} ORDER BY number LIMIT ${MAX_SUBJECTS}`,
  )
  if (rows.length >= MAX_SUBJECTS) return await changesAfter(queries, undefined)
  const [first, last] = [rows[0], rows.at(-1)]
  if (known === undefined || !first || !last)
    return { position: last?.number ?? known ?? 0, subjects: known === undefined ? undefined : new Set() }
  // Numbers have no gaps: a transaction that is rolled back also rolls back its numbers.
  const isComplete = first.number === Number(known) + 1
  return { position: last.number, subjects: isComplete ? new Set(rows.map(({ subject }) => subject ?? '')) : undefined }
}

/**
 * The changes of transactions that are visible now and were not in the known snapshot (D37.2): those that had not begun then, and
 * those that were in progress. Rows of a transaction that still is, such as a long import, are not even looked at.
 */
async function changesOutside(queries: Queries, known: Position | undefined): Promise<Changes> {
  const rows = await queries.all<{ position: string | null; subject: string | null }>(
    known === undefined
      ? sql`SELECT pg_current_snapshot()::text AS position, ${DELETED} AS subject`
      : sql`SELECT pg_current_snapshot()::text AS position, NULL AS subject
        UNION ALL (SELECT NULL, subject FROM change_log
          WHERE transaction >= pg_snapshot_xmax(${known}::pg_snapshot)
            AND transaction < pg_snapshot_xmax(pg_current_snapshot()) LIMIT ${MAX_SUBJECTS})
        UNION ALL (SELECT NULL, subject FROM change_log
          WHERE transaction = ANY (ARRAY(SELECT one FROM pg_snapshot_xip(${known}::pg_snapshot) AS one
            WHERE pg_visible_in_snapshot(one, pg_current_snapshot()))) LIMIT ${MAX_SUBJECTS})
        UNION ALL SELECT NULL, subject FROM change_log
          WHERE subject = '*' AND transaction >= pg_snapshot_xmin(${known}::pg_snapshot)`,
  )
  const subjects = new Set(rows.flatMap(({ subject }) => subject ?? []))
  const isTooMuch = subjects.has(DELETED) || rows.length > MAX_SUBJECTS
  const position = rows.find(row => row.position !== null)?.position ?? ''
  return { position, subjects: isTooMuch ? undefined : subjects }
}
