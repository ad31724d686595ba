import { offer, optionalFeature } from '../../core/feature.ts'
import { sso } from '../sso/feature.ts'
import { registerProtocol } from '../sso/protocols.ts'
import { oidcCodes } from './codes.ts'
import { oidcContradictions } from './contradictions.ts'
import { configuredProviders } from './mapping.ts'
import { oidcRoutes } from './routes.ts'
import { oidcSettings } from './settings.ts'

registerProtocol<typeof oidcSettings.rows>({
  name: 'oidc',
  title: 'OpenID Connect',
  keys: {
    on: 'service.auth.oidc',
    idps: 'service.auth.oidc.idps.<n>',
    domains: 'service.auth.oidc.idp.<idp>.domains.<n>',
    groups: 'service.auth.oidc.idp.<idp>.groups-claim',
    prefix: 'service.auth.oidc.idp.<idp>.groups-prefix',
    map: 'service.auth.oidc.idp.<idp>.map.<target>',
  },
  ownNames: [],
  isOn: settings => settings['service.auth.oidc'],
  providers: configuredProviders,
  statusWhenOff: [],
  check: async (settings, base) => await (await import('./checks.ts')).checkOidc(settings, base),
})

export const oidc = optionalFeature({
  name: 'oidc',
  settings: oidcSettings,
  contradictions: oidcContradictions,
  needs: { sso },
  codes: oidcCodes,
  routes: oidcRoutes,
  isOn: ({ settings }) => settings['service.auth.oidc'],
  open: async (core, { sso }) => {
    const { createOidcSignOn, runningOidc } = await import('./open.ts')
    let current = createOidcSignOn(core, sso, core.settings)
    sso.running.set('oidc', runningOidc(current, core))
    const services = {
      ...sso,
      get oidc() {
        return current
      },
    }
    return {
      offers: offer(services, oidcRoutes),
      reload: async ({ next, changed }) => {
        if (![...changed].some(key => key.startsWith('service.auth.oidc'))) return undefined
        const replacement = createOidcSignOn(core, sso, next)
        return {
          apply: () => {
            current = replacement
            sso.running.set('oidc', runningOidc(current, core))
          },
        }
      },
    }
  },
})
