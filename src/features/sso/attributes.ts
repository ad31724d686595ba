import { requireName, normaliseName } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import { compilePattern, type Pattern } from '../../base/patterns.ts'
import { isLanguageTag } from '../../base/text.ts'
import { SsoRefused, refused } from './refusal.ts'

/**
 * The statements of a provider about a user beside the name: claims of OpenID Connect, attributes of SAML and CAS. A member is a value or a
 * list of values; claims can be objects.
 */
export type Attributes = Readonly<Record<string, unknown>>

/** A user in more groups than this has too many for any response that a provider can send here. */
const MAX_VALUES = 10_000

/** The same attribute as federations name it (eduPerson, inetOrgPerson, Active Directory), by its short name. */
const oids: ReadonlyMap<string, string> = new Map([
  ['cn', 'urn:oid:2.5.4.3'],
  ['displayName', 'urn:oid:2.16.840.1.113730.3.1.241'],
  ['eduPersonAffiliation', 'urn:oid:1.3.6.1.4.1.5923.1.1.1.1'],
  ['eduPersonAssurance', 'urn:oid:1.3.6.1.4.1.5923.1.1.1.11'],
  ['eduPersonEntitlement', 'urn:oid:1.3.6.1.4.1.5923.1.1.1.7'],
  ['eduPersonPrimaryAffiliation', 'urn:oid:1.3.6.1.4.1.5923.1.1.1.5'],
  ['eduPersonPrincipalName', 'urn:oid:1.3.6.1.4.1.5923.1.1.1.6'],
  ['eduPersonScopedAffiliation', 'urn:oid:1.3.6.1.4.1.5923.1.1.1.9'],
  ['givenName', 'urn:oid:2.5.4.42'],
  ['isMemberOf', 'urn:oid:1.3.6.1.4.1.5923.1.5.1.1'],
  ['mail', 'urn:oid:0.9.2342.19200300.100.1.3'],
  ['memberOf', 'urn:oid:1.2.840.113556.1.2.102'],
  ['o', 'urn:oid:2.5.4.10'],
  ['ou', 'urn:oid:2.5.4.11'],
  ['preferredLanguage', 'urn:oid:2.16.840.1.113730.3.1.39'],
  ['schacHomeOrganization', 'urn:oid:1.3.6.1.4.1.25178.1.2.9'],
  ['sn', 'urn:oid:2.5.4.4'],
  ['telephoneNumber', 'urn:oid:2.5.4.20'],
  ['uid', 'urn:oid:0.9.2342.19200300.100.1.1'],
])

/**
 * The value as the provider stated it; `undefined` if it did not. If no attribute has the name, dots in it separate the members of a path:
 * `realm_access.roles`.
 */
export function valueAt(attributes: Attributes, name: string): unknown {
  if (Object.hasOwn(attributes, name)) return attributes[name]
  const oid = oids.get(name)
  if (oid !== undefined && Object.hasOwn(attributes, oid)) return attributes[oid]
  let value: unknown = attributes
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, part))
      return undefined
    value = (value as Attributes)[part]
  }
  return value
}

/** The values of an attribute as texts. Numbers and booleans are included, objects are not. */
export function valuesOf(attributes: Attributes, name: string): readonly string[] {
  const value = valueAt(attributes, name)
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all
    .slice(0, MAX_VALUES)
    .filter(one => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
    .map(String)
}

/** Attributes from pairs of name and value, in which a name can occur several times. */
export function attributesOf(pairs: Iterable<readonly [name: string, value: string]>): Attributes {
  const collected = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    const values = collected.get(name) ?? []
    values.push(value)
    collected.set(name, values)
  }
  return Object.fromEntries(collected)
}

/** The meaning of the attributes of a user in this service (D27). */
export interface AttributeRules {
  /** By attribute, a pattern in RE2 that one of its values must match as a whole. */
  readonly required: ReadonlyMap<string, string>
  /** The attribute for each target: `name`, `email`, `language`, and `property.<custom property>`. */
  readonly map: ReadonlyMap<string, string>
  /** Absent: the provider decides about no memberships. */
  readonly groups: GroupRules | undefined
}

export interface GroupRules {
  readonly attribute: string
  /** The names of all groups that the provider decides about begin with this; absent: it decides about none. Normalised. */
  readonly prefix: string | undefined
  /** The value whose holders are members of the admin group; absent: the provider does not decide about that group. */
  readonly adminValue: string | undefined
  /** Creates groups that do not exist yet. */
  readonly provisions: boolean
  /** Entity ids of the only providers of a federation that may state groups; absent for a single provider. */
  readonly issuers?: ReadonlySet<string> | undefined
}

/** The attributes that the rules read. */
export function attributesUsed(rules: AttributeRules | undefined): readonly string[] {
  if (!rules) return []
  const { required, map, groups } = rules
  return [...required.keys(), ...map.values(), ...(groups ? [groups.attribute] : [])]
}

/** Compiling takes longer than matching. The patterns come from the settings, so they are few. */
const patterns = new Map<string, Pattern>()

function compile(pattern: string): Pattern {
  const compiled = patterns.get(pattern) ?? compilePattern(pattern)
  patterns.set(pattern, compiled)
  return compiled
}

/** @throws {SsoRefused} `required-claim` */
export function requireValues(attributes: Attributes, { required }: Pick<AttributeRules, 'required'>): void {
  for (const [name, pattern] of required) {
    const values = valuesOf(attributes, name)
    const compiled = compile(pattern)
    if (values.some(value => compiled.matches(value))) continue
    const received = values.length === 0 ? 'none' : values.join(', ')
    throw new SsoRefused({ check: 'required-claim', expected: `${name}: ${pattern}`, received, missing: name })
  }
}

