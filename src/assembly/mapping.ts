import { normaliseName } from '../accounts/users.ts'
import { casMapping, type Mapping, oidcMapping, samlMapping } from '../config/mappings.ts'
import type { Settings } from '../config/settings.ts'
import type { AttributeRules } from '../sso/attributes.ts'

/** `undefined` where nothing is set: such a provider states only who has signed in. @param issuers of a federation */
function rulesFrom(mapping: Mapping, issuers?: readonly string[]): AttributeRules | undefined {
  const { groups: attribute, prefix, adminGroup: adminValue, provisions, map, replaces, required, contact } = mapping
  if (attribute === undefined && map.size === 0 && required.size === 0) return undefined
  const groups = attribute !== undefined && {
    attribute,
    prefix: prefix === undefined ? undefined : normaliseName(prefix),
    adminValue,
    provisions,
    issuers: issuers && new Set(issuers),
  }
  return { required, map, replaces, contact, groups: groups || undefined }
}

/** What the attributes of a SAML provider mean. */
export function samlRules(settings: Settings, idp: string): AttributeRules | undefined {
  const isFederation = (settings['service.auth.saml.idp.<idp>.federation'].get(idp) ?? 'off') !== 'off'
  const entities = settings['service.auth.saml.idp.<idp>.groups-entities.<n>'].get(idp) ?? []
  return rulesFrom(samlMapping(settings, idp), isFederation ? entities : undefined)
}

/** What the claims of an OpenID Connect provider mean. */
export const oidcRules = (settings: Settings, idp: string): AttributeRules | undefined =>
  rulesFrom(oidcMapping(settings, idp))

/** What the attributes of the CAS server mean. */
export const casRules = (settings: Settings): AttributeRules | undefined => rulesFrom(casMapping(settings))
