import { deflateRawSync } from 'node:zlib'
import { SignedXml } from 'xml-crypto'
import type { AuthRedirect } from '../identity-provider.ts'
import { ENVELOPED, EXCLUSIVE_C14N } from './names.ts'
import { libraryScheme, requestScheme, signText } from './request-signature.ts'

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

/** By redirect: deflated into the query, which is what a signature covers (SAML bindings 3.4.4). */
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