/** Values that a provider states for a user, each in the form in which it is stored. An absent member is not stated. */
interface StatedProfile {
  readonly name?: string
  readonly email?: string
  readonly language?: string
  readonly properties: Readonly<Record<string, string>>
}

const MAX_NAME = 255
const MAX_EMAIL = 254
const MAX_PROPERTY = 4096
/** Without characters that an address in metadata, an IRI, cannot have. */
const EMAIL = /^[^\s@<>"{}|\\^`%#]+@[^\s@<>"{}|\\^`%#]+$/

/** A value that cannot be stored is treated as not stated: a strange address must not keep its owner out. */
export function readProfile(attributes: Attributes, { map }: Pick<AttributeRules, 'map'>): StatedProfile {
  const firstOf = (target: string): string | undefined => {
    const attribute = map.get(target)
    return attribute === undefined ? undefined : valuesOf(attributes, attribute)[0]
  }
  const stated = (target: string, isValid: (text: string) => boolean): string | undefined => {
    const value = storable(firstOf(target))
    return value !== undefined && isValid(value) ? value : undefined
  }
  const properties = [...map].flatMap(([target, attribute]) => {
    if (!target.startsWith(PROPERTY)) return []
    const value = storable(valuesOf(attributes, attribute).join(', '))
    return value === undefined || value.length > MAX_PROPERTY ? [] : [[target.slice(PROPERTY.length), value] as const]
  })
  const name = stated('name', text => text.length <= MAX_NAME)
  const email = stated('email', text => text.length <= MAX_EMAIL && EMAIL.test(text))
  // A list of languages by preference (RFC 2798) begins with the most preferred.
  const language = firstOf('language')?.split(/[,;]/)[0]?.trim()
  return {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(language !== undefined && isLanguageTag(language) ? { language } : {}),
    properties: Object.fromEntries(properties),
  }
}

const PROPERTY = 'property.'

/** Without white space around it; `undefined` for a text that is empty or has control characters. */
function storable(text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  return !trimmed || /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(trimmed) ? undefined : trimmed
}

/** The groups that a provider wants a user to be in. */
interface WantedGroups {
  /** Normalised, each once; all begin with the prefix. */
  readonly names: ReadonlySet<string>
  readonly isAdmin: boolean
  /** Values that name no group that the provider may decide about. */
  readonly unusable: readonly string[]
}

/**
 * The names of groups in the values of the groups attribute: the value with the prefix in front, unless it begins with it already. A
 * value that differs from a name in more than case and outer blanks is unusable: where users can name groups at the provider, a group
 * with an invisible or a wide letter must not count as the group that it resembles.
 * @throws {SsoRefused} `groups-overage` when the provider sends a reference instead of the values
 */
export function readGroups(attributes: Attributes, rules: GroupRules): WantedGroups {
  const { attribute, prefix, adminValue } = rules
  requireNoReference(attributes, attribute)
  const values = valuesOf(attributes, attribute)
  const names = new Set<string>()
  const unusable: string[] = []
  for (const value of values) {
    const name = prefix === undefined ? undefined : groupName(value, prefix)
    if (name !== undefined) names.add(name)
    else if (value !== adminValue) unusable.push(value)
  }
  return { names, isAdmin: adminValue !== undefined && values.includes(adminValue), unusable }
}

function groupName(value: string, prefix: string): string | undefined {
  const plain = plainNameOf(value)
  if (plain === undefined || plain === '' || plain === prefix) return undefined
  const name = plain.startsWith(prefix) ? plain : prefix + plain
  try {
    return requireName(name) === name ? name : undefined
  } catch (error) {
    if (error instanceof InvalidInput) return undefined
    throw error
  }
}

/** With too many groups, some providers send where to ask for them (OpenID Connect Core 5.6.2): no groups would be wrong. */
function requireNoReference(attributes: Attributes, attribute: string): void {
  const references = valueAt(attributes, '_claim_names')
  const isReference = typeof references === 'object' && references !== null && Object.hasOwn(references, attribute)
  if (!isReference || valueAt(attributes, attribute) !== undefined) return
  throw refused('groups-overage', `the claim ${attribute}`, 'a reference to it')
}

/**
 * The normal form (D1.7) of the name of a user or group that a provider states; `undefined` if the name differs from it in more than case
 * and separate accents, as macOS writes them. At a provider, two users can have names that look the same, one with an invisible or a wide
 * letter; these users must not be confused. For protocols with indented messages, the blanks around a name are removed before.
 */
export function plainNameOf(stated: string): string | undefined {
  const name = normaliseName(stated)
  const composed = stated.normalize('NFC')
  // Some signs, such as the Kelvin sign, turn into a plain letter in each normal form and in lower case.
  const hasSign = [...stated].some(character => character.normalize('NFC') !== character)
  return !hasSign && composed.normalize('NFKC') === composed && composed.toLowerCase() === name ? name : undefined
}

const MAX_SHOWN = 300

/** A name for administrators, who could not see how it differs from another one. */
export const showName = (name: string): string =>
  Array.from(name.slice(0, MAX_SHOWN))
    .map(sign => (/[\x20-\x7e]/.test(sign) ? sign : `<U+${sign.codePointAt(0)?.toString(16).toUpperCase()}>`))
    .join('')
