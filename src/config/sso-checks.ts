import { type Check, isPlainHttp } from './check.ts'
import type { Settings } from './settings.ts'

/** Contradictions in the settings of SAML and CAS (I5.3, I5.4; D8, D9). */
export const ssoChecks: readonly Check[] = [
  {
    keys: ['service.auth.saml', 'service.auth.saml.assertion-consumer-service.url'],
    wrong: settings =>
      settings['service.auth.saml'] !== 'off' &&
      settings['service.auth.saml.assertion-consumer-service.url'] === undefined,
    message: 'SAML needs service.auth.saml.assertion-consumer-service.url',
  },
  {
    keys: ['service.auth.saml', 'service.auth.saml.idps.<n>'],
    wrong: settings => settings['service.auth.saml'] === 'new' && settings['service.auth.saml.idps.<n>'].length === 0,
    message: 'SAML needs at least one identity provider in service.auth.saml.idps.1',
  },
  {
    keys: ['service.auth.saml.idps.<n>'],
    wrong: settings => hasTwice(settings['service.auth.saml.idps.<n>']),
    message: 'an identity provider is listed twice',
  },
  {
    keys: ['service.auth.saml.idps.<n>', 'service.auth.saml.idp.<idp>.relying-party-id'],
    wrong: settings => {
      const listed = settings['service.auth.saml.idps.<n>']
      return [...settings['service.auth.saml.idp.<idp>.relying-party-id'].keys()].some(idp => !listed.includes(idp))
    },
    message: 'an identity provider has settings, but is not listed in service.auth.saml.idps.<n>',
  },
  {
    keys: ['service.auth.saml.idps.<n>', 'service.auth.saml.idp.<idp>.relying-party-id'],
    wrong: settings =>
      settings['service.auth.saml'] === 'new' && isMissing(settings, 'service.auth.saml.idp.<idp>.relying-party-id'),
    message: 'every identity provider needs its relying-party-id',
  },
  {
    keys: ['service.auth.saml.idps.<n>', 'service.auth.saml.idp.<idp>.metadata.url'],
    wrong: settings =>
      settings['service.auth.saml'] === 'new' && isMissing(settings, 'service.auth.saml.idp.<idp>.metadata.url'),
    message: 'every identity provider needs its metadata.url',
  },
  {
    keys: ['service.auth.saml.default-idp', 'service.auth.saml.idps.<n>'],
    wrong: settings => {
      const idp = settings['service.auth.saml.default-idp']
      return idp !== undefined && !settings['service.auth.saml.idps.<n>'].includes(idp)
    },
    message: 'the default identity provider is not listed',
  },
  {
    // D8.4: an IdP asserts only its own domains, so each has one owner.
    keys: ['service.auth.saml.idp.<idp>.domains.<n>'],
    wrong: settings => hasTwice([...settings['service.auth.saml.idp.<idp>.domains.<n>'].values()].flat()),
    message: 'a domain is claimed twice',
  },
  {
    keys: ['service.auth.saml.idp.<idp>.metadata.url'],
    wrong: settings => [...settings['service.auth.saml.idp.<idp>.metadata.url'].values()].some(isPlainHttp),
    message: 'metadata over http are accepted only from this host',
  },
  {
    keys: ['service.auth.saml.idp-metadata.url'],
    wrong: settings => isPlainHttp(settings['service.auth.saml.idp-metadata.url']),
    message: 'metadata over http are accepted only from this host',
  },
  {
    keys: ['service.auth.saml', 'service.auth.saml.relying-party-id'],
    wrong: settings =>
      settings['service.auth.saml'] === 'on' && settings['service.auth.saml.relying-party-id'] === undefined,
    message: 'service.auth.saml=on needs service.auth.saml.relying-party-id',
  },
  {
    keys: ['service.auth.saml', 'service.auth.saml.idp-metadata.url'],
    wrong: settings =>
      settings['service.auth.saml'] === 'on' && settings['service.auth.saml.idp-metadata.url'] === undefined,
    message: 'service.auth.saml=on needs service.auth.saml.idp-metadata.url',
  },
  {
    keys: ['service.auth.saml'],
    warning: true,
    wrong: settings => settings['service.auth.saml'] === 'on',
    message: 'these settings for one identity provider are deprecated: use service.auth.saml=new',
  },
  {
    keys: ['service.auth.saml', 'service.auth.saml.idps.<n>'],
    warning: true,
    wrong: settings => settings['service.auth.saml'] !== 'new' && settings['service.auth.saml.idps.<n>'].length > 0,
    message: 'identity providers are used only with service.auth.saml=new',
  },
  {
    keys: ['service.auth.saml', 'service.auth.saml.relying-party-id', 'service.auth.saml.idp-metadata.url'],
    warning: true,
    wrong: settings =>
      settings['service.auth.saml'] !== 'on' &&
      (settings['service.auth.saml.relying-party-id'] !== undefined ||
        settings['service.auth.saml.idp-metadata.url'] !== undefined),
    message: 'these settings are used only with service.auth.saml=on',
  },
  ...(['signing', 'encryption'] as const).map((use): Check => {
    const keyFile = `service.auth.saml.${use}.key-file` as const
    const certificateFile = `service.auth.saml.${use}.certificate-file` as const
    return {
      keys: [keyFile, certificateFile],
      wrong: settings => (settings[keyFile] === undefined) !== (settings[certificateFile] === undefined),
      message: 'a key file and its certificate file go together',
    }
  }),
  {
    keys: ['service.auth.cas', 'service.auth.cas.server.url'],
    wrong: settings => settings['service.auth.cas'] && settings['service.auth.cas.server.url'] === undefined,
    message: 'CAS needs service.auth.cas.server.url',
  },
  {
    keys: ['service.auth.cas.server.url'],
    wrong: settings => isPlainHttp(settings['service.auth.cas.server.url']),
    message: 'a CAS server over http is accepted only on this host: on the way anybody could sign in as anybody',
  },
]

type RequiredOfIdp = 'service.auth.saml.idp.<idp>.relying-party-id' | 'service.auth.saml.idp.<idp>.metadata.url'

function isMissing(settings: Settings, key: RequiredOfIdp): boolean {
  return settings['service.auth.saml.idps.<n>'].some(idp => settings[key].get(idp) === undefined)
}

function hasTwice(values: readonly string[]): boolean {
  return new Set(values).size < values.length
}
