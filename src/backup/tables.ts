/** A table whose rows belong to the store, with the columns that tell its rows apart. */
export interface Table {
  readonly name: string
  readonly key: readonly string[]
}

/** Those a row may refer to come first. */
export const tables: readonly Table[] = [
  { name: 'principals', key: ['id'] },
  { name: 'group_members', key: ['group_id', 'user_id'] },
  { name: 'trusted_devices', key: ['digest'] },
  { name: 'sso_links', key: ['issuer', 'subject'] },
  { name: 'contexts', key: ['id'] },
  { name: 'entries', key: ['context', 'id'] },
  { name: 'metadata_revisions', key: ['context', 'entry', 'number'] },
  { name: 'list_members', key: ['context', 'member'] },
  { name: 'retired_ids', key: ['context', 'id'] },
  { name: 'spaces', key: ['context'] },
  { name: 'files', key: ['context', 'entry'] },
  { name: 'audit', key: ['time', 'number'] },
]

/**
 * What is not copied: what is going on at the moment, what ends with a login, and what is told from the other tables
 * again. A link to set a new password must not come to life again after it was used.
 */
export const leftOut: readonly string[] = [
  'uploads',
  'discarded_blobs',
  'blob_holds',
  'nodes',
  'password_resets',
  'ephemeral',
  'pending_work',
  'sso_metadata',
  'relations',
  'change_log',
  'schema_migrations',
]

/** The search index is another one on each engine. */
export const isLeftOut = (table: string): boolean => leftOut.includes(table) || table.startsWith('search_')
