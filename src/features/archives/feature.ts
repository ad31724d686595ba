import { feature, offer } from '../../core/feature.ts'
import { createArchives } from './archives.ts'
import { archiveEvents } from './events.ts'
import { archiveRoutes } from './routes.ts'

export const archives = feature({
  name: 'archives',
  events: archiveEvents,
  routes: archiveRoutes,
  open: core => ({ offers: offer(createArchives(core), archiveRoutes) }),
})
