import { offer, optionalFeature } from '../../core/feature.ts'
import { sso } from '../sso/feature.ts'
import { registerProtocol } from '../sso/protocols.ts'
import { casCodes } from './codes.ts'
import { casContradictions } from './contradictions.ts'
import { casMapping } from './mapping.ts'
import { casRoutes } from './routes.ts'
import { CAS_NAME, casSettings } from './settings.ts'

registerProtocol<typeof casSettings.rows>({
  name: 'cas',
  title: 'CAS',
  keys: {
    on: 'service.auth.cas',
    groups: 'service.auth.cas.groups-attribute',
    prefix: 'service.auth.cas.groups-prefix',
    map: 'service.auth.cas.map.<target>',
  },
  ownNames: [CAS_NAME],
  isOn: settings => settings['service.auth.cas'],
  providers: settings =>
    settings['service.auth.cas'] ? [{ name: CAS_NAME, domains: undefined, mapping: casMapping(settings) }] : [],
  statusWhenOff: undefined,
  check: async (settings, base) => await (await import('./checks.ts')).checkCas(settings, base),
})

export const cas = optionalFeature({
  name: 'cas',
  settings: casSettings,
  contradictions: casContradictions,
  needs: { sso },
  codes: casCodes,
  routes: casRoutes,
  isOn: ({ settings }) => settings['service.auth.cas'],
  open: async (core, { sso }) => {
    const { createCasSignOn, runningCas } = await import('./open.ts')
    let current = createCasSignOn(core, sso, core.settings)
    sso.running.set('cas', runningCas(current, core))
    const services = {
      ...sso,
      get cas() {
        return current
      },
    }
    return {
      offers: offer(services, casRoutes),
      reload: async ({ next, changed }) => {
        if (![...changed].some(key => /^service\.(auth\.cas|https\.)/.test(key))) return undefined
        const replacement = createCasSignOn(core, sso, next)
        return {
          apply: () => {
            current = replacement
            sso.running.set('cas', runningCas(current, core))
          },
        }
      },
    }
  },
})
