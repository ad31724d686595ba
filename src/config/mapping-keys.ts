import { boolean, pattern, text } from './kinds.ts'

const attribute = { expects: 'the name of an attribute' }
const claim = { expects: 'the name of a claim' }
const prefix = {
  expects: 'a text of 2 to 100 characters',
  matches: /^.{2,100}$/u,
  help: 'Beginning of the names of all groups that the provider decides about: the value `staff` and the prefix `sso-` mean the group `sso-staff`. No other group is changed.',
}
const groups = 'with the groups of the user: memberships are added and removed at each sign-on.'
const admin =
  'whose holders are members of the group `admins`. Without it the provider does not decide about that group.'
const provisions = 'Create groups that do not exist yet.'
const target =
  'becomes this value of the user; the target is `name` (full name), `email`, `language` or `property.<name>` (a custom property).'
const replaces =
  'At each sign-on, replace what the user has. `off`: only fill in what the user lacks, so that what users edit stays.'
const required = 'must match as a whole; other users are refused.'
const contact = {
  expects: 'a text of at most 200 characters',
  matches: /^.{1,200}$/u,
  help: 'Whom users ask who lack a required value: an e-mail address or a name.',
}

/** What providers say about their users (D27): the same settings for each protocol. */
export const samlMappingKeys = {
  'service.auth.saml.idp.<idp>.groups-attribute': text({ ...attribute, help: `Attribute ${groups}` }),
  'service.auth.saml.idp.<idp>.groups-prefix': text(prefix),
  'service.auth.saml.idp.<idp>.groups-auto-provisioning': boolean({ default: false, help: provisions }),
  'service.auth.saml.idp.<idp>.admin-group': text({ help: `Value of the groups attribute ${admin}` }),
  'service.auth.saml.idp.<idp>.map.<target>': text({ ...attribute, help: `Attribute that ${target}` }),
  'service.auth.saml.idp.<idp>.map-replaces': boolean({ default: true, help: replaces }),
  'service.auth.saml.idp.<idp>.required.<attribute>': pattern({
    help: `Pattern that a value of this attribute ${required}`,
  }),
  'service.auth.saml.idp.<idp>.contact': text(contact),
} as const

export const oidcMappingKeys = {
  'service.auth.oidc.idp.<idp>.groups-claim': text({ ...claim, help: `Claim ${groups}` }),
  'service.auth.oidc.idp.<idp>.groups-prefix': text(prefix),
  'service.auth.oidc.idp.<idp>.groups-auto-provisioning': boolean({ default: false, help: provisions }),
  'service.auth.oidc.idp.<idp>.admin-group': text({ help: `Value of the groups claim ${admin}` }),
  'service.auth.oidc.idp.<idp>.map.<target>': text({ ...claim, help: `Claim that ${target}` }),
  'service.auth.oidc.idp.<idp>.map-replaces': boolean({ default: true, help: replaces }),
  'service.auth.oidc.idp.<idp>.required.<claim>': pattern({ help: `Pattern that a value of this claim ${required}` }),
  'service.auth.oidc.idp.<idp>.contact': text(contact),
} as const

export const casMappingKeys = {
  'service.auth.cas.groups-attribute': text({ ...attribute, help: `Attribute ${groups}` }),
  'service.auth.cas.groups-prefix': text(prefix),
  'service.auth.cas.groups-auto-provisioning': boolean({ default: false, help: provisions }),
  'service.auth.cas.admin-group': text({ help: `Value of the groups attribute ${admin}` }),
  'service.auth.cas.map.<target>': text({ ...attribute, help: `Attribute that ${target}` }),
  'service.auth.cas.map-replaces': boolean({ default: true, help: replaces }),
  'service.auth.cas.required.<attribute>': pattern({ help: `Pattern that a value of this attribute ${required}` }),
  'service.auth.cas.contact': text(contact),
} as const
