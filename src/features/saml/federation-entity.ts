import type { Milliseconds } from '../../base/units.ts'
import { messageLimits, parseXml } from '../sso/xml.ts'
import {
  attributeOf,
  childElements,
  childrenNamed,
  descendantsNamed,
  textOf,
  type XmlElement,
} from '../sso/xml-element.ts'
import { type IdpMetadata, readProvider } from './metadata.ts'
import { MD, MDATTR, MDUI, SAML, SHIBMD } from './names.ts'

/** The data of one identity provider of a federation that this service stores. */
export interface FederationEntity {
  readonly entityId: string
  readonly idp: IdpMetadata
  /** Display names by language tag; empty for one without a language. */
  readonly names: Readonly<Record<string, string>>
  /** Other words by which people search: keywords and domains. */
  readonly keywords: string
  /** Scopes that it may use, in lower case (`shibmd:Scope`). */
  readonly scopes: readonly string[]
  /** Regular expressions for such scopes, as they are published. */
  readonly scopePatterns: readonly string[]
  /** Values of its entity attributes: entity categories, supported categories, and assurance certifications. */
  readonly categories: readonly string[]
}

/** Providers with this category ask not to be offered to users. */
export const HIDE_FROM_DISCOVERY = 'http://refeds.org/category/hide-from-discovery'

const CATEGORY_ATTRIBUTES = [
  'http://macedir.org/entity-category',
  'http://macedir.org/entity-category-support',
  'urn:oasis:names:tc:SAML:attribute:assurance-certification',
]
const MAX_NAME = 200
const MAX_KEYWORDS = 500
const MAX_LIST = 200

/**
 * @param text an EntityDescriptor in canonical form, from a document whose signature is verified separately
 * @throws {MetadataRefused} @throws {XmlRefused} when it cannot be used
 */
export function readEntity(text: string, now: Milliseconds): FederationEntity {
  const entity = parseXml(text, messageLimits)
  const idp = readProvider(entity, now)
  const role = childrenNamed(entity, MD, 'IDPSSODescriptor')
  const extensions = [entity, ...role].flatMap(element => childrenNamed(element, MD, 'Extensions'))
  const scopes = extensions.flatMap(one => childrenNamed(one, SHIBMD, 'Scope')).slice(0, MAX_LIST)
  const isPattern = (scope: XmlElement): boolean => ['true', '1'].includes(attributeOf(scope, 'regexp') ?? '')
  return {
    entityId: idp.entityId,
    idp,
    names: namesOf(entity, extensions),
    keywords: keywordsOf(extensions),
    scopes: scopes
      .filter(scope => !isPattern(scope))
      .map(trimmed)
      .filter(scope => scope !== '')
      .map(scope => scope.toLowerCase()),
    scopePatterns: scopes
      .filter(isPattern)
      .map(trimmed)
      .filter(scope => scope !== ''),
    categories: categoriesOf(extensions),
  }
}

const trimmed = (element: XmlElement): string => textOf(element)?.trim() ?? ''

/** The names in `mdui:DisplayName`; without any, the names of the organisation. */
function namesOf(entity: XmlElement, extensions: readonly XmlElement[]): Record<string, string> {
  const displayed = extensions.flatMap(one => childrenNamed(one, MDUI, 'UIInfo')).flatMap(infoNames)
  const organisation = childrenNamed(entity, MD, 'Organization').flatMap(one =>
    childrenNamed(one, MD, 'OrganizationDisplayName'),
  )
  const elements = displayed.length > 0 ? displayed : organisation
  return Object.fromEntries(
    elements
      .map(element => [languageOf(element), trimmed(element).slice(0, MAX_NAME).toWellFormed()] as const)
      .filter(([language, name]) => name !== '' && /^[a-z\d-]{0,35}$/.test(language)),
  )
}

const infoNames = (info: XmlElement): XmlElement[] => childrenNamed(info, MDUI, 'DisplayName')

const languageOf = (element: XmlElement): string => (attributeOf(element, 'xml:lang') ?? '').toLowerCase()

function keywordsOf(extensions: readonly XmlElement[]): string {
  const elements = extensions.flatMap(childElements).flatMap(one => {
    if (one.uri !== MDUI) return []
    if (one.local === 'UIInfo') return childrenNamed(one, MDUI, 'Keywords')
    return one.local === 'DiscoHints' ? childrenNamed(one, MDUI, 'DomainHint') : []
  })
  return elements.map(trimmed).join(' ').slice(0, MAX_KEYWORDS).toWellFormed()
}

function categoriesOf(extensions: readonly XmlElement[]): string[] {
  const attributes = extensions
    .flatMap(one => childrenNamed(one, MDATTR, 'EntityAttributes'))
    .flatMap(one => childrenNamed(one, SAML, 'Attribute'))
    .filter(attribute => CATEGORY_ATTRIBUTES.includes(attributeOf(attribute, 'Name') ?? ''))
  const values = attributes.flatMap(attribute => descendantsNamed(attribute, SAML, 'AttributeValue')).map(trimmed)
  return [...new Set(values.filter(value => value !== ''))].slice(0, MAX_LIST)
}
