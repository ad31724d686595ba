import { LRUCache } from 'lru-cache'
import type { Bytes } from '../base/units.ts'
import type { Database, Queries } from './database.ts'
import type { Migration } from './migrations.ts'
import { type Sql, sql } from './sql.ts'

/** A cache of values derived from rows, and the change log from which it learns which rows have changed. */

/** A value to cache, and what it was derived from. */
interface Cacheable<T> {
  readonly value: T
  /** The value is dropped when one of these changes; see the change log below for their form. */
  readonly subjects: readonly string[]
  /** Approximate memory of the value. */
  readonly bytes: Bytes
}

interface Kept {
  readonly value: unknown
  readonly subjects: readonly string[]
  readonly bytes: Bytes
}

/** Memory of one cache entry besides its value, with a subject or two. */
const OVERHEAD: Bytes = 450

/** The memory of a text: the engine takes one byte for each character, or two if a character needs them. */
export const memoryOf = (text: string): Bytes => (/[\u0100-\uffff]/.test(text) ? 2 : 1) * text.length

/**
 * Caches values derived from rows, each until one of its rows changes, in any thread or process. One instance caches all
 * kinds of values, so that they share one memory limit. If the engine cannot report that nothing has changed (PostgreSQL, a
 * database in memory), nothing is cached.
 */
export class DependencyCache {
  readonly #database: Database
  readonly #values: LRUCache<string, Kept>
  /** Keys by subject. Few have more than two, for which a set would take several times the memory. */
  readonly #dependents = new Map<string, string[]>()
  /** The revision of the database up to which the change log has been read. */
  #revision: number | undefined
  /** The number of the latest processed change. */
  #position: number | undefined
  #reading: Promise<void> | undefined

  constructor(database: Database, maxBytes: Bytes) {
    this.#database = database
    this.#values = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length + OVERHEAD,
      dispose: ({ subjects }, key) => this.#unlink(subjects, key),
    })
  }

  /** Number of cached values, and their approximate memory. */
  get load(): { readonly values: number; readonly bytes: Bytes } {
    return { values: this.#values.size, bytes: this.#values.calculatedSize }
  }

  /**
   * Returns the cached value of the key, or calls `load` and caches its result. `undefined` is not cached. Changes committed
   * before the call are respected. @param key begins with the kind of value, so that kinds do not collide
   */
  async get<T>(key: string, load: () => Promise<Cacheable<T> | undefined>): Promise<T | undefined> {
    const { revision } = this.#database
    if (revision === undefined) return (await load())?.value
    if (revision !== this.#revision) await this.#catchUp()
    const kept = this.#values.get(key)
    if (kept) return kept.value as T
    const position = this.#position
    const loaded = await load()
    // A row may have changed while the value was loaded, and the log may have been read since: then the value is only used
    // for this call.
    if (loaded && position === this.#position) this.#keep(key, loaded)
    return loaded?.value
  }

  /** Reads the change log; concurrent callers share one read. */
  async #catchUp(): Promise<void> {
    while (this.#database.revision !== this.#revision) {
      this.#reading ??= this.#readLog().finally(() => (this.#reading = undefined))
      await this.#reading
    }
  }

  async #readLog(): Promise<void> {
    // Read first, so that a later commit changes the revision again.
    const { revision } = this.#database
    const { latest, subjects } = await changesSince(this.#database, this.#position)
    if (subjects === undefined) this.#values.clear()
    else for (const subject of subjects) this.#drop(subject)
    this.#position = latest
    this.#revision = revision
  }

  #keep(key: string, { value, subjects, bytes }: Kept): void {
    this.#values.set(key, { value, subjects, bytes })
    // The value was too large to cache.
    if (!this.#values.has(key)) return
    for (const subject of subjects) {
      const keys = this.#dependents.get(subject)
      if (keys) keys.push(key)
      else this.#dependents.set(subject, [key])
    }
  }

  #drop(subject: string): void {
    // A copy: each deletion takes its key out of the list.
    for (const key of this.#dependents.get(subject)?.slice() ?? []) this.#values.delete(key)
  }

  #unlink(subjects: readonly string[], key: string): void {
    for (const subject of subjects) {
      const keys = this.#dependents.get(subject) ?? []
      const at = keys.indexOf(key)
      if (at >= 0) keys.splice(at, 1)
      if (keys.length === 0) this.#dependents.delete(subject)
    }
  }
}

/**
 * The change log lists changed entries, users, groups and contexts, so that caches drop only these. Triggers write it in the
 * transaction that makes the change: no code path, command or other process can forget it. A subject is the address of an
 * entry, `context/id`; users and groups are `_principals/id`, contexts `_contexts/id`.
 */

/** How many of the latest changes are kept. A reader that has missed more drops everything it has cached. */
const KEPT_CHANGES = 20_000

type Event = 'INSERT' | 'DELETE' | 'UPDATE' | `UPDATE OF ${string}`

