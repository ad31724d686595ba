import { offer, optionalFeature } from '../../core/feature.ts'
import { contentOriginRoutes } from './routes.ts'
import { contentOriginSettings, contradictions } from './settings.ts'
import { TicketOrigin } from './ticket-origin.ts'
import { ContentTickets } from './tickets.ts'

export const contentOrigin = optionalFeature({
  name: 'content-origin',
  settings: contentOriginSettings,
  contradictions,
  routes: contentOriginRoutes,
  isOn: ({ settings }) => settings['service.content.base-url'] !== undefined,
  checks: async ({ settings: { 'service.content.base-url': href } }) =>
    href === undefined ? [] : await (await import('./checks.ts')).checkContentOrigin(href),
  open: ({ settings, tokenKeys, system, files, resources, sessions, users, contentOrigin }) => {
    // All nodes verify each other's tickets. With tokens in memory one process serves, and a restart ends all sessions and tickets.
    const secrets = tokenKeys.length > 0 ? tokenKeys : [system.randomBytes(32)]
    const origin = new TicketOrigin(settings['service.content.base-url'] ?? '', new ContentTickets(secrets, system))
    contentOrigin.current = origin
    return {
      services: { origin },
      offers: offer({ origin, files, resources, sessions, users }, contentOriginRoutes),
    }
  },
})
