import { feature, offer } from '../../core/feature.ts'
import { ok } from '../../core/check-result.ts'
import { BaseAddress } from '../../http/base-address.ts'
import { ssoCodes } from './codes.ts'
import { ssoEvents } from './events.ts'
import { ssoContradictions } from './contradictions.ts'
import { flowCapacity } from './login-flows.ts'
import { protocols } from './protocols.ts'
import { ssoRoutes } from './routes.ts'
import { ssoSteps } from './schema-steps.ts'
import { ssoSettings } from './settings.ts'

export const sso = feature({
  name: 'sso',
  events: ssoEvents,
  settings: ssoSettings,
  contradictions: ssoContradictions,
  schemaSteps: ssoSteps,
  codes: ssoCodes,
  capacity: flowCapacity,
  routes: ssoRoutes,
  checks: async ({ settings }) => {
    const base = new BaseAddress(
      settings['service.baseurl.folder'] ?? `http://127.0.0.1:${settings['service.http.port']}/`,
    )
    const found = protocols.map(async one =>
      one.isOn(settings)
        ? await one.check(settings, base)
        : [ok('protocol-off', '{protocol}: off', { protocol: one.title })],
    )
    return (await Promise.all(found)).flat()
  },
  open: async core => {
    const { openSso } = await import('./open.ts')
    const services = openSso(core, () => core.settings['service.auth.sso.landing'] === 'page')
    return { services, offers: offer(services, ssoRoutes) }
  },
})
