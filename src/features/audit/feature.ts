import { feature, offer } from '../../core/feature.ts'
import { search } from '../search/feature.ts'
import { auditRoutes } from './routes.ts'
import { auditSettings } from './settings.ts'

export const audit = feature({
  name: 'audit',
  needs: { search },
  settings: auditSettings,
  commands: { audit: async program => (await import('./command.ts')).auditCommand(program) },
  routes: auditRoutes,
  open: ({ audit, database, settings }, { search: { search } }) => ({
    offers: offer({ audit, database, search }, auditRoutes),
    jobs: [['audit log', () => audit.expire(settings['service.audit.retention'])]],
  }),
})
