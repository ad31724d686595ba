import { feature, offerReads } from '../../core/feature.ts'
import { lookupRoutes } from './lookup-routes.ts'
import { openSearch } from './open-search.ts'
import { searchRoutes } from './routes.ts'
import { searchSettings } from './settings.ts'

export const search = feature({
  name: 'search',
  settings: searchSettings,
  reads: {
    routes: [...searchRoutes, ...lookupRoutes],
    offers(core) {
      const { entries, metadata, system, views } = core
      return [
        ...offerReads({ ...openSearch(core), system, views }, searchRoutes),
        ...offerReads({ entries, metadata }, lookupRoutes),
      ]
    },
  },
  open: core => ({ services: openSearch(core) }),
})
