import type { Settings } from './settings.ts'

/** The settings of one provider, whichever protocol, that decide what its attributes mean (D27). */
export interface Mapping {
  readonly provider: string
  /** The attribute with the groups of a user. */
  readonly groups: string | undefined
  readonly prefix: string | undefined
  readonly adminGroup: string | undefined
  readonly provisions: boolean
  readonly map: ReadonlyMap<string, string>
  readonly replaces: boolean
  readonly required: ReadonlyMap<string, string>
  readonly contact: string | undefined
}

const none: ReadonlyMap<string, string> = new Map()

export const samlMapping = (settings: Settings, idp: string): Mapping => ({
  provider: idp,
  groups: settings['service.auth.saml.idp.<idp>.groups-attribute'].get(idp),
  prefix: settings['service.auth.saml.idp.<idp>.groups-prefix'].get(idp),
  adminGroup: settings['service.auth.saml.idp.<idp>.admin-group'].get(idp),
  provisions: settings['service.auth.saml.idp.<idp>.groups-auto-provisioning'].get(idp) ?? false,
  map: settings['service.auth.saml.idp.<idp>.map.<target>'].get(idp) ?? none,
  replaces: settings['service.auth.saml.idp.<idp>.map-replaces'].get(idp) ?? true,
  required: settings['service.auth.saml.idp.<idp>.required.<attribute>'].get(idp) ?? none,
  contact: settings['service.auth.saml.idp.<idp>.contact'].get(idp),
})

export const oidcMapping = (settings: Settings, idp: string): Mapping => ({
  provider: idp,
  groups: settings['service.auth.oidc.idp.<idp>.groups-claim'].get(idp),
  prefix: settings['service.auth.oidc.idp.<idp>.groups-prefix'].get(idp),
  adminGroup: settings['service.auth.oidc.idp.<idp>.admin-group'].get(idp),
  provisions: settings['service.auth.oidc.idp.<idp>.groups-auto-provisioning'].get(idp) ?? false,
  map: settings['service.auth.oidc.idp.<idp>.map.<target>'].get(idp) ?? none,
  replaces: settings['service.auth.oidc.idp.<idp>.map-replaces'].get(idp) ?? true,
  required: settings['service.auth.oidc.idp.<idp>.required.<claim>'].get(idp) ?? none,
  contact: settings['service.auth.oidc.idp.<idp>.contact'].get(idp),
})

export const casMapping = (settings: Settings): Mapping => ({
  provider: 'cas',
  groups: settings['service.auth.cas.groups-attribute'],
  prefix: settings['service.auth.cas.groups-prefix'],
  adminGroup: settings['service.auth.cas.admin-group'],
  provisions: settings['service.auth.cas.groups-auto-provisioning'],
  map: settings['service.auth.cas.map.<target>'],
  replaces: settings['service.auth.cas.map-replaces'],
  required: settings['service.auth.cas.required.<attribute>'],
  contact: settings['service.auth.cas.contact'],
})

/** Those of all providers that are switched on. */
export const mappingsOf = (settings: Settings): readonly Mapping[] => [
  ...(settings['service.auth.saml'] === 'new' ? settings['service.auth.saml.idps.<n>'] : []).map(idp =>
    samlMapping(settings, idp),
  ),
  ...(settings['service.auth.oidc'] ? settings['service.auth.oidc.idps.<n>'] : []).map(idp =>
    oidcMapping(settings, idp),
  ),
  ...(settings['service.auth.cas'] ? [casMapping(settings)] : []),
]
