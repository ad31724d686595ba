import { feature, offerReads } from '../../core/feature.ts'
import { openSearch } from '../search/open-search.ts'
import { Feeds } from './feeds.ts'
import { feedRoutes } from './routes.ts'
import { feedSettings } from './settings.ts'

export const feeds = feature({
  name: 'feeds',
  settings: feedSettings,
  reads: {
    routes: feedRoutes,
    offers: core => offerReads({ feeds: new Feeds({ ...core, ...openSearch(core) }) }, feedRoutes),
  },
  open: () => ({}),
})
