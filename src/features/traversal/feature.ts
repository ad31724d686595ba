import { feature, offerReads } from '../../core/feature.ts'
import { traversalRoutes } from './routes.ts'
import { traversalSettings } from './settings.ts'
import { Traversals } from './traversals.ts'

export const traversal = feature({
  name: 'traversal',
  settings: traversalSettings,
  reads: {
    routes: traversalRoutes,
    offers: core => offerReads({ traversals: new Traversals(core) }, traversalRoutes),
  },
  open: () => ({}),
})
