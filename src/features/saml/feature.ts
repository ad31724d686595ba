import { offer, optionalFeature } from '../../core/feature.ts'
import { sso } from '../sso/feature.ts'
import { registerProtocol } from '../sso/protocols.ts'
import { samlCodes } from './codes.ts'
import { samlContradictions } from './contradictions.ts'
import { configuredProviders } from './mapping.ts'
import { samlRoutes } from './routes.ts'
import { samlSteps } from './schema-steps.ts'
import { LEGACY_NAME, samlSettings } from './settings.ts'

registerProtocol<typeof samlSettings.rows>({
  name: 'saml',
  title: 'SAML',
  keys: {
    on: 'service.auth.saml',
    idps: 'service.auth.saml.idps.<n>',
    domains: 'service.auth.saml.idp.<idp>.domains.<n>',
    groups: 'service.auth.saml.idp.<idp>.groups-attribute',
    prefix: 'service.auth.saml.idp.<idp>.groups-prefix',
    map: 'service.auth.saml.idp.<idp>.map.<target>',
  },
  ownNames: [LEGACY_NAME],
  isOn: settings => settings['service.auth.saml'] !== 'off',
  providers: configuredProviders,
  statusWhenOff: [],
  check: async (settings, base) => await (await import('./checks.ts')).checkSaml(settings, base),
})

export const saml = optionalFeature({
  name: 'saml',
  settings: samlSettings,
  contradictions: samlContradictions,
  requireUsable: async ({ settings }) => (await import('./create-providers.ts')).requireSamlFiles(settings),
  needs: { sso },
  schemaSteps: samlSteps,
  codes: samlCodes,
  routes: samlRoutes,
  isOn: ({ settings }) => settings['service.auth.saml'] !== 'off',
  open: async (core, { sso }) => {
    const saml = new (await import('./open.ts')).RunningSaml(core, sso, core.settings)
    const services = {
      ...sso,
      get saml() {
        return saml.current
      },
    }
    return {
      offers: offer(services, samlRoutes),
      jobs: [
        [
          'expiry of provider metadata',
          () => {
            for (const { provider } of saml.current.providers) provider.metadata.warnOfExpiry()
          },
        ],
      ],
      reload: async ({ next, changed }) => {
        if (![...changed].some(key => key.startsWith('service.auth.saml'))) return undefined
        const replacement = saml.prepare(next)
        return { apply: () => saml.use(replacement), discard: () => replacement.close() }
      },
      close: () => saml.close(),
    }
  },
})
