import { type Sql, sql } from '../stores/sql.ts'

/**
 * The tables of the search index in SQLite; PostgreSQL has its own (`postgres-tables.ts`). All their data are derived from
 * the other tables: if they are emptied, the next start fills them.
 */
export const searchTables: readonly Sql[] = [
  // Numbers are never reused: leftover rows of a deleted entry must not pass to a new one.
  sql`CREATE TABLE search_entries (
    doc INTEGER PRIMARY KEY AUTOINCREMENT,
    context TEXT NOT NULL,
    id TEXT NOT NULL,
    audience INTEGER NOT NULL,
    modified BIGINT NOT NULL,
    UNIQUE (context, id)
  )`,
  sql`CREATE INDEX search_entries_by_modified ON search_entries (modified, doc)`,
  sql`CREATE TABLE search_discarded (doc INTEGER PRIMARY KEY)`,
  // Sets of readers, each once, because many entries have the same readers. Number 0 is the default of the entry's context.
  sql`CREATE TABLE search_audiences (audience INTEGER PRIMARY KEY, principals TEXT NOT NULL UNIQUE)`,
  sql`CREATE TABLE search_audience_members (
    principal TEXT NOT NULL,
    audience INTEGER NOT NULL,
    PRIMARY KEY (principal, audience)
  ) WITHOUT ROWID`,
  sql`CREATE TABLE search_context_readers (
    principal TEXT NOT NULL,
    context TEXT NOT NULL,
    owns INTEGER NOT NULL,
    PRIMARY KEY (principal, context)
  ) WITHOUT ROWID`,
  sql`CREATE INDEX search_context_readers_by_context ON search_context_readers (context)`,
  sql`CREATE TABLE search_fields (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`,
  sql`CREATE TABLE search_strings (
    field INTEGER NOT NULL,
    value TEXT NOT NULL,
    doc INTEGER NOT NULL,
    PRIMARY KEY (field, value, doc)
  ) WITHOUT ROWID`,
  sql`CREATE INDEX search_strings_by_doc ON search_strings (doc, field)`,
  sql`CREATE TABLE search_numbers (
    field INTEGER NOT NULL,
    value BIGINT NOT NULL,
    doc INTEGER NOT NULL,
    PRIMARY KEY (field, value, doc)
  ) WITHOUT ROWID`,
  sql`CREATE INDEX search_numbers_by_doc ON search_numbers (doc, field)`,
  // The row id is field * 2^32 + doc, so that a search reads the hits in its field only.
  sql`CREATE VIRTUAL TABLE search_ngrams USING fts5 (
    value, content = '', contentless_delete = 1, tokenize = 'trigram'
  )`,
  sql`CREATE VIRTUAL TABLE search_ngram_terms USING fts5vocab (search_ngrams, row)`,
  sql`CREATE VIRTUAL TABLE search_texts USING fts5 (
    value, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
  )`,
]

/**
 * The latest changes of the index, numbered, from which cached sets of entries are brought up to date. `doc` 0 means that
 * the readers of unchanged entries may have changed.
 */
export const searchChanges: readonly Sql[] = [
  sql`CREATE TABLE search_changes (generation INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL)`,
  sql`INSERT INTO search_changes (doc) VALUES (0)`,
]

/**
 * The rows of `search_entries` that belong to entries in the trash. Their fields are still there, but no search finds a document that
 * has no row in `search_entries`.
 */
export const searchTrash: readonly Sql[] = [
  sql`CREATE TABLE search_trashed (
    doc INTEGER PRIMARY KEY,
    context TEXT NOT NULL,
    id TEXT NOT NULL,
    audience INTEGER NOT NULL,
    modified BIGINT NOT NULL,
    UNIQUE (context, id)
  )`,
]

/**
 * Digests of the full texts of a document, by the number of the field: the texts themselves are not kept. Without a row, all of them are
 * written anew at the next change.
 */
export const searchDigests: readonly Sql[] = [
  sql`CREATE TABLE search_digests (doc INTEGER PRIMARY KEY, digests TEXT NOT NULL)`,
]
