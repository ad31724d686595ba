import { deflateRawSync } from 'node:zlib'
import { SignedXml } from 'xml-crypto'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import { ENVELOPED, EXCLUSIVE_C14N, EMAIL_FORMAT, POST_BINDING, SAML, SAMLP } from './names.ts'
import { createPrivateKey, createPublicKey, sign as signBytes, verify } from 'node:crypto'
import type { Milliseconds } from '../../base/units.ts'
import { escapeXml } from '../sso/xml.ts'

/** A key pair of this service, PEM. */
export interface KeyPair {
  readonly key: string
  readonly certificate: string
}

/** A message that the browser takes to the provider. */
interface OutgoingMessage {
  /** Name of the parameter or form field. */
  readonly kind: 'SAMLRequest' | 'SAMLResponse'
  readonly xml: string
  /** Where the provider takes it. */
  readonly destination: string
  readonly relayState: string | undefined
  /** Signs the message; absent: it is not signed. */
  readonly signing: KeyPair | undefined
}

const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256'

/** By redirect: the message is deflated into the query, and a signature covers the query (SAML bindings 3.4.4). */
export function byRedirect({ kind, xml, destination, relayState, signing }: OutgoingMessage): AuthRedirect {
  const query = new URLSearchParams({ [kind]: deflateRawSync(xml).toString('base64') })
  if (relayState !== undefined) query.set('RelayState', relayState)
  if (signing) {
    query.set('SigAlg', requestScheme(signing.key).algorithm)
    query.set('Signature', signText(query.toString(), signing.key))
  }
  const url = new URL(destination)
  // The destination may have a query of its own, which the signature does not cover.
  return { kind: 'redirect', url: `${url.href}${url.search === '' ? '?' : '&'}${query}` }
}

/** By a form that the browser posts (SAML bindings 3.5). */
export function byForm({ kind, xml, destination, relayState, signing }: OutgoingMessage): AuthRedirect {
  const encoded = Buffer.from(signing ? sign(xml, signing) : xml).toString('base64')
  const fields = { [kind]: encoded, ...(relayState === undefined ? {} : { RelayState: relayState }) }
  return { kind: 'form', action: destination, fields }
}

/** The schema requires the signature directly after the Issuer. */
function sign(xml: string, { key, certificate }: KeyPair): string {
  const { algorithm: signatureAlgorithm } = requestScheme(key)
  const options = { privateKey: key, publicCert: certificate, canonicalizationAlgorithm: EXCLUSIVE_C14N }
  const signer = new SignedXml({ ...options, signatureAlgorithm })
  signer.SignatureAlgorithms[signatureAlgorithm as never] = libraryScheme(key)
  const transforms = [ENVELOPED, EXCLUSIVE_C14N]
  signer.addReference({ xpath: '/*', transforms, digestAlgorithm: SHA256 })
  signer.computeSignature(xml, {
    location: { reference: "/*/*[local-name(.)='Issuer']", action: 'after' },
    prefix: 'ds',
  })
  return signer.getSignedXml()
}

/** How requests are signed with one kind of key (RFC 9231). */
interface RequestScheme {
  readonly algorithm: string
  readonly hash: 'sha256' | 'sha384' | 'sha512'
}

const DSIG_MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
const MIN_RSA_BITS = 2048

/** Each curve with the hash of its strength. */
const schemesOfCurves: ReadonlyMap<string, RequestScheme> = new Map([
  ['prime256v1', { algorithm: `${DSIG_MORE}ecdsa-sha256`, hash: 'sha256' }],
  ['secp384r1', { algorithm: `${DSIG_MORE}ecdsa-sha384`, hash: 'sha384' }],
  ['secp521r1', { algorithm: `${DSIG_MORE}ecdsa-sha512`, hash: 'sha512' }],
])

/** The algorithm that fits the key. @param pem private key. @throws {TypeError} for a key that providers do not accept */
export function requestScheme(pem: string): RequestScheme {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPrivateKey(pem)
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS) {
    return { algorithm: `${DSIG_MORE}rsa-sha256`, hash: 'sha256' }
  }
  const scheme = type === 'ec' ? schemesOfCurves.get(details?.namedCurve ?? '') : undefined
  if (scheme) return scheme
  const found = [type, details?.modulusLength ?? details?.namedCurve].filter(part => part !== undefined).join(' ')
  throw new TypeError(
    `requests are signed with RSA of 2048 bits or more, or on P-256, P-384 or P-521; this key is ${found}`,
  )
}

/** The signature in base64. An ECDSA signature is two numbers side by side, as in XML Signature. @param pem private key */
export function signText(text: string, pem: string): string {
  const { hash } = requestScheme(pem)
  return signBytes(hash, Buffer.from(text), { key: createPrivateKey(pem), dsaEncoding: 'ieee-p1363' }).toString(
    'base64',
  )
}

/** The key's algorithm as the XML signature library wants it. */
const libraryScheme = (pem: string) =>
  class {
    getAlgorithmName(): string {
      return requestScheme(pem).algorithm
    }

    getSignature(signedInfo: unknown): string {
      return signText(String(signedInfo), pem)
    }

    verifySignature(material: string, _key: unknown, value: string): boolean {
      const key = { key: createPublicKey(pem), dsaEncoding: 'ieee-p1363' } as const
      return verify(requestScheme(pem).hash, Buffer.from(material), key, Buffer.from(value, 'base64'))
    }
  }

interface AuthnRequest {
  readonly id: string
  readonly issued: Milliseconds
  /** Where the provider takes requests. */
  readonly destination: string
  readonly acsUrl: string
  /** Relying-party id of this service. */
  readonly issuer: string
  /** How the user is to authenticate (SAML Core 3.3.2.2.1): AuthnContextClassRef, the preferred one first; empty: in any way. */
  readonly authnContext: readonly string[]
  /** The user name is in an attribute, so any NameID will do: most providers of a federation have no e-mail address there. */
  readonly anyNameId: boolean
}

/** AuthnRequest (SAML Core 3.4.1): NameID format e-mail where the name is there, response by HTTP-POST to our ACS. */
export const authnRequestXml = (request: AuthnRequest): string =>
  `<samlp:AuthnRequest xmlns:samlp="${SAMLP}" xmlns:saml="${SAML}" ID="${escapeXml(request.id)}" Version="2.0"` +
  ` IssueInstant="${new Date(request.issued).toISOString()}" Destination="${escapeXml(request.destination)}"` +
  ` ProtocolBinding="${POST_BINDING}" AssertionConsumerServiceURL="${escapeXml(request.acsUrl)}">` +
  `<saml:Issuer>${escapeXml(request.issuer)}</saml:Issuer>` +
  `<samlp:NameIDPolicy${request.anyNameId ? '' : ` Format="${EMAIL_FORMAT}"`} AllowCreate="true"/>` +
  `${contextXml(request.authnContext)}</samlp:AuthnRequest>`

function contextXml(classes: readonly string[]): string {
  if (classes.length === 0) return ''
  const requested = classes.map(one => `<saml:AuthnContextClassRef>${escapeXml(one)}</saml:AuthnContextClassRef>`)
  return `<samlp:RequestedAuthnContext Comparison="exact">${requested.join('')}</samlp:RequestedAuthnContext>`
}
