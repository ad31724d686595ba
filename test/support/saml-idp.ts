import assert from 'node:assert/strict'
import { constants, createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { DOMParser } from '@xmldom/xmldom'
import { ExclusiveCanonicalization, ExclusiveCanonicalizationWithComments } from 'xml-crypto'
import type { ExpectedResponse } from '../../src/features/saml/response.ts'
import { escapeXml } from '../../src/features/sso/xml.ts'
import { certificateOf } from './self-signed.ts'

export const NOW = Date.UTC(2026, 10, 21, 10)
export const IDP = 'https://idp.example/metadata?tenant=1&x=2'
export const ACS = 'https://store.example/store/auth/saml?idp=a'
export const SP = 'urn:the-service'
export const REQUEST = '_request'
export const NAME = 'anna@a.example'

export const DSIG = 'http://www.w3.org/2000/09/xmldsig#'
export const DSIG_MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
export const XENC = 'http://www.w3.org/2001/04/xmlenc#'
export const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const WITH_COMMENTS = `${EXCLUSIVE}WithComments`
export const ENVELOPED = `${DSIG}enveloped-signature`
const SAML = 'urn:oasis:names:tc:SAML:2.0'

export interface IdpKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** PEM. */
  readonly pem: string
  readonly certificate: string
  /** The certificate as XML holds it. */
  readonly base64: string
}

function makeKey({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }, expires?: string): IdpKey {
  const certificate = certificateOf({ publicKey, privateKey }, expires)
  return {
    privateKey,
    publicKey,
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    certificate,
    base64: certificate.replaceAll(/-----[A-Z ]+-----|\s/g, ''),
  }
}

export const newRsaKey = (bits = 2048, expires?: string): IdpKey =>
  makeKey(generateKeyPairSync('rsa', { modulusLength: bits }), expires)
export const newEcKey = (namedCurve: string): IdpKey => makeKey(generateKeyPairSync('ec', { namedCurve }))

const made = new Map<string, IdpKey>()

/** Keys of this process, each made when it is first asked for. */
export function keyNamed(name: 'idp' | 'other' | 'attacker' | 'service' | 'P-256' | 'P-384'): IdpKey {
  const key = made.get(name) ?? (name.startsWith('P-') ? newEcKey(name) : newRsaKey())
  made.set(name, key)
  return key
}

/** What a response is about. */
export interface About {
  readonly issuer?: string
  readonly acsUrl?: string
  readonly audience?: string
  readonly requestId?: string | undefined
  readonly name?: string
  readonly now?: number
  readonly responseId?: string
  readonly assertionId?: string
}

const iso = (time: number): string => new Date(time).toISOString()

/** A response without any signature, as text on lines of its own, easy to edit. */
export function buildResponse(about: About = {}): string {
  const { issuer = IDP, acsUrl = ACS, audience = SP, name = NAME, now = NOW } = about
  const { responseId = '_response', assertionId = '_assertion' } = about
  const requestId = 'requestId' in about ? about.requestId : REQUEST
  const inResponseTo = requestId === undefined ? '' : ` InResponseTo="${escapeXml(requestId)}"`
  const [start, end] = [iso(now - 30_000), iso(now + 300_000)]
  return `<samlp:Response xmlns:samlp="${SAML}:protocol" xmlns:saml="${SAML}:assertion" ID="${responseId}" Version="2.0" IssueInstant="${iso(now)}" Destination="${escapeXml(acsUrl)}"${inResponseTo}>
<saml:Issuer>${escapeXml(issuer)}</saml:Issuer>
<samlp:Status><samlp:StatusCode Value="${SAML}:status:Success"/></samlp:Status>
<saml:Assertion ID="${assertionId}" Version="2.0" IssueInstant="${iso(now)}">
<saml:Issuer>${escapeXml(issuer)}</saml:Issuer>
<saml:Subject>
<saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${escapeXml(name)}</saml:NameID>
<saml:SubjectConfirmation Method="${SAML}:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${end}" Recipient="${escapeXml(acsUrl)}"${inResponseTo}/></saml:SubjectConfirmation>
</saml:Subject>
<saml:Conditions NotBefore="${start}" NotOnOrAfter="${end}"><saml:AudienceRestriction><saml:Audience>${escapeXml(audience)}</saml:Audience></saml:AudienceRestriction></saml:Conditions>
<saml:AuthnStatement AuthnInstant="${start}" SessionIndex="_s"><saml:AuthnContext><saml:AuthnContextClassRef>${SAML}:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>
<saml:AttributeStatement><saml:Attribute Name="mail"><saml:AttributeValue>${escapeXml(name)}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>
</saml:Assertion>
</samlp:Response>`
}

