import type { Database, Queries } from './database.ts'
import type { Migration } from './migrations.ts'
import { type Sql, sql } from './sql.ts'

/**
 * The change log lists changed entries, users, groups and contexts, so that caches drop only these. Triggers write it in the
 * transaction that makes the change: no code path, command or other process can forget it. A subject is the address of an
 * entry, `context/id`; users and groups are `_principals/id`, contexts `_contexts/id`.
 */

/** Number of changes kept, the latest ones. A reader that has missed more drops everything it has cached. */
const KEPT_CHANGES = 20_000

/**
 * On PostgreSQL, the subject of the row that stands for all deleted rows. An index of the log and the query for it contain this value too.
 */
export const DELETED = '*'

/** When the log gets rows, and their subjects: SQL expressions over `NEW` or `OLD`. */
export interface LoggedChange {
  readonly table: string
  readonly event: 'INSERT' | 'DELETE' | 'UPDATE' | `UPDATE OF ${string}`
  readonly subjects: readonly string[]
}

const logged = (table: string, event: LoggedChange['event'], ...subjects: string[]): LoggedChange => ({
  table,
  event,
  subjects,
})

/** The same subjects for an inserted, updated and deleted row; an update records the old and the new row. */
function allChanges(table: string, subjects: (row: 'NEW' | 'OLD') => readonly string[]): LoggedChange[] {
  return [
    logged(table, 'INSERT', ...subjects('NEW')),
    logged(table, 'DELETE', ...subjects('OLD')),
    logged(table, 'UPDATE', ...new Set([...subjects('OLD'), ...subjects('NEW')])),
  ]
}

const nameOf = ({ table, event }: LoggedChange): string => {
  const [verb = ''] = event.toLowerCase().split(' ')
  return `log_${table}_${verb}${event.startsWith('UPDATE OF') ? `_${event.slice('UPDATE OF '.length)}` : ''}`
}

const statement = (text: string): Sql => ({ parts: [text], values: [] })

export function sqliteTrigger(change: LoggedChange): Sql {
  const notes = change.subjects.map(subject => `INSERT INTO change_log (subject) VALUES (${subject});`).join(' ')
  return statement(`CREATE TRIGGER ${nameOf(change)} AFTER ${change.event} ON ${change.table} BEGIN ${notes} END`)
}

