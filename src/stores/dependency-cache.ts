import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import type { System } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { DELETED } from './change-log.ts'
import type { Database, Queries } from './database.ts'
import { sql } from './sql.ts'

/** The memory of a text: V8 takes one byte for each character, or two if a character needs them. */
export const memoryOf = (text: string): Bytes => (/[\u0100-\uffff]/.test(text) ? 2 : 1) * text.length

/** A value to cache, and what it was derived from. */
interface Cacheable<T> {
  readonly value: T
  /** The value is dropped when one of these changes; see `change-log.ts` for their form. */
  readonly subjects: readonly string[]
  /** Approximate memory of the value. */
  readonly bytes: Bytes
}

interface Cached extends Cacheable<unknown> {
  /** How many readings of the log had found changes when the value began to be loaded. */
  readonly readings: number
}

/** The revision that a request on PostgreSQL read last. It includes each change that was committed before `time`. */
interface Confirmed {
  revision?: number | undefined
  time?: Milliseconds
}

/** Memory of one cached value besides the value itself. */
const OVERHEAD: Bytes = 300
/** A request that waits for its body asks again after it, and so does work that goes on after its request. */
const CONFIRMED_FOR: Milliseconds = 1000
/** Of more changed subjects than this, it is not remembered when each of them changed, and everything is dropped. */
const MAX_CHANGED = 20_000

/**
 * Caches values derived from rows, each until one of its rows changes, in any process. One instance caches all kinds of values, so
 * that they share one memory limit. With a database in memory nothing is cached.
 */
export class DependencyCache {
  readonly #database: Database
  readonly #system: Pick<System, 'monotonic'>
  readonly #values: LRUCache<string, Cached>
  /** The reading of the log that found the latest change of a subject. */
  readonly #changed = new Map<string, number>()
  /** How many readings of the log have found changes. */
  #readings = 0
  /** The latest of them after which everything was dropped. */
  #clearing = 0
  /** The revision of the database up to which the change log has been read. */
  #revision: number | undefined
  /** How far the change log has been read. */
  #position: Position | undefined
  #reading: Promise<void> | undefined
  /** The reading that begins when the present one has ended. */
  #nextReading: Promise<void> | undefined
  readonly #request = new AsyncLocalStorage<Confirmed>()
  #listener: ((changed: ReadonlySet<string> | undefined) => void) | undefined

  constructor(database: Database, maxBytes: Bytes, system: Pick<System, 'monotonic'>) {
    this.#database = database
    this.#system = system
    this.#values = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length + OVERHEAD,
    })
  }

  /** Number of cached values, and their approximate memory. */
  get load(): { readonly values: number; readonly bytes: Bytes } {
    return { values: this.#values.size, bytes: this.#values.calculatedSize }
  }

  /** Tells of changed subjects when the values derived from them have been dropped; `undefined` when any may have changed. */
  onChanges(listener: (changed: ReadonlySet<string> | undefined) => void): void {
    this.#listener = listener
  }

  /**
   * Reads the change log where no request does: when this process has changed something or, on SQLite, any has.
   * @param options.asksServer also reads the changes of other nodes on PostgreSQL, with one query
   */
  async readChanges({ asksServer }: { readonly asksServer: boolean }): Promise<void> {
    const { revision, engine } = this.#database
    const mayHaveChanged = revision !== this.#revision || (engine === 'postgres' && asksServer)
    if (revision !== undefined && mayHaveChanged) await this.#catchUp(revision)
  }

  /** Runs a request. On PostgreSQL, one query for changes is enough for all reads of the request. */
  during<T>(request: () => T): T {
    return this.#database.engine === 'postgres' ? this.#request.run({}, request) : request()
  }

  /**
   * Returns the cached value of the key, or calls `load` and caches its result. `undefined` is not cached. The value reflects all changes
   * that were committed before the call; within a request on PostgreSQL, changes that were committed before the request began, and its own.
   * @param key begins with the kind of value, so that kinds do not collide
   */
  async get<T>(key: string, load: () => Promise<Cacheable<T> | undefined>): Promise<T | undefined> {
    const { revision } = this.#database
    if (revision === undefined) return (await load())?.value
    if (!this.#isUpToDate(revision)) await this.#catchUp(revision)
    const cached = this.#values.get(key)
    if (cached && this.#isUnchanged(cached)) return cached.value as T
    const readings = this.#readings
    const loaded = await load()
    // A row may have changed while the value was loaded: then the log will say so, or has said so.
    if (loaded) this.#values.set(key, { ...loaded, readings })
    return loaded?.value
  }

  #isUnchanged({ subjects, readings }: Cached): boolean {
    return readings >= this.#clearing && subjects.every(subject => (this.#changed.get(subject) ?? 0) <= readings)
  }

  /** On PostgreSQL: whether this request has already queried for changes, and this process has committed nothing since. */
  #isUpToDate(revision: number): boolean {
    if (this.#database.engine !== 'postgres') return revision === this.#revision
    const confirmed = this.#request.getStore()
    return (
      confirmed?.time !== undefined &&
      confirmed.revision === revision &&
      this.#system.monotonic() - confirmed.time < CONFIRMED_FOR
    )
  }

  async #catchUp(revision: number): Promise<void> {
    const time = this.#system.monotonic()
    const confirmed = this.#request.getStore()
    // One at a time: callers that arrive while the log is being read share the next reading.
    this.#nextReading ??= (this.#reading ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#nextReading = undefined
        return (this.#reading = this.#readLog())
      })
    await this.#nextReading
    if (confirmed) Object.assign(confirmed, { revision, time })
  }

  async #readLog(): Promise<void> {
    // Read first, so that a later commit changes the revision again.
    const { revision } = this.#database
    const { position, subjects } = await changesSince(this.#database, this.#position)
    this.#position = position
    this.#revision = revision
    if (subjects?.size === 0) return
    this.#readings++
    if (!subjects || this.#changed.size > MAX_CHANGED) {
      this.#values.clear()
      this.#changed.clear()
      this.#clearing = this.#readings
    } else for (const subject of subjects) this.#changed.set(subject, this.#readings)
    this.#listener?.(subjects)
  }
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

/** Maximum number of changed subjects applied one by one. Beyond it, dropping the whole cache is faster. */
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
 * The changes of transactions that are visible now and were not visible in the known snapshot (adr: postgres-caches): transactions that
 * began later, and transactions that were in progress. Rows of transactions that are still in progress, such as a long import, are not even
 * read.
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
