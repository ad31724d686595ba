import { feature, offer, offerReads } from '../../core/feature.ts'
import { downloadRoutes, statisticsRoutes } from './routes.ts'
import { Statistics } from './statistics.ts'

export const statistics = feature({
  name: 'statistics',
  reads: {
    routes: statisticsRoutes,
    offers: core => offerReads({ statistics: new Statistics(core) }, statisticsRoutes),
  },
  routes: downloadRoutes,
  open: () => ({ offers: offer({}, downloadRoutes) }),
})
