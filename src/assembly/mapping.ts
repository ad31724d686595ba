import { normaliseName } from '../accounts/users.ts'
import type { Settings } from '../config/settings.ts'
import type { AttributeRules } from '../sso/attributes.ts'

/** The settings of one provider, whichever protocol. */
interface MappingSettings {
  readonly attribute: string | undefined
  readonly prefix: string | undefined
  readonly adminValue: string | undefined
  readonly provisions: boolean | undefined
  readonly map: ReadonlyMap<string, string> | undefined
  readonly replaces: boolean | undefined
  readonly required: ReadonlyMap<string, string> | undefined
  readonly contact: string | undefined
  /** Of a federation. */
  readonly issuers?: readonly string[] | undefined
}

/** `undefined` where nothing is set: such a provider states only who has signed in. */
function rulesFrom(settings: MappingSettings): AttributeRules | undefined {
  const { attribute, prefix, adminValue, provisions, issuers, ...given } = settings
  if (attribute === undefined && !given.map?.size && !given.required?.size) return undefined
  return {
    required: given.required ?? new Map<string, string>(),
    map: given.map ?? new Map<string, string>(),
    replaces: given.replaces ?? true,
    contact: given.contact,
    groups:
      attribute === undefined
        ? undefined
        : {
            attribute,
            prefix: prefix === undefined ? undefined : normaliseName(prefix),
            adminValue,
            provisions: provisions ?? false,
            issuers: issuers && new Set(issuers),
          },
  }
}

/** What the attributes of a SAML provider mean. */
export const samlRules = (settings: Settings, idp: string): AttributeRules | undefined =>
  rulesFrom({
    attribute: settings['service.auth.saml.idp.<idp>.groups-attribute'].get(idp),
    prefix: settings['service.auth.saml.idp.<idp>.groups-prefix'].get(idp),
    adminValue: settings['service.auth.saml.idp.<idp>.admin-group'].get(idp),
    provisions: settings['service.auth.saml.idp.<idp>.groups-auto-provisioning'].get(idp),
    map: settings['service.auth.saml.idp.<idp>.map.<target>'].get(idp),
    replaces: settings['service.auth.saml.idp.<idp>.map-replaces'].get(idp),
    required: settings['service.auth.saml.idp.<idp>.required.<attribute>'].get(idp),
    contact: settings['service.auth.saml.idp.<idp>.contact'].get(idp),
    issuers:
      (settings['service.auth.saml.idp.<idp>.federation'].get(idp) ?? 'off') === 'off'
        ? undefined
        : (settings['service.auth.saml.idp.<idp>.groups-entities.<n>'].get(idp) ?? []),
  })

/** What the claims of an OpenID Connect provider mean. */
export const oidcRules = (settings: Settings, idp: string): AttributeRules | undefined =>
  rulesFrom({
    attribute: settings['service.auth.oidc.idp.<idp>.groups-claim'].get(idp),
    prefix: settings['service.auth.oidc.idp.<idp>.groups-prefix'].get(idp),
    adminValue: settings['service.auth.oidc.idp.<idp>.admin-group'].get(idp),
    provisions: settings['service.auth.oidc.idp.<idp>.groups-auto-provisioning'].get(idp),
    map: settings['service.auth.oidc.idp.<idp>.map.<target>'].get(idp),
    replaces: settings['service.auth.oidc.idp.<idp>.map-replaces'].get(idp),
    required: settings['service.auth.oidc.idp.<idp>.required.<claim>'].get(idp),
    contact: settings['service.auth.oidc.idp.<idp>.contact'].get(idp),
  })

/** What the attributes of the CAS server mean. */
export const casRules = (settings: Settings): AttributeRules | undefined =>
  rulesFrom({
    attribute: settings['service.auth.cas.groups-attribute'],
    prefix: settings['service.auth.cas.groups-prefix'],
    adminValue: settings['service.auth.cas.admin-group'],
    provisions: settings['service.auth.cas.groups-auto-provisioning'],
    map: settings['service.auth.cas.map.<target>'],
    replaces: settings['service.auth.cas.map-replaces'],
    required: settings['service.auth.cas.required.<attribute>'],
    contact: settings['service.auth.cas.contact'],
  })
