import { compilePattern } from '../../base/patterns.ts'
import { type Attributes, valuesOf } from '../attributes.ts'
import { refused } from '../refusal.ts'
import type { FederationEntity } from './federation-entity.ts'

/** Attributes whose values end with the scope of the organisation that vouches for them, under all names in use (eduPerson, SAML subject ids). */
const scopedAttributes: readonly string[] = [
  ...[
    ['eduPersonPrincipalName', '1.3.6.1.4.1.5923.1.1.1.6'],
    ['eduPersonScopedAffiliation', '1.3.6.1.4.1.5923.1.1.1.9'],
    ['eduPersonUniqueId', '1.3.6.1.4.1.5923.1.1.1.13'],
  ].flatMap(([name = '', oid = '']) => [name, `urn:oid:${oid}`, `urn:mace:dir:attribute-def:${name}`]),
  'urn:oasis:names:tc:SAML:attribute:subject-id',
  'urn:oasis:names:tc:SAML:attribute:pairwise-id',
]

type Scopes = Pick<FederationEntity, 'entityId' | 'scopes' | 'scopePatterns'>

/**
 * Each provider of a federation vouches for its own organisation only: the scopes that its metadata publish. Without this check any of
 * thousands could sign in the users of all others.
 * @throws {SsoRefused} `scope` for a user name or an attribute with another scope
 */
export function requireScopes(name: string, attributes: Attributes, scopes: Scopes): void {
  requireScope('the user name', name, scopes)
  for (const attribute of scopedAttributes) {
    if (!Object.hasOwn(attributes, attribute)) continue
    for (const value of valuesOf(attributes, attribute)) requireScope(attribute, value, scopes)
  }
}

function requireScope(what: string, value: string, { entityId, scopes, scopePatterns }: Scopes): void {
  const at = value.lastIndexOf('@')
  const scope = value.slice(at + 1).toLowerCase()
  // A second sign would let two readers see two scopes.
  const isPlain = at > 0 && value.indexOf('@') === at && scope !== ''
  if (isPlain && (scopes.includes(scope) || scopePatterns.some(pattern => matches(pattern, scope)))) return
  const published = [...scopes, ...scopePatterns].slice(0, 10).join(', ')
  throw refused('scope', `a scope of ${entityId}: ${published || 'it publishes none'}`, `${value} in ${what}`)
}

/** Whole, in time that grows with the length only. A pattern that cannot be read matches nothing. */
function matches(pattern: string, scope: string): boolean {
  try {
    return compilePattern(pattern).matches(scope)
  } catch {
    return false
  }
}
