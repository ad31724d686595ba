import { createHash, sign } from 'node:crypto'
import {
  DSIG,
  DSIG_MORE,
  ENVELOPED,
  EXCLUSIVE,
  type IdpKey,
  keyNamed,
  type Signing,
  signElement,
  XENC,
} from './saml-idp.ts'

const MD = 'urn:oasis:names:tc:SAML:2.0:metadata'
const SAML = 'urn:oasis:names:tc:SAML:2.0'

/** One identity provider of a federation. */
export interface EntityShape {
  readonly entityId?: string
  readonly key?: IdpKey
  readonly names?: Readonly<Record<string, string>>
  readonly keywords?: string
  readonly scopes?: readonly string[]
  readonly patterns?: readonly string[]
  readonly categories?: readonly string[]
  readonly assurance?: readonly string[]
  readonly sso?: string
  /** Where messages of single logout go. */
  readonly logout?: { readonly redirect?: string; readonly post?: string; readonly responses?: string }
  /** More attributes of EntityDescriptor. */
  readonly attributes?: string
  /** Put into the Extensions of the role. */
  readonly more?: string
}

const attribute = (name: string, values: readonly string[]): string =>
  values.length === 0
    ? ''
    : `<saml:Attribute xmlns:saml="${SAML}:assertion" Name="${name}" NameFormat="${SAML}:attrname-format:uri">${values.map(value => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`

/** An EntityDescriptor that uses the prefix `md` of its parent. In canonical form, so that large documents can be signed as text. */
export function entityXml(shape: EntityShape = {}): string {
  const {
    entityId = 'https://idp.uni.example/idp',
    key = keyNamed('idp'),
    names = { en: 'University of Example' },
  } = shape
  const { keywords, scopes = ['uni.example'], patterns = [], categories = [], assurance = [], more = '' } = shape
  const { attributes = '', sso = 'https://idp.uni.example/sso', logout = {} } = shape
  const responses = logout.responses === undefined ? '' : ` ResponseLocation="${logout.responses}"`
  const logoutAt = (binding: string, location: string | undefined): string =>
    location === undefined
      ? ''
      : `<md:SingleLogoutService Binding="${SAML}:bindings:${binding}" Location="${location}"${responses}></md:SingleLogoutService>`
  const category = attribute('http://macedir.org/entity-category', categories)
  const certification = attribute(`${SAML}:attribute:assurance-certification`.replace('SAML:2.0', 'SAML'), assurance)
  const entityAttributes =
    category + certification === ''
      ? ''
      : `<md:Extensions><mdattr:EntityAttributes xmlns:mdattr="urn:oasis:names:tc:SAML:metadata:attribute">${category}${certification}</mdattr:EntityAttributes></md:Extensions>`
  const scope = (text: string, regexp: boolean): string =>
    `<shibmd:Scope xmlns:shibmd="urn:mace:shibboleth:metadata:1.0" regexp="${regexp}">${text}</shibmd:Scope>`
  const shown = Object.entries(names).map(
    ([language, name]) => `<mdui:DisplayName xml:lang="${language}">${name}</mdui:DisplayName>`,
  )
  const words = keywords === undefined ? '' : `<mdui:Keywords xml:lang="en">${keywords}</mdui:Keywords>`
  return (
    `<md:EntityDescriptor${attributes} entityID="${entityId}">${entityAttributes}` +
    `<md:IDPSSODescriptor protocolSupportEnumeration="${SAML}:protocol"><md:Extensions>` +
    scopes.map(one => scope(one, false)).join('') +
    patterns.map(one => scope(one, true)).join('') +
    `<mdui:UIInfo xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui">${shown.join('')}${words}</mdui:UIInfo>${more}</md:Extensions>` +
    `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="${DSIG}"><ds:X509Data><ds:X509Certificate>${key.base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>` +
    logoutAt('HTTP-Redirect', logout.redirect) +
    logoutAt('HTTP-POST', logout.post) +
    `<md:SingleSignOnService Binding="${SAML}:bindings:HTTP-Redirect" Location="${sso}"></md:SingleSignOnService>` +
    `</md:IDPSSODescriptor></md:EntityDescriptor>`
  )
}

export const FEDERATION_ID = '_federation'

/** An aggregate without a signature. @param attributes of the root, without its ID */
export const aggregateXml = (entities: readonly string[], attributes = ' validUntil="2026-12-21T10:00:00Z"'): string =>
  `<md:EntitiesDescriptor xmlns:md="${MD}" ID="${FEDERATION_ID}"${attributes}>${entities.join('')}</md:EntitiesDescriptor>`

/** A single entity as a metadata query service answers with. */
export const singleXml = (shape: EntityShape = {}, attributes = ' validUntil="2026-12-21T10:00:00Z"'): string =>
  entityXml(shape).replace(
    '<md:EntityDescriptor',
    `<md:EntityDescriptor xmlns:md="${MD}" ID="${FEDERATION_ID}"${attributes}`,
  )

/** Signed by the federation, whose key is that of `other`. */
export const signFederation = (xml: string, signing: Signing = {}): string =>
  signElement(xml, FEDERATION_ID, { key: keyNamed('other'), ...signing })

/** How a large aggregate is made. */
export interface LargeAggregate {
  readonly entities: number
  /** Bytes of the whole, about. */
  readonly bytes: number
}

/**
 * A signed aggregate, piece by piece: its entities are in canonical form already, so that nothing has to hold it as a whole. They are made
 * twice, since the signature stands at the beginning.
 */
export function* largeAggregate({ entities, bytes }: LargeAggregate): Generator<string> {
  const one = entityXml(numbered(0)).length
  const filler = 'x'.repeat(Math.max(0, Math.floor(bytes / entities) - one - 120))
  const more = `<mdui:Logo xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui" height="16" width="16">${filler}</mdui:Logo>`
  const content = function* (): Generator<string> {
    for (let at = 0; at < entities; at++) yield entityXml({ ...numbered(at), more })
  }
  const root = `<md:EntitiesDescriptor xmlns:md="${MD}" ID="${FEDERATION_ID}" validUntil="2026-12-21T10:00:00Z">`
  const hash = createHash('sha256').update(root)
  for (const text of content()) hash.update(text)
  hash.update('</md:EntitiesDescriptor>')
  const info =
    `<ds:SignedInfo xmlns:ds="${DSIG}"><ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${DSIG_MORE}rsa-sha256"></ds:SignatureMethod><ds:Reference URI="#${FEDERATION_ID}">` +
    `<ds:Transforms><ds:Transform Algorithm="${ENVELOPED}"></ds:Transform><ds:Transform Algorithm="${EXCLUSIVE}"></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${XENC}sha256"></ds:DigestMethod><ds:DigestValue>${hash.digest('base64')}</ds:DigestValue></ds:Reference></ds:SignedInfo>`
  const value = sign('sha256', Buffer.from(info), keyNamed('other').privateKey).toString('base64')
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<!-- A federation -->\n${root}`
  yield `<ds:Signature xmlns:ds="${DSIG}">${info}<ds:SignatureValue>${value}</ds:SignatureValue></ds:Signature>`
  yield* content()
  yield '</md:EntitiesDescriptor>'
}

const numbered = (at: number): EntityShape => ({
  entityId: `https://idp${at}.example/idp`,
  names: { en: `University ${at}`, de: `Universität ${at}`, sv: `Universitetet ${at}` },
  scopes: [`u${at}.example`],
  sso: `https://idp${at}.example/sso`,
})
