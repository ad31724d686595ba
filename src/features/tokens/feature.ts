import { offer, optionalFeature } from '../../core/feature.ts'
import { accessTokenKind, AccessTokens, deleteTokensOf } from './access-tokens.ts'
import { tokenCodes } from './codes.ts'
import { tokenEvents } from './events.ts'
import { accessTokenRoutes } from './routes.ts'
import { tokenSteps } from './schema-steps.ts'
import { tokenSettings } from './settings.ts'

export const tokens = optionalFeature({
  name: 'tokens',
  settings: tokenSettings,
  schemaSteps: tokenSteps,
  tables: [{ name: 'access_tokens', key: ['id'], since: 23 }],
  codes: tokenCodes,
  events: tokenEvents,
  endOnDisabling: deleteTokensOf,
  commands: { token: async program => (await import('./command.ts')).tokenCommand(program) },
  routes: accessTokenRoutes,
  isOn: ({ settings }) => settings['service.auth.access-tokens'],
  open: core => {
    const { credentials, database, entries, settings, stepUp } = core
    const accessTokens = new AccessTokens(core, { maxAge: settings['service.auth.access-tokens.max-age'] })
    credentials.push(accessTokenKind(accessTokens))
    return {
      offers: offer({ accessTokens, database, entries, stepUp }, accessTokenRoutes),
      jobs: [['access tokens', () => accessTokens.expire()]],
      close: () => accessTokens.close(),
    }
  },
})