export function postgresTrigger(change: LoggedChange): readonly Sql[] {
  const name = nameOf(change)
  const rows = change.subjects.map(subject => `(${subject})`).join(', ')
  return [
    statement(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO change_log (subject) VALUES ${rows}; RETURN NULL; END $$`),
    statement(
      `CREATE TRIGGER ${name} AFTER ${change.event} ON ${change.table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
    ),
  ]
}

const changesOfContent: readonly LoggedChange[] = [
  // No client can change the address of an entry, so the new row is enough.
  logged('entries', 'INSERT', `NEW.context || '/' || NEW.id`),
  logged('entries', 'UPDATE', `NEW.context || '/' || NEW.id`),
  logged('entries', 'DELETE', `OLD.context || '/' || OLD.id`),
  // The counter of ids in `contexts` changes with each new entry, but no response contains it.
  logged('contexts', 'INSERT', `'_contexts/' || NEW.id`),
  logged('contexts', 'UPDATE OF name', `'_contexts/' || NEW.id`),
  logged('contexts', 'DELETE', `'_contexts/' || OLD.id`),
  logged('principals', 'INSERT', `'_principals/' || NEW.id`, `'_contexts/' || coalesce(NEW.home_context, '')`),
  logged('principals', 'UPDATE', `'_principals/' || NEW.id`),
  logged('principals', 'DELETE', `'_principals/' || OLD.id`, `'_contexts/' || coalesce(OLD.home_context, '')`),
  // The relations of a context name the users and groups whose home it is.
  logged(
    'principals',
    'UPDATE OF home_context',
    `'_contexts/' || coalesce(OLD.home_context, '')`,
    `'_contexts/' || coalesce(NEW.home_context, '')`,
  ),
  ...allChanges('group_members', row => [`'_principals/' || ${row}.user_id`, `'_principals/' || ${row}.group_id`]),
  ...allChanges('list_members', row => [
    `${row}.context || '/' || ${row}.member`,
    `${row}.context || '/' || ${row}.list`,
  ]),
  ...allChanges('relations', row => [`${row}.target_context || '/' || ${row}.target`]),
  ...allChanges('files', row => [`${row}.context || '/' || ${row}.entry`]),
]

/** The folder that gives access to a member changes for thousands of members at once, and nothing of their lists with it. */
const movesOfMembers: readonly LoggedChange[] = [
  logged('list_members', 'UPDATE OF scope', `NEW.context || '/' || NEW.member`),
  logged(
    'list_members',
    'UPDATE OF list',
    ...['OLD', 'NEW'].flatMap(row => [
      `${row}.context || '/' || ${row}.member`,
      `${row}.context || '/' || ${row}.list`,
    ]),
  ),
]

/** A use of a token updates its row, and changes nothing that a cache holds. */
const endOfToken = logged('access_tokens', 'DELETE', `'_principals/' || OLD.user_id`)

export const changeLogSteps: readonly Migration[] = [
  {
    id: 20,
    name: 'change log for caches',
    statements: [
      {
        sqlite: [
          sql`CREATE TABLE change_log (number INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL)`,
          ...changesOfContent.map(sqliteTrigger),
        ],
        postgres: [],
      },
    ],
  },
  {
    id: 24,
    name: 'change log of access tokens',
    statements: [{ sqlite: [sqliteTrigger(endOfToken)], postgres: [] }],
  },
  {
    id: 33,
    name: 'change log for caches on PostgreSQL',
    statements: [
      {
        sqlite: [],
        // Transactions commit in another order than they write, so a row is found by its transaction and not by a number.
        postgres: [
          sql`CREATE TABLE change_log (transaction xid8 NOT NULL DEFAULT pg_current_xact_id(), subject TEXT NOT NULL)`,
          sql`CREATE INDEX change_log_by_transaction ON change_log (transaction)`,
          sql`CREATE INDEX change_log_deleted ON change_log (transaction) WHERE subject = '*'`,
          ...[...changesOfContent, endOfToken].flatMap(postgresTrigger),
        ],
      },
    ],
  },
  {
    id: 72,
    name: 'change log of folders that give access',
    statements: [
      {
        sqlite: [statement('DROP TRIGGER log_list_members_update'), ...movesOfMembers.map(sqliteTrigger)],
        postgres: [
          statement('DROP TRIGGER log_list_members_update ON list_members'),
          statement('DROP FUNCTION log_list_members_update'),
          ...movesOfMembers.flatMap(postgresTrigger),
        ],
      },
    ],
  },
]

/** Records a change of something that is in no table with a trigger: a session, or a public link. */
export async function noteChange(queries: Queries, subject: string): Promise<void> {
  await queries.run(sql`INSERT INTO change_log (subject) VALUES (${subject})`)
}

/** Deletes changes beyond the number that is kept. */
export async function pruneChangeLog(database: Database): Promise<void> {
  if (database.engine === 'sqlite') {
    await database.transaction(
      tx => tx.run(sql`DELETE FROM change_log WHERE number <= (SELECT max(number) FROM change_log) - ${KEPT_CHANGES}`),
      { durability: 'relaxed' },
    )
    return
  }
  await database.run(sql`WITH deleted AS (
      DELETE FROM change_log WHERE transaction <
        (SELECT transaction FROM change_log ORDER BY transaction DESC OFFSET ${KEPT_CHANGES} LIMIT 1)
      RETURNING transaction
    )
    INSERT INTO change_log (transaction, subject)
    SELECT transaction, ${DELETED} FROM deleted ORDER BY transaction DESC LIMIT 1`)
}
