import { feature, offer } from '../../core/feature.ts'
import { sessionCodes } from './codes.ts'
import { sessionEvents } from './events.ts'
import { sessionRoutes } from './routes.ts'

export const sessions = feature({
  name: 'sessions',
  events: sessionEvents,
  codes: sessionCodes,
  commands: { session: async program => (await import('./command.ts')).sessionCommand(program) },
  routes: sessionRoutes,
  open: core => ({ offers: offer(core, sessionRoutes) }),
})
