import type { Migration } from '../stores/migrations.ts'
import { postgresSearchTables } from './postgres-tables.ts'
import { searchChanges, searchTables } from './sqlite-tables.ts'

/** The steps of the schema that make the tables of the search index. A released step never changes. */
export const searchSteps: readonly Migration[] = [
  { id: 4, name: 'search index', statements: [{ sqlite: searchTables, postgres: postgresSearchTables }] },
  { id: 5, name: 'changes of the search index', statements: [{ sqlite: searchChanges, postgres: [] }] },
]
