/** A table whose rows belong to the store, with the columns of its key. */
export interface Table {
  readonly name: string
  /** The columns that identify a row. */
  readonly key: readonly string[]
  /**
   * The schema step that created the table. A table without it is as old as backups are. The step of a new table must be the last
   * one: a backup names its last step only, so a table of an earlier step would be missed in the backups made before it.
   */
  readonly since?: number
  /** The last schema step that has the table. */
  readonly until?: number
}

/** Referenced tables come before the tables that refer to them. */
export const tables: readonly Table[] = [
  { name: 'principals', key: ['id'] },
  { name: 'group_members', key: ['group_id', 'user_id'] },
  { name: 'trusted_devices', key: ['digest'] },
  { name: 'sso_links', key: ['issuer', 'subject'], since: 14 },
  { name: 'access_tokens', key: ['id'], since: 23 },
  { name: 'provider_memberships', key: ['user_id', 'group_id', 'provider'], since: 26 },
  { name: 'second_factors', key: ['id'], since: 27 },
  { name: 'recovery_codes', key: ['user_id', 'digest'], since: 27 },
  { name: 'contexts', key: ['id'] },
  { name: 'entries', key: ['context', 'id'] },
  { name: 'metadata_revisions', key: ['context', 'entry', 'number'] },
  { name: 'list_members', key: ['context', 'member'] },
  { name: 'trashed_entries', key: ['context', 'id'], since: 22 },
  { name: 'trashed_revisions', key: ['context', 'entry', 'number'], since: 22 },
  { name: 'public_links', key: ['id'], since: 25 },
  { name: 'retired_ids', key: ['context', 'id'] },
  { name: 'spaces', key: ['context'], until: 50 },
  { name: 'quota_usage', key: ['kind', 'owner'], since: 51 },
  { name: 'quota_groups', key: ['context'], since: 51 },
  { name: 'files', key: ['context', 'entry'] },
  { name: 'audit', key: ['time', 'number'] },
]

/** The tables of a store whose last schema step is `schema`: an older backup has no rows of later tables. */
export const tablesAt = (schema: number): readonly Table[] =>
  tables.filter(({ since = 0, until = schema }) => since <= schema && schema <= until)