export interface Signing {
  readonly key?: IdpKey
  readonly method?: string
  readonly digest?: string
  /** Algorithms, as Transform elements name them. */
  readonly transforms?: readonly string[]
  /** Prefixes of InclusiveNamespaces in the last transform. */
  readonly inclusive?: readonly string[]
  readonly uri?: string
  /** Content of KeyInfo; `undefined` names the certificate. */
  readonly keyInfo?: string
  /** Changes SignedInfo before it is signed: what an issuer could really have signed. */
  readonly signedInfo?: (xml: string) => string
  /** How base64 values are written. */
  readonly wrap?: (base64: string) => string
  readonly prefix?: string
  /** Name of the attribute that holds the id. */
  readonly idAttribute?: string
}

/** Signs the element with this id, as its issuer would; the signature stands after its Issuer. */
export function signElement(xml: string, id: string, signing: Signing = {}): string {
  const { key = keyNamed('idp'), method = `${DSIG_MORE}rsa-sha256`, digest = `${XENC}sha256` } = signing
  const { wrap = text => text, prefix: ds = 'ds', uri = `#${id}`, keyInfo, signedInfo = text => text } = signing
  const { transforms = [ENVELOPED, EXCLUSIVE], inclusive = [], idAttribute = 'ID' } = signing
  const digestValue = createHash(hashOf(digest))
    .update(canonical(xml, id, { inclusive, idAttribute, hasComments: transforms.at(-1) === WITH_COMMENTS }))
    .digest('base64')
  const list = `<InclusiveNamespaces xmlns="${EXCLUSIVE}" PrefixList="${inclusive.join(' ')}"></InclusiveNamespaces>`
  const steps = transforms.map((algorithm, at) => {
    const content = inclusive.length > 0 && at === transforms.length - 1 ? list : ''
    return `<${ds}:Transform Algorithm="${algorithm}">${content}</${ds}:Transform>`
  })
  // Written in canonical form, so that its text is what is signed.
  const info = signedInfo(
    `<${ds}:SignedInfo xmlns:${ds}="${DSIG}"><${ds}:CanonicalizationMethod Algorithm="${EXCLUSIVE}"></${ds}:CanonicalizationMethod>` +
      `<${ds}:SignatureMethod Algorithm="${method}"></${ds}:SignatureMethod><${ds}:Reference URI="${uri}">` +
      `<${ds}:Transforms>${steps.join('')}</${ds}:Transforms><${ds}:DigestMethod Algorithm="${digest}"></${ds}:DigestMethod>` +
      `<${ds}:DigestValue>${wrap(digestValue)}</${ds}:DigestValue></${ds}:Reference></${ds}:SignedInfo>`,
  )
  const value = wrap(signatureValue(info, key, method))
  const named =
    keyInfo ?? `<${ds}:X509Data><${ds}:X509Certificate>${key.base64}</${ds}:X509Certificate></${ds}:X509Data>`
  const signature =
    `<${ds}:Signature xmlns:${ds}="${DSIG}">${info}<${ds}:SignatureValue>${value}</${ds}:SignatureValue>` +
    `${named === '' ? '' : `<${ds}:KeyInfo>${named}</${ds}:KeyInfo>`}</${ds}:Signature>`
  const from = xml.indexOf(`${idAttribute}="${id}"`)
  const head = /^[^]*?<\/[\w:]*Issuer>/.exec(xml.slice(from)) ?? /^[^>]*>/.exec(xml.slice(from))
  const at = from + (head?.[0] ?? '').length
  return xml.slice(0, at) + signature + xml.slice(at)
}

const hashOf = (algorithm: string): string => /sha\d+/.exec(algorithm)?.[0] ?? 'sha256'

function signatureValue(text: string, key: IdpKey, method: string): string {
  if (method.includes('hmac')) return createHmac(hashOf(method), key.pem).update(text).digest('base64')
  const pss = method.includes('MGF1')
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {}
  const ec = method.includes('ecdsa') ? ({ dsaEncoding: 'ieee-p1363' } as const) : {}
  return sign(hashOf(method), Buffer.from(text), { key: key.privateKey, ...pss, ...ec }).toString('base64')
}

interface Canonical {
  readonly inclusive: readonly string[]
  readonly idAttribute: string
  readonly hasComments: boolean
}

