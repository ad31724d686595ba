import type { Migration } from '../stores/migrations.ts'
import { sql } from '../stores/sql.ts'
import { postgresSearchTables, postgresSearchTrash } from './postgres-tables.ts'
import { searchChanges, searchDigests, searchTables, searchTrash } from './sqlite-tables.ts'

/** Schema migrations for the tables of the search index. A released migration never changes. */
export const searchSteps: readonly Migration[] = [
  { id: 4, name: 'search index', statements: [{ sqlite: searchTables, postgres: postgresSearchTables }] },
  {
    id: 11,
    name: 'names, sizes and formats of files in the search index',
    // The next start indexes these entries again.
    statements: [
      sql`INSERT INTO search_discarded (doc) SELECT s.doc FROM search_entries s
        JOIN entries e ON e.context = s.context AND e.id = s.id
        WHERE e.entry_type = 'Local' AND e.graph_type IN ('None', 'List')`,
      sql`DELETE FROM search_entries WHERE doc IN (SELECT doc FROM search_discarded)`,
      { sqlite: [sql`INSERT INTO search_changes (doc) VALUES (0)`], postgres: [] },
    ],
  },
  {
    id: 30,
    name: 'full texts of the search index by field',
    // Emptied, because the texts are not kept. The next start indexes all entries again.
    statements: [
      {
        sqlite: [
          sql`INSERT INTO search_ngrams (search_ngrams) VALUES ('delete-all')`,
          sql`INSERT INTO search_texts (search_texts) VALUES ('delete-all')`,
          sql`DELETE FROM search_strings`,
          sql`DELETE FROM search_numbers`,
          sql`DELETE FROM search_discarded`,
          sql`DELETE FROM search_entries`,
          sql`INSERT INTO search_changes (doc) VALUES (0)`,
        ],
        postgres: [],
      },
    ],
  },
  { id: 5, name: 'changes of the search index', statements: [{ sqlite: searchChanges, postgres: [] }] },
  { id: 35, name: 'digests of full texts', statements: [{ sqlite: searchDigests, postgres: [] }] },
  {
    id: 37,
    name: 'search index without an index that no query uses',
    // Searches sort by the numbers of the field `modified`.
    statements: [{ sqlite: [sql`DROP INDEX search_entries_by_modified`], postgres: [] }],
  },
  {
    id: 38,
    name: 'entries of the trash in the search index',
    statements: [{ sqlite: searchTrash, postgres: postgresSearchTrash }],
  },
]
