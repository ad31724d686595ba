import { realSystem } from '../../src/base/system.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import { Search } from '../../src/features/search/search.ts'
import type { Database } from '../../src/stores/database.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'

const CACHE_BYTES = 1_000_000

/** A search with a cache of its own for the entries that it finds. */
export function newSearch(database: Database): Search {
  const cache = new DependencyCache(database, CACHE_BYTES, realSystem)
  return new Search(database, new EntryLoader({ database, cache }))
}
