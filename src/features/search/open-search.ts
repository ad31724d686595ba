import type { SettingsOf } from '../../config/settings.ts'
import type { ReadCore } from '../../core/core.ts'
import { Search } from './search.ts'
import type { searchSettings } from './settings.ts'

/** The search, for this feature and later ones: each reader thread has its own. */
export function openSearch({ database, loader, settings }: ReadCore) {
  const own = settings as typeof settings & SettingsOf<typeof searchSettings.rows>
  return {
    search: new Search(database, loader),
    /** Most hits of one response. */
    maxLimit: own['service.solr.max-limit'],
  }
}
