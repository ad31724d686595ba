/**
 * What a provider states about a user beside the name: claims of OpenID Connect, attributes of SAML and CAS. A member is a value or a
 * list of values; claims can be objects.
 */
export type Attributes = Readonly<Record<string, unknown>>

/** A user in more groups than this has too many for any response that a provider can send here. */
export const MAX_VALUES = 10_000

/** The same attribute as federations name it (eduPerson, inetOrgPerson, Active Directory), by its short name. */
const oids: Readonly<Record<string, string>> = {
  cn: '2.5.4.3',
  displayName: '2.16.840.1.113730.3.1.241',
  eduPersonAffiliation: '1.3.6.1.4.1.5923.1.1.1.1',
  eduPersonAssurance: '1.3.6.1.4.1.5923.1.1.1.11',
  eduPersonEntitlement: '1.3.6.1.4.1.5923.1.1.1.7',
  eduPersonPrimaryAffiliation: '1.3.6.1.4.1.5923.1.1.1.5',
  eduPersonPrincipalName: '1.3.6.1.4.1.5923.1.1.1.6',
  eduPersonScopedAffiliation: '1.3.6.1.4.1.5923.1.1.1.9',
  givenName: '2.5.4.42',
  isMemberOf: '1.3.6.1.4.1.5923.1.5.1.1',
  mail: '0.9.2342.19200300.100.1.3',
  memberOf: '1.2.840.113556.1.2.102',
  o: '2.5.4.10',
  ou: '2.5.4.11',
  preferredLanguage: '2.16.840.1.113730.3.1.39',
  schacHomeOrganization: '1.3.6.1.4.1.25178.1.2.9',
  sn: '2.5.4.4',
  telephoneNumber: '2.5.4.20',
  uid: '0.9.2342.19200300.100.1.1',
}

/**
 * The value as the provider stated it; `undefined` if it did not. If no attribute has the name, dots in it separate the members of a path:
 * `realm_access.roles`.
 */
export function valueAt(attributes: Attributes, name: string): unknown {
  if (Object.hasOwn(attributes, name)) return attributes[name]
  const oid = Object.hasOwn(oids, name) ? `urn:oid:${oids[name] ?? ''}` : undefined
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
