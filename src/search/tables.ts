import type { Migration } from '../stores/migrations.ts'
import { name, type Sql, sql } from '../stores/sql.ts'

/** The tables of the search index. All their data are derived from other tables: if they are empty, the next start fills them. */

const common: readonly Sql[] = [
  sql`CREATE TABLE search_state (is_complete INTEGER NOT NULL)`,
  sql`INSERT INTO search_state (is_complete) VALUES (0)`,
  // Documents of entries that are no longer there, whose fields are still to be deleted.
  sql`CREATE TABLE search_removed (doc BIGINT PRIMARY KEY)`,
]

/** The folders that give access, by the folder that they are in: few, whatever is in them. */
const foldersInFolders = sql`CREATE INDEX search_entries_giving ON search_entries (context, scope) WHERE gives = 1`

export const stringsByDoc = sql`CREATE INDEX search_strings_by_doc ON search_strings (doc, field)`
const numbersByDoc = sql`CREATE INDEX search_numbers_by_doc ON search_numbers (doc, field)`

const sqlite: readonly Sql[] = [
  ...common,
  // Numbers are never reused: leftover rows of a removed entry must not pass to a new one.
  sql`CREATE TABLE search_entries (
    doc INTEGER PRIMARY KEY AUTOINCREMENT,
    context TEXT NOT NULL,
    id TEXT NOT NULL,
    own_acl INTEGER NOT NULL,
    open_to INTEGER NOT NULL,
    gives INTEGER NOT NULL,
    scope TEXT,
    created BIGINT NOT NULL,
    modified BIGINT NOT NULL,
    UNIQUE (context, id)
  )`,
  foldersInFolders,
  sql`CREATE TABLE search_fields (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`,
  sql`CREATE TABLE search_strings (
    field INTEGER NOT NULL,
    value TEXT NOT NULL,
    doc INTEGER NOT NULL,
    PRIMARY KEY (field, value, doc)
  ) WITHOUT ROWID`,
  stringsByDoc,
  sql`CREATE TABLE search_numbers (
    field INTEGER NOT NULL,
    value BIGINT NOT NULL,
    doc INTEGER NOT NULL,
    PRIMARY KEY (field, value, doc)
  ) WITHOUT ROWID`,
  numbersByDoc,
  // The row id is field * 2^32 + doc, so that a search reads the hits in its field only.
  sql`CREATE VIRTUAL TABLE search_ngrams USING fts5 (value, content = '', contentless_delete = 1, tokenize = 'trigram')`,
  sql`CREATE VIRTUAL TABLE search_ngram_terms USING fts5vocab (search_ngrams, row)`,
  sql`CREATE VIRTUAL TABLE search_texts USING fts5 (
    value, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
  )`,
]

/** The indexes of the fields in PostgreSQL, by name, except those of primary keys. */
export const postgresIndexes: Readonly<Record<string, Sql>> = {
  // An index row is limited to 2704 bytes: 500 characters and the name of the field.
  search_strings_by_value: sql`CREATE INDEX search_strings_by_value ON search_strings (field, left(value, 500), doc)`,
  search_strings_by_doc: stringsByDoc,
  search_numbers_by_doc: numbersByDoc,
  search_ngrams_by_gram: sql`CREATE INDEX search_ngrams_by_gram ON search_ngrams USING gin (grams)`,
  search_texts_by_word: sql`CREATE INDEX search_texts_by_word ON search_texts USING gin (words)`,
}

const postgres: readonly Sql[] = [
  ...common,
  sql`DROP TEXT SEARCH CONFIGURATION IF EXISTS stowage`,
  sql`DROP TEXT SEARCH DICTIONARY IF EXISTS stowage_stem`,
  sql`CREATE TABLE search_entries (
    doc BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    context TEXT NOT NULL,
    id TEXT NOT NULL,
    own_acl INTEGER NOT NULL,
    open_to INTEGER NOT NULL,
    gives INTEGER NOT NULL,
    scope TEXT,
    created BIGINT NOT NULL,
    modified BIGINT NOT NULL,
    UNIQUE (context, id)
  )`,
  foldersInFolders,
  sql`CREATE TABLE search_strings (doc BIGINT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL)`,
  sql`CREATE TABLE search_numbers (
    doc BIGINT NOT NULL,
    field TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (field, value, doc)
  )`,
  // Trigrams are stored as lexemes, so that no extension is needed.
  sql`CREATE TABLE search_ngrams (
    doc BIGINT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    grams TSVECTOR NOT NULL,
    PRIMARY KEY (doc, field)
  )`,
  // English stems, as the database's own configuration has them, but also of frequent words, because a phrase can have them.
  sql`CREATE TEXT SEARCH DICTIONARY stowage_stem (TEMPLATE = snowball, LANGUAGE = english)`,
  sql`CREATE TEXT SEARCH CONFIGURATION stowage (COPY = simple)`,
  sql`ALTER TEXT SEARCH CONFIGURATION stowage ALTER MAPPING FOR asciiword, word, numword WITH stowage_stem`,
  sql`CREATE TABLE search_texts (
    doc BIGINT NOT NULL,
    field TEXT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (doc, field)
  )`,
  ...Object.values(postgresIndexes),
]

/** The tables of all versions. */
const droppedTables: readonly Sql[] = [
  'search_state',
  'search_removed',
  'search_ngram_terms',
  'search_ngrams',
  'search_texts',
  'search_strings',
  'search_numbers',
  'search_fields',
  'search_entries',
  'search_trashed',
  'search_discarded',
  'search_changes',
  'search_digests',
  'search_context_readers',
  'search_audiences',
  'search_audience_members',
].map(table => sql`DROP TABLE IF EXISTS ${name(table)}`)

/**
 * The step for the tables of the search index. A change of the tables replaces this step by a step with a new id, which drops the tables of
 * all earlier versions: the next start fills the new tables.
 */
export const searchSteps: readonly Migration[] = [
  { id: 78, name: 'search index', statements: [...droppedTables, { sqlite, postgres }] },
]
