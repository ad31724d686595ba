import type { Check } from './check.ts'
import type { Key } from './keys.ts'
import { casMapping, mappingsOf } from './mappings.ts'
import type { Settings } from './settings.ts'

const groupsKeys = [
  'service.auth.saml.idp.<idp>.groups-attribute',
  'service.auth.oidc.idp.<idp>.groups-claim',
  'service.auth.cas.groups-attribute',
] as const satisfies readonly Key[]
const prefixKeys = [
  'service.auth.saml.idp.<idp>.groups-prefix',
  'service.auth.oidc.idp.<idp>.groups-prefix',
  'service.auth.cas.groups-prefix',
] as const satisfies readonly Key[]
const mapKeys = [
  'service.auth.saml.idp.<idp>.map.<target>',
  'service.auth.oidc.idp.<idp>.map.<target>',
  'service.auth.cas.map.<target>',
] as const satisfies readonly Key[]

/** Contradictions in what providers say about their users (D27). */
export const mappingChecks: readonly Check[] = [
  {
    keys: [...groupsKeys, ...prefixKeys],
    wrong: settings =>
      mappingsOf(settings).some(
        ({ groups, prefix, adminGroup }) => groups !== undefined && prefix === undefined && adminGroup === undefined,
      ),
    message:
      'groups of a provider need a groups-prefix, an admin-group or both: without them no group would be changed',
  },
  {
    keys: [...groupsKeys, ...prefixKeys],
    wrong: settings =>
      mappingsOf(settings).some(
        ({ groups, prefix, adminGroup, provisions }) =>
          groups === undefined && (prefix !== undefined || adminGroup !== undefined || provisions),
      ),
    message:
      'groups-prefix, admin-group and groups-auto-provisioning need the attribute with the groups (groups-claim, groups-attribute)',
  },
  {
    keys: prefixKeys,
    wrong: settings => overlaps(settings, false),
    message: 'the groups-prefix of a provider begins with that of another, which could decide about its groups',
  },
  {
    keys: prefixKeys,
    warning: true,
    wrong: settings => overlaps(settings, true),
    message: 'several providers have the same groups-prefix, so each decides about the groups of the others',
  },
  {
    keys: mapKeys,
    wrong: settings =>
      mappingsOf(settings).some(({ map }) =>
        [...map.keys()].some(target => !/^(name|email|language|property\..+)$/.test(target)),
      ),
    message: 'a target of map is name, email, language or property.<name>',
  },
  {
    keys: ['service.auth.cas.version', 'service.auth.cas.groups-attribute', ...mapKeys],
    wrong: settings => {
      if (!settings['service.auth.cas'] || settings['service.auth.cas.version'] !== 'cas1') return false
      const { groups, map, required } = casMapping(settings)
      return groups !== undefined || map.size > 0 || required.size > 0
    },
    message: 'CAS 1 has no attributes, so nothing can be mapped or required: use cas3',
  },
]

/** Whether one prefix begins with another, in the form that names are compared in. */
function overlaps(settings: Settings, equal: boolean): boolean {
  const prefixes = mappingsOf(settings).flatMap(({ prefix }) =>
    prefix === undefined ? [] : [prefix.normalize('NFKC').toLowerCase()],
  )
  return prefixes.some((prefix, at) =>
    prefixes.some((other, index) => index !== at && prefix.startsWith(other) && (prefix === other) === equal),
  )
}
