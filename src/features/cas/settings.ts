import { absoluteUrl } from '../../config/address-kinds.ts'
import { boolean, choice } from '../../config/kinds.ts'
import { allLiveBut } from '../../config/setting.ts'
import type { Settings, SettingsOf } from '../../config/settings.ts'
import { createsUsers, label, mappingKinds, sessionMaxAge } from '../sso/rows.ts'

const mapping = mappingKinds('Attribute')

/** CAS and SAML 1.1 (I5.4, D9). */
export const casSettings = {
  title: 'CAS and SAML 1.1',
  rows: allLiveBut(['service.auth.cas', 'service.auth.cas.max-age'], {
    'service.auth.cas': boolean({ default: false, help: 'Sign-on through a CAS server.' }),
    'service.auth.cas.version': choice(['cas1', 'cas2', 'cas3', 'saml11'], {
      default: 'cas2',
      help: 'Protocol the CAS server speaks.',
    }),
    'service.auth.cas.server.url': absoluteUrl({
      folder: true,
      help: 'Base address of the CAS server, from which login and validation addresses follow.',
    }),
    'service.auth.cas.server.url.login': absoluteUrl({
      defaultText: 'from `service.auth.cas.server.url`',
      help: 'Login page of the CAS server.',
    }),
    'service.auth.cas.single-logout': boolean({
      default: false,
      help: 'A sign-out here sends browsers to the logout page of the CAS server, which ends the session there.',
    }),
    'service.auth.cas.groups-attribute': mapping.groups,
    'service.auth.cas.groups-prefix': mapping.prefix,
    'service.auth.cas.groups-auto-provisioning': mapping.provisions,
    'service.auth.cas.admin-group': mapping.admin,
    'service.auth.cas.map.<target>': mapping.map,
    'service.auth.cas.required.<attribute>': mapping.required,
    'service.auth.cas.label': label('the CAS server', 'CAS'),
    'service.auth.cas.max-age': sessionMaxAge('CAS session'),
    'service.auth.cas.user-auto-provisioning': createsUsers,
    'service.auth.cas.redirect-success.url': absoluteUrl({ help: 'Where users go after sign-on.' }),
    'service.auth.cas.redirect-failure.url': absoluteUrl({ help: 'Where users go after a failed sign-on.' }),
    'service.https.disable-verification': boolean({
      default: false,
      warn: {
        code: 'cas-not-verified',
        text: 'is on: an attacker on the network path to the CAS server can sign in as any user; for tests only',
      },
      help: 'Accept any certificate of the CAS server.',
    }),
  } as const),
  removed: {
    'service.auth.cas.server.url.logout': 'users sign out at `logout` below `service.auth.cas.server.url`',
    'service.auth.cas.map-replaces': 'at each sign-on the values of the provider replace what the user has',
    'service.auth.cas.contact': 'the page for refused users tells them to ask their organisation',
    'service.auth.cas.label.<language>': 'there is one label for all languages: set `service.auth.cas.label`',
  },
} as const

/** The name of the one provider. */
export const CAS_NAME = 'cas'

export type CasSettings = Settings & SettingsOf<typeof casSettings.rows>
