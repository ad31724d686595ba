import type { AttributeRules } from '../sso/attributes.ts'
import { type Mapping, rulesFrom } from '../sso/mapping.ts'
import type { ConfiguredProvider } from '../sso/protocols.ts'
import type { OidcSettings } from './settings.ts'

const mappingOf = (settings: OidcSettings, idp: string): Mapping => ({
  groups: settings['service.auth.oidc.idp.<idp>.groups-claim'].get(idp),
  prefix: settings['service.auth.oidc.idp.<idp>.groups-prefix'].get(idp),
  adminGroup: settings['service.auth.oidc.idp.<idp>.admin-group'].get(idp),
  provisions: settings['service.auth.oidc.idp.<idp>.groups-auto-provisioning'].get(idp) ?? false,
  map: settings['service.auth.oidc.idp.<idp>.map.<target>'].get(idp) ?? new Map(),
  required: settings['service.auth.oidc.idp.<idp>.required.<claim>'].get(idp) ?? new Map(),
})

/** The meaning of the claims of a provider. */
export const oidcRules = (settings: OidcSettings, idp: string): AttributeRules | undefined =>
  rulesFrom(mappingOf(settings, idp))

/** The settings of each provider. */
export const configuredProviders = (settings: OidcSettings): readonly ConfiguredProvider[] =>
  !settings['service.auth.oidc']
    ? []
    : settings['service.auth.oidc.idps.<n>'].map(name => ({
        name,
        domains: settings['service.auth.oidc.idp.<idp>.domains.<n>'].get(name) ?? [],
        mapping: mappingOf(settings, name),
      }))
