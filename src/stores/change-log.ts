import type { Database, Queries } from './database.ts'
import type { Migration } from './migrations.ts'
import { type Sql, sql } from './sql.ts'

/**
 * The change log says which entries, users, groups and contexts have changed, so that caches drop these and keep the rest. Triggers
 * write it, in the transaction that makes the change: no code path, command or other process can forget it. A subject is the address
 * of an entry, `context/id`; users and groups are `_principals/id`, contexts `_contexts/id`.
 */

/** How many of the latest changes are kept. A reader that has missed more drops everything it has cached. */
const KEPT_CHANGES = 20_000

type Event = 'INSERT' | 'DELETE' | 'UPDATE' | `UPDATE OF ${string}`

/** A trigger of SQLite that notes each subject, an SQL expression over `NEW` or `OLD`. */
function trigger(table: string, event: Event, subjects: readonly string[], when = ''): Sql {
  const [verb = ''] = event.toLowerCase().split(' ')
  const suffix = event.startsWith('UPDATE OF') ? `_${event.slice('UPDATE OF '.length)}` : ''
  const notes = subjects.map(subject => `INSERT INTO change_log (subject) VALUES (${subject});`).join(' ')
  return {
    parts: [`CREATE TRIGGER log_${table}_${verb}${suffix} AFTER ${event} ON ${table} ${when} BEGIN ${notes} END`],
    values: [],
  }
}

/** The same subjects for a new, a changed and a deleted row; a change notes the row as it was and as it is. */
function triggers(table: string, subjects: (row: 'NEW' | 'OLD') => readonly string[]): Sql[] {
  return [
    trigger(table, 'INSERT', subjects('NEW')),
    trigger(table, 'DELETE', subjects('OLD')),
    trigger(table, 'UPDATE', [...new Set([...subjects('OLD'), ...subjects('NEW')])]),
  ]
}

const sqliteChangeLog: readonly Sql[] = [
  sql`CREATE TABLE change_log (number INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL)`,
  // No client can change the address of an entry, so the row as it is now is enough.
  trigger('entries', 'INSERT', [`NEW.context || '/' || NEW.id`]),
  trigger('entries', 'UPDATE', [`NEW.context || '/' || NEW.id`]),
  trigger('entries', 'DELETE', [`OLD.context || '/' || OLD.id`]),
  // The counter of ids in `contexts` changes with each new entry and is part of no answer.
  trigger('contexts', 'INSERT', [`'_contexts/' || NEW.id`]),
  trigger('contexts', 'UPDATE OF name', [`'_contexts/' || NEW.id`]),
  trigger('contexts', 'DELETE', [`'_contexts/' || OLD.id`]),
  trigger('principals', 'INSERT', [`'_principals/' || NEW.id`, `'_contexts/' || coalesce(NEW.home_context, '')`]),
  trigger('principals', 'UPDATE', [`'_principals/' || NEW.id`]),
  trigger('principals', 'DELETE', [`'_principals/' || OLD.id`, `'_contexts/' || coalesce(OLD.home_context, '')`]),
  // The relations of a context name those whose home it is.
  trigger('principals', 'UPDATE OF home_context', [
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
]

/** What happened after a change with a known number. */
export interface Changes {
  /** The number of the latest change. */
  readonly latest: number
  /** `undefined` when the log does not reach back far enough: anything may have changed. */
  readonly subjects: ReadonlySet<string> | undefined
}

/** @param known the number of the latest change that the reader has taken into account; `undefined` if there is none */
export async function changesSince(queries: Queries, known: number | undefined): Promise<Changes> {
  const rows = await queries.all<{ number: number; subject: string | null }>(
    known === undefined
      ? sql`SELECT coalesce(max(number), 0) AS number, NULL AS subject FROM change_log`
      : sql`SELECT number, subject FROM change_log WHERE number > ${known} ORDER BY number`,
  )
  const [first, last] = [rows[0], rows.at(-1)]
  if (known === undefined || !first || !last)
    return { latest: last?.number ?? known ?? 0, subjects: known === undefined ? undefined : new Set() }
  // Numbers have no gaps: a transaction that was rolled back took its numbers along.
  const isComplete = first.number === known + 1
  return { latest: last.number, subjects: isComplete ? new Set(rows.map(({ subject }) => subject ?? '')) : undefined }
}

/** Deletes changes that are too old to matter. */
export async function pruneChangeLog(database: Database): Promise<void> {
  if (database.engine !== 'sqlite') return
  await database.transaction(
    tx => tx.run(sql`DELETE FROM change_log WHERE number <= (SELECT max(number) FROM change_log) - ${KEPT_CHANGES}`),
    { durability: 'relaxed' },
  )
}
