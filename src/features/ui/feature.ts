import { feature, offer } from '../../core/feature.ts'
import { uiRoutes } from './routes.ts'
import { uiSettings } from './settings.ts'

export const ui = feature({
  name: 'ui',
  settings: uiSettings,
  routes: uiRoutes,
  open: ({ ledger, mails, settings }) => ({
    offers: offer({ ledger, hasMails: mails !== undefined, contact: settings['service.contact'] }, uiRoutes),
  }),
})
