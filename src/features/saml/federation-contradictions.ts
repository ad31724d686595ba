import { type Check, isPlainHttp } from '../../config/check.ts'
import type { SamlSettings, samlSettings } from './settings.ts'

const FEDERATION = 'service.auth.saml.idp.<idp>.federation'
const GROUPS = 'service.auth.saml.idp.<idp>.groups-attribute'
const GROUPS_ENTITIES = 'service.auth.saml.idp.<idp>.groups-entities.<n>'
const CERTIFICATE = 'service.auth.saml.idp.<idp>.metadata.certificate-file'

/** Contradictions in the settings of SAML federations (D31). */
export const federationContradictions: ReadonlyArray<Check<typeof samlSettings.rows>> = [
  {
    keys: [FEDERATION, CERTIFICATE],
    wrong: settings => federations(settings).some(idp => settings[CERTIFICATE].get(idp) === undefined),
    message: 'a federation needs the certificate that signs its metadata: set metadata.certificate-file',
  },
  {
    keys: [FEDERATION, 'service.auth.saml.idp.<idp>.allow-unsolicited'],
    wrong: settings =>
      federations(settings).some(idp => settings['service.auth.saml.idp.<idp>.allow-unsolicited'].get(idp) === true),
    message: 'a login must begin here in a federation, because any of its identity providers could send a response',
  },
  {
    keys: [FEDERATION, GROUPS, GROUPS_ENTITIES],
    wrong: settings =>
      federations(settings).some(
        idp => settings[GROUPS].get(idp) !== undefined && (settings[GROUPS_ENTITIES].get(idp) ?? []).length === 0,
      ),
    message:
      'any identity provider of a federation could state all groups, also that of administrators: name those that may in groups-entities',
  },
  {
    keys: [FEDERATION, 'service.auth.saml.idp.<idp>.user-name-attribute'],
    warning: 'federation-without-name',
    wrong: settings =>
      federations(settings).some(
        idp => settings['service.auth.saml.idp.<idp>.user-name-attribute'].get(idp) === undefined,
      ),
    message: 'few identity providers of a federation send an e-mail address as NameID: set user-name-attribute',
  },
  {
    keys: [FEDERATION, 'service.auth.saml.idp.<idp>.discovery-url'],
    warning: 'federation-without-discovery',
    wrong: settings =>
      federations(settings).some(
        idp =>
          settings[FEDERATION].get(idp) !== 'aggregate' &&
          settings['service.auth.saml.idp.<idp>.discovery-url'].get(idp) === undefined,
      ),
    message: 'a metadata query service has no list of names, so users find new providers only by a discovery-url',
  },
  {
    keys: ['service.auth.saml.idp.<idp>.discovery-url'],
    wrong: settings => [...settings['service.auth.saml.idp.<idp>.discovery-url'].values()].some(isPlainHttp),
    message: 'a discovery service over http is accepted only on this host',
  },
  {
    keys: [FEDERATION, 'service.auth.saml.idp.<idp>.discovery-url'],
    wrong: settings => {
      const others = settings['service.auth.saml.idps.<n>'].filter(idp => !federations(settings).includes(idp))
      return others.some(
        idp =>
          settings['service.auth.saml.idp.<idp>.discovery-url'].get(idp) !== undefined ||
          (settings['service.auth.saml.idp.<idp>.required-categories.<n>'].get(idp) ?? []).length > 0 ||
          (settings[GROUPS_ENTITIES].get(idp) ?? []).length > 0,
      )
    },
    message: 'discovery-url, categories and groups-entities are used only with federation=aggregate or mdq',
  },
]

/** Names of the providers that stand for a federation. */
const federations = (settings: SamlSettings): string[] =>
  settings['service.auth.saml'] === 'new'
    ? settings['service.auth.saml.idps.<n>'].filter(idp => (settings[FEDERATION].get(idp) ?? 'off') !== 'off')
    : []
