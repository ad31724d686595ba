import { deflateRawSync } from 'node:zlib'
import { SignedXml } from 'xml-crypto'
import type { Milliseconds } from '../../base/units.ts'
import type { AuthRedirect } from '../identity-provider.ts'
import { escapeXml } from '../xml.ts'
import { libraryScheme, requestScheme, signText } from './request-signature.ts'
import { EMAIL_FORMAT, ENVELOPED, EXCLUSIVE_C14N, POST_BINDING, SAML, SAMLP } from './names.ts'

/** A key pair of this service, PEM. */
export interface KeyPair {
  readonly key: string
  readonly certificate: string
}

export interface AuthnRequest {
  readonly id: string
  readonly issued: Milliseconds
  /** Where the provider takes requests. */
  readonly destination: string
  readonly acsUrl: string
  /** Relying-party id of this service. */
  readonly issuer: string
}

const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256'

/** AuthnRequest (SAML Core 3.4.1): NameID format e-mail, response by HTTP-POST to our ACS. */
const authnRequestXml = ({ id, issued, destination, acsUrl, issuer }: AuthnRequest): string =>
  `<samlp:AuthnRequest xmlns:samlp="${SAMLP}" xmlns:saml="${SAML}" ID="${escapeXml(id)}" Version="2.0"` +
  ` IssueInstant="${new Date(issued).toISOString()}" Destination="${escapeXml(destination)}"` +
  ` ProtocolBinding="${POST_BINDING}" AssertionConsumerServiceURL="${escapeXml(acsUrl)}">` +
  `<saml:Issuer>${escapeXml(issuer)}</saml:Issuer>` +
  `<samlp:NameIDPolicy Format="${EMAIL_FORMAT}" AllowCreate="true"/></samlp:AuthnRequest>`

/** By redirect: deflated into the query, which is what a signature covers (SAML bindings 3.4.4). */
export function redirectRequest(request: AuthnRequest, relayState: string, signing: KeyPair | undefined): AuthRedirect {
  const deflated = deflateRawSync(authnRequestXml(request)).toString('base64')
  const query = new URLSearchParams({ SAMLRequest: deflated, RelayState: relayState })
  if (signing) {
    query.set('SigAlg', requestScheme(signing.key).algorithm)
    query.set('Signature', signText(query.toString(), signing.key))
  }
  const url = new URL(request.destination)
  // The destination may have a query of its own, which the signature does not cover.
  return { kind: 'redirect', url: `${url.href}${url.search === '' ? '?' : '&'}${query}` }
}

/** By a form that the browser posts (SAML bindings 3.5). */
export function formRequest(request: AuthnRequest, relayState: string, signing: KeyPair | undefined): AuthRedirect {
  const xml = authnRequestXml(request)
  const signed = signing ? sign(xml, signing) : xml
  const fields = { SAMLRequest: Buffer.from(signed).toString('base64'), RelayState: relayState }
  return { kind: 'form', action: request.destination, fields }
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
