import type { Migration } from '../stores/migrations.ts'

/** A table whose rows belong to the store, with the columns of its key. */
export interface Table {
  readonly name: string
  /** The columns that identify a row. */
  readonly key: readonly string[]
  /**
   * The schema step that created the table; absent for tables that the first backups had. The step of a new table must be the last step: a
   * backup names only its last step, so a table of an earlier step would be missing in backups made before.
   */
  readonly since?: number
  /** The last schema step that has the table. */
  readonly until?: number
}

/** All that a store of this version has: what is copied, and how the tables come to be. */
export interface Layout {
  /** In the order in which a store takes them. */
  readonly steps: readonly Migration[]
  /** Referenced tables come before the tables that refer to them. */
  readonly tables: readonly Table[]
}

export const contextsTable: Table = { name: 'contexts', key: ['id'] }
export const filesTable: Table = { name: 'files', key: ['context', 'entry'] }

/** The tables that no feature brings. Referenced tables come before the tables that refer to them. */
export const coreTables: readonly Table[] = [
  { name: 'principals', key: ['id'] },
  { name: 'group_members', key: ['group_id', 'user_id'] },
  { name: 'trusted_devices', key: ['digest'] },
  { name: 'sso_links', key: ['issuer', 'subject'], since: 14 },
  { name: 'provider_memberships', key: ['user_id', 'group_id', 'provider'], since: 26 },
  contextsTable,
  { name: 'entries', key: ['context', 'id'] },
  { name: 'metadata_revisions', key: ['context', 'entry', 'number'] },
  { name: 'list_members', key: ['context', 'member'] },
  { name: 'trashed_entries', key: ['context', 'id'], since: 22 },
  { name: 'trashed_revisions', key: ['context', 'entry', 'number'], since: 22 },
  { name: 'retired_ids', key: ['context', 'id'] },
  { name: 'spaces', key: ['context'], until: 50 },
  { name: 'quota_usage', key: ['kind', 'owner'], since: 51 },
  { name: 'quota_groups', key: ['context'], since: 51 },
  filesTable,
  { name: 'audit', key: ['time', 'number'] },
]

/** The tables of a store at its step `schema`: an older backup has no rows of later tables. */
export const tablesAt = ({ tables }: Pick<Layout, 'tables'>, schema: number): readonly Table[] =>
  tables.filter(({ since = 0, until = schema }) => since <= schema && schema <= until)
