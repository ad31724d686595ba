import type { Migration } from '../stores/migrations.ts'
import { droppedTables, searchTables } from './tables.ts'

/**
 * The step for the tables of the search index. A change of the tables replaces it by one with a new id, which drops the tables of all earlier
 * versions: the next start fills the new ones.
 */
export const searchSteps: readonly Migration[] = [
  { id: 45, name: 'search index', statements: [...droppedTables, searchTables] },
]