/** A SQLite trigger that records each subject, an SQL expression over `NEW` or `OLD`. */
export function changeTrigger(table: string, event: Event, subjects: readonly string[], when = ''): Sql {
  const [verb = ''] = event.toLowerCase().split(' ')
  const suffix = event.startsWith('UPDATE OF') ? `_${event.slice('UPDATE OF '.length)}` : ''
  const notes = subjects.map(subject => `INSERT INTO change_log (subject) VALUES (${subject});`).join(' ')
  return {
    parts: [`CREATE TRIGGER log_${table}_${verb}${suffix} AFTER ${event} ON ${table} ${when} BEGIN ${notes} END`],
    values: [],
  }
}

/** The same subjects for an inserted, updated and deleted row; an update records the old and the new row. */
function triggers(table: string, subjects: (row: 'NEW' | 'OLD') => readonly string[]): Sql[] {
  return [
    changeTrigger(table, 'INSERT', subjects('NEW')),
    changeTrigger(table, 'DELETE', subjects('OLD')),
    changeTrigger(table, 'UPDATE', [...new Set([...subjects('OLD'), ...subjects('NEW')])]),
  ]
}

const sqliteChangeLog: readonly Sql[] = [
  sql`CREATE TABLE change_log (number INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL)`,
  // No client can change the address of an entry, so the new row is enough.
  changeTrigger('entries', 'INSERT', [`NEW.context || '/' || NEW.id`]),
  changeTrigger('entries', 'UPDATE', [`NEW.context || '/' || NEW.id`]),
  changeTrigger('entries', 'DELETE', [`OLD.context || '/' || OLD.id`]),
  // The counter of ids in `contexts` changes with each new entry, but no response contains it.
  changeTrigger('contexts', 'INSERT', [`'_contexts/' || NEW.id`]),
  changeTrigger('contexts', 'UPDATE OF name', [`'_contexts/' || NEW.id`]),
  changeTrigger('contexts', 'DELETE', [`'_contexts/' || OLD.id`]),
  changeTrigger('principals', 'INSERT', [`'_principals/' || NEW.id`, `'_contexts/' || coalesce(NEW.home_context, '')`]),
  changeTrigger('principals', 'UPDATE', [`'_principals/' || NEW.id`]),
  changeTrigger('principals', 'DELETE', [`'_principals/' || OLD.id`, `'_contexts/' || coalesce(OLD.home_context, '')`]),
  // The relations of a context list those users and groups whose home it is.
  changeTrigger('principals', 'UPDATE OF home_context', [
    `'_contexts/' || coalesce(OLD.home_context, '')`,
    `'_contexts/' || coalesce(NEW.home_context, '')`,
  ]),
  ...triggers('group_members', row => [`'_principals/' || ${row}.user_id`, `'_principals/' || ${row}.group_id`]),
  ...triggers('list_members', row => [
    `${row}.context || '/' || ${row}.member`,
    `${row}.context || '/' || ${row}.list`,
  ]),
  ...triggers('relations', row => [`${row}.target_context || '/' || ${row}.target`]),
  ...triggers('files', row => [`${row}.context || '/' || ${row}.entry`]),
]

export const changeLogSteps: readonly Migration[] = [
  { id: 20, name: 'change log for caches', statements: [{ sqlite: sqliteChangeLog, postgres: [] }] },
  {
    id: 24,
    name: 'change log of access tokens',
    // A use of a token updates its row, and changes nothing that a cache holds.
    statements: [
      { sqlite: [changeTrigger('access_tokens', 'DELETE', [`'_principals/' || OLD.user_id`])], postgres: [] },
    ],
  },
]

/** The changes after a given change number. */
interface Changes {
  /** The number of the latest change. */
  readonly latest: number
  /** `undefined` when the log does not reach back far enough, so that anything may have changed. */
  readonly subjects: ReadonlySet<string> | undefined
}

/** @param known the number of the latest change that the reader has processed; `undefined` if there is none */
async function changesSince(queries: Queries, known: number | undefined): Promise<Changes> {
  const rows = await queries.all<{ number: number; subject: string | null }>(
    known === undefined
      ? sql`SELECT coalesce(max(number), 0) AS number, NULL AS subject FROM change_log`
      : sql`SELECT number, subject FROM change_log WHERE number > ${known} ORDER BY number`,
  )
  const [first, last] = [rows[0], rows.at(-1)]
  if (known === undefined || !first || !last)
    return { latest: last?.number ?? known ?? 0, subjects: known === undefined ? undefined : new Set() }
  // Numbers have no gaps: a transaction that is rolled back also rolls back its numbers.
  const isComplete = first.number === known + 1
  return { latest: last.number, subjects: isComplete ? new Set(rows.map(({ subject }) => subject ?? '')) : undefined }
}

/** Deletes changes beyond the number that is kept. */
export async function pruneChangeLog(database: Database): Promise<void> {
  if (database.engine !== 'sqlite') return
  await database.transaction(
    tx => tx.run(sql`DELETE FROM change_log WHERE number <= (SELECT max(number) FROM change_log) - ${KEPT_CHANGES}`),
    { durability: 'relaxed' },
  )
}
