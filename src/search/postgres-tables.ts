import { type Sql, sql } from '../stores/sql.ts'

/**
 * The tables of the search index for PostgreSQL. They serve the same purpose as those of `sqlite-tables.ts`, in a form in
 * which writers do not wait for one another: fields and readers are stored in the rows themselves, not in shared lists. No
 * extension is needed: this program splits texts into words and trigrams and stores them as lexemes.
 */
export const postgresSearchTables: readonly Sql[] = [
  // If `readers` is NULL, the readers of the context apply.
  sql`CREATE TABLE search_entries (
    doc BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    context TEXT NOT NULL,
    id TEXT NOT NULL,
    readers TEXT[],
    modified BIGINT NOT NULL,
    UNIQUE (context, id)
  )`,
  sql`CREATE INDEX search_entries_by_modified ON search_entries (modified, doc)`,
  sql`CREATE INDEX search_entries_by_readers ON search_entries USING gin (readers)`,
  sql`CREATE TABLE search_discarded (doc BIGINT PRIMARY KEY)`,
  sql`CREATE TABLE search_context_readers (
    principal TEXT NOT NULL,
    context TEXT NOT NULL,
    owns INTEGER NOT NULL,
    PRIMARY KEY (principal, context)
  )`,
  sql`CREATE INDEX search_context_readers_by_context ON search_context_readers (context)`,
  sql`CREATE TABLE search_strings (doc BIGINT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL)`,
  // An index row is limited to 2704 bytes: 500 characters and the name of the field.
  sql`CREATE INDEX search_strings_by_value ON search_strings (field, left(value, 500), doc)`,
  sql`CREATE INDEX search_strings_by_doc ON search_strings (doc, field)`,
  sql`CREATE TABLE search_numbers (
    doc BIGINT NOT NULL,
    field TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (field, value, doc)
  )`,
  sql`CREATE INDEX search_numbers_by_doc ON search_numbers (doc, field)`,
  sql`CREATE TABLE search_ngrams (
    doc BIGINT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    grams TSVECTOR NOT NULL,
    PRIMARY KEY (doc, field)
  )`,
  sql`CREATE INDEX search_ngrams_by_gram ON search_ngrams USING gin (grams)`,
  // `value` holds the words with a space before and after each, so that phrases can be found in it.
  sql`CREATE TABLE search_texts (
    doc BIGINT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (doc, field)
  )`,
  sql`CREATE INDEX search_texts_by_word ON search_texts USING gin (words)`,
]

/** The rows of `search_entries` that belong to entries in the trash, as in SQLite. */
export const postgresSearchTrash: readonly Sql[] = [
  sql`CREATE TABLE search_trashed (
    doc BIGINT PRIMARY KEY,
    context TEXT NOT NULL,
    id TEXT NOT NULL,
    readers TEXT[],
    modified BIGINT NOT NULL,
    UNIQUE (context, id)
  )`,
]
