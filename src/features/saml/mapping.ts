import type { AttributeRules } from '../sso/attributes.ts'
import { type Mapping, noMapping, rulesFrom } from '../sso/mapping.ts'
import type { ConfiguredProvider } from '../sso/protocols.ts'
import { LEGACY_NAME, type SamlSettings } from './settings.ts'

const mappingOf = (settings: SamlSettings, idp: string): Mapping => ({
  groups: settings['service.auth.saml.idp.<idp>.groups-attribute'].get(idp),
  prefix: settings['service.auth.saml.idp.<idp>.groups-prefix'].get(idp),
  adminGroup: settings['service.auth.saml.idp.<idp>.admin-group'].get(idp),
  provisions: settings['service.auth.saml.idp.<idp>.groups-auto-provisioning'].get(idp) ?? false,
  map: settings['service.auth.saml.idp.<idp>.map.<target>'].get(idp) ?? new Map(),
  required: settings['service.auth.saml.idp.<idp>.required.<attribute>'].get(idp) ?? new Map(),
})

/** The meaning of the attributes of a provider. */
export function samlRules(settings: SamlSettings, idp: string): AttributeRules | undefined {
  const isFederation = (settings['service.auth.saml.idp.<idp>.federation'].get(idp) ?? 'off') !== 'off'
  const entities = settings['service.auth.saml.idp.<idp>.groups-entities.<n>'].get(idp) ?? []
  return rulesFrom(mappingOf(settings, idp), isFederation ? entities : undefined)
}

/** The settings of each provider. */
export function configuredProviders(settings: SamlSettings): readonly ConfiguredProvider[] {
  switch (settings['service.auth.saml']) {
    case 'off':
      return []
    case 'on':
      // These settings can give no domains.
      return [{ name: LEGACY_NAME, domains: [], mapping: noMapping }]
    case 'new':
      return settings['service.auth.saml.idps.<n>'].map(name => ({
        name,
        domains: settings['service.auth.saml.idp.<idp>.domains.<n>'].get(name) ?? [],
        mapping: mappingOf(settings, name),
      }))
  }
}
