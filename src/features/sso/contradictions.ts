import { type Check, hasTwice } from '../../config/check.ts'
import type { Settings } from '../../config/settings.ts'
import type { Mapping } from './mapping.ts'
import { protocols } from './protocols.ts'

/** Checks are lists of constants, and protocols are registered later: their keys are read at each check. */
const keysOf = (...kinds: ReadonlyArray<keyof (typeof protocols)[number]['keys']>) =>
  kinds.flatMap(kind => protocols.flatMap(({ keys }) => keys[kind] ?? []))

const providersOf = (settings: Settings) => protocols.flatMap(protocol => protocol.providers(settings))

const mappingsOf = (settings: Settings): readonly Mapping[] => providersOf(settings).map(({ mapping }) => mapping)

/** Contradictions between the settings of several protocols, and between settings of the attributes of users (D8, D26, D27). */
export const ssoContradictions: readonly Check[] = [
  {
    get keys() {
      return ['service.auth.password', ...keysOf('on')] as const
    },
    warning: 'nobody-can-sign-in',
    wrong: settings => settings['service.auth.password'] === 'off' && !protocols.some(({ isOn }) => isOn(settings)),
    message: 'no user can sign in: passwords are off, and so are all protocols ({protocols})',
    get values() {
      return { protocols: protocols.map(({ title }) => title).join(', ') }
    },
  },
  {
    // Sessions, audit and stored keys name a provider whatever its protocol.
    get keys() {
      return keysOf('idps')
    },
    wrong: settings =>
      protocols.some(one =>
        one
          .providers(settings)
          .some(({ name }) =>
            protocols.some(
              other =>
                other !== one &&
                (other.ownNames.includes(name) || other.providers(settings).some(provider => provider.name === name)),
            ),
          ),
      ),
    get message() {
      const taken = protocols.flatMap(({ ownNames }) => ownNames).join(' and ')
      return `a provider has the name of another identity provider (${taken} are taken)`
    },
  },
  {
    // D8.4: a provider asserts only its own domains, so each has one owner.
    get keys() {
      return keysOf('domains')
    },
    wrong: settings => hasTwice(providersOf(settings).flatMap(({ domains }) => domains ?? [])),
    message: 'a domain is claimed twice',
  },
  {
    get keys() {
      return protocols.flatMap(({ keys: { on, idps, domains } }) => (idps && domains ? [on, idps, domains] : []))
    },
    warning: 'providers-without-domains',
    wrong: settings => providersOf(settings).filter(({ domains }) => domains?.length === 0).length > 1,
    message:
      'each of several identity providers without domains can sign in the users of the others: set their domains',
  },
  {
    get keys() {
      return keysOf('groups', 'prefix')
    },
    wrong: settings =>
      mappingsOf(settings).some(
        ({ groups, prefix, adminGroup }) => groups !== undefined && prefix === undefined && adminGroup === undefined,
      ),
    message:
      'groups of a provider need a groups-prefix, an admin-group or both: without them no group would be changed',
  },
  {
    get keys() {
      return keysOf('groups', 'prefix')
    },
    wrong: settings =>
      mappingsOf(settings).some(
        ({ groups, prefix, adminGroup, provisions }) =>
          groups === undefined && (prefix !== undefined || adminGroup !== undefined || provisions),
      ),
    message:
      'groups-prefix, admin-group and groups-auto-provisioning need the attribute with the groups (groups-claim, groups-attribute)',
  },
  {
    get keys() {
      return keysOf('prefix')
    },
    wrong: settings => overlaps(settings, false),
    message: 'the groups-prefix of a provider begins with that of another, which could decide about its groups',
  },
  {
    get keys() {
      return keysOf('prefix')
    },
    warning: 'groups-prefix-shared',
    wrong: settings => overlaps(settings, true),
    message: 'several providers have the same groups-prefix, so each decides about the groups of the others',
  },
  {
    get keys() {
      return keysOf('map')
    },
    wrong: settings =>
      mappingsOf(settings).some(({ map }) =>
        [...map.keys()].some(target => !/^(name|email|language|property\..+)$/.test(target)),
      ),
    message: 'a target of map is name, email, language or property.<name>',
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