function canonical(xml: string, id: string, { inclusive, idAttribute, hasComments }: Canonical): string {
  const document = new DOMParser().parseFromString(xml, 'text/xml')
  const element = Array.from(document.getElementsByTagName('*')).find(one => one.getAttribute(idAttribute) === id)
  assert.ok(element, `no element has ${idAttribute}="${id}"`)
  const ancestorNamespaces: Array<{ prefix: string; namespaceURI: string }> = []
  for (let node: Node | null = element.parentNode; node && node.nodeType === 1; node = node.parentNode) {
    for (const { prefix, localName, value } of Array.from((node as Element).attributes)) {
      if (prefix === 'xmlns') ancestorNamespaces.push({ prefix: localName, namespaceURI: value })
    }
  }
  const options = { inclusiveNamespacesPrefixList: [...inclusive], ancestorNamespaces }
  const algorithm = hasComments ? new ExclusiveCanonicalizationWithComments() : new ExclusiveCanonicalization()
  return algorithm.process(element, options)
}

export type Signed = 'response' | 'assertion' | 'both'

/** Signs what is to be signed; the assertion first, as the response covers its signature. */
export function signResponse(xml: string, what: Signed = 'response', signing: Signing = {}): string {
  const inner = what === 'response' ? xml : signElement(xml, '_assertion', signing)
  return what === 'assertion' ? inner : signElement(inner, '_response', signing)
}

export const encode = (xml: string | Uint8Array): string => Buffer.from(xml).toString('base64')

/** Replaces something that must be there. */
export function edit(xml: string, from: string | RegExp, to: string | ((found: string) => string)): string {
  const edited = xml.replace(from, found => (typeof to === 'string' ? to : to(found)))
  assert.notEqual(edited, xml, `nothing to edit: ${String(from)}`)
  return edited
}

/** The text of the first element of this name to the last end of one. */
export function cut(xml: string, name: string): string {
  const found = new RegExp(`<${name}[ >][^]*</${name}>`).exec(xml)?.[0]
  assert.ok(found !== undefined, `no ${name}`)
  return found
}

/** What this service expects of {@link buildResponse}. */
export const expected = (changes: Partial<ExpectedResponse> = {}): ExpectedResponse => ({
  issuer: IDP,
  audience: SP,
  acsUrl: ACS,
  requestId: REQUEST,
  keys: [keyNamed('idp').pem],
  decryptionKeys: [],
  authnContexts: [],
  now: NOW,
  clockSkew: 60_000,
  ...changes,
})

export interface MetadataShape {
  readonly entityId?: string
  readonly keys?: readonly IdpKey[]
  readonly redirectUrl?: string | undefined
  readonly postUrl?: string | undefined
  /** Where messages of single logout go. */
  readonly logout?: { readonly redirect?: string; readonly post?: string; readonly responses?: string }
  /** More attributes of EntityDescriptor. */
  readonly attributes?: string
  /** Of KeyDescriptor; `undefined` leaves it out. */
  readonly use?: string | undefined
}

/** The metadata of an identity provider. */
export function buildMetadata(shape: MetadataShape = {}): string {
  const { entityId = IDP, keys = [keyNamed('idp')], attributes = '' } = shape
  const urls = { redirectUrl: 'https://idp.example/sso', postUrl: 'https://idp.example/post', ...shape }
  const use = 'use' in shape ? shape.use : 'signing'
  const descriptors = keys.map(
    ({ base64 }) =>
      `<md:KeyDescriptor${use === undefined ? '' : ` use="${use}"`}><ds:KeyInfo xmlns:ds="${DSIG}"><ds:X509Data><ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
  )
  const service = (binding: string, location: string | undefined): string =>
    location === undefined
      ? ''
      : `<md:SingleSignOnService Binding="${SAML}:bindings:${binding}" Location="${escapeXml(location)}"/>`
  const { redirect, post, responses } = shape.logout ?? {}
  const logout = (binding: string, location: string | undefined): string => {
    if (location === undefined) return ''
    const response = responses === undefined ? '' : ` ResponseLocation="${escapeXml(responses)}"`
    return `<md:SingleLogoutService Binding="${SAML}:bindings:${binding}" Location="${escapeXml(location)}"${response}/>`
  }
  return `<?xml version="1.0"?>
<md:EntityDescriptor xmlns:md="${SAML}:metadata" entityID="${escapeXml(entityId)}"${attributes}>
<md:IDPSSODescriptor protocolSupportEnumeration="${SAML}:protocol">${descriptors.join('')}
${logout('HTTP-Redirect', redirect)}${logout('HTTP-POST', post)}${service('HTTP-Redirect', urls.redirectUrl)}${service('HTTP-POST', urls.postUrl)}</md:IDPSSODescriptor>
</md:EntityDescriptor>`
}
