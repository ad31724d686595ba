import assert from 'node:assert/strict'
import { sign, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ExpectedLogout, ReceivedLogout } from '../../src/features/saml/logout-message.ts'
import { escapeXml } from '../../src/features/sso/xml.ts'
import type { Answer } from './http-client.ts'
import {
  DSIG_MORE,
  encode,
  IDP,
  type IdpKey,
  keyNamed,
  NAME,
  NOW,
  REQUEST,
  signElement,
  type Signing,
} from './saml-idp.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const LOGOUT = 'https://store.example/store/auth/saml/logout/a'
const SAML = 'urn:oasis:names:tc:SAML:2.0'
export const SUCCESS = `${SAML}:status:Success`
export const PARTIAL = `${SAML}:status:PartialLogout`

/** What a message of single logout is about. */
export interface AboutLogout {
  readonly id?: string
  readonly issuer?: string
  readonly destination?: string
  readonly now?: number
  readonly name?: string
  readonly sessionIndexes?: readonly string[]
  readonly requestId?: string
  /** The codes of the status, the outer one first. */
  readonly codes?: readonly string[]
}

const head = (name: string, { id = '_logout', destination = LOGOUT, issuer = IDP, now = NOW }: AboutLogout): string =>
  `<samlp:${name} xmlns:samlp="${SAML}:protocol" xmlns:saml="${SAML}:assertion" ID="${id}" Version="2.0" IssueInstant="${new Date(now).toISOString()}" Destination="${escapeXml(destination)}">
<saml:Issuer>${escapeXml(issuer)}</saml:Issuer>
`

/** A LogoutRequest of the provider without a signature. */
export const buildLogoutRequest = (about: AboutLogout = {}): string =>
  `${head('LogoutRequest', about)}<saml:NameID>${escapeXml(about.name ?? NAME)}</saml:NameID>
${(about.sessionIndexes ?? ['_s']).map(index => `<samlp:SessionIndex>${escapeXml(index)}</samlp:SessionIndex>`).join('')}
</samlp:LogoutRequest>`

/** A LogoutResponse of the provider without a signature. */
export function buildLogoutResponse(about: AboutLogout = {}): string {
  const { requestId = REQUEST, codes: [outer = SUCCESS, inner] = [SUCCESS] } = about
  const innerXml = inner === undefined ? '' : `<samlp:StatusCode Value="${inner}"/>`
  return `${head('LogoutResponse', about).replace(' Version', ` InResponseTo="${escapeXml(requestId)}" Version`)}<samlp:Status><samlp:StatusCode Value="${outer}">${innerXml}</samlp:StatusCode></samlp:Status>
</samlp:LogoutResponse>`
}

export type LogoutKind = 'SAMLRequest' | 'SAMLResponse'

/** By POST: the XML with its own signature. */
export const posted = (
  xml: string,
  {
    kind = 'SAMLRequest',
    id = '_logout',
    ...signing
  }: Signing & { readonly kind?: LogoutKind; readonly id?: string } = {},
): ReceivedLogout => ({ binding: 'post', kind, encoded: encode(signElement(xml, id, signing)) })

export interface SignedQuery {
  readonly kind?: LogoutKind
  readonly key?: IdpKey
  readonly algorithm?: string
  readonly relayState?: string | undefined
  /** How values are written in the query. */
  readonly write?: (value: string) => string
  /** How an ECDSA signature is written. */
  readonly der?: true
  /** The message as it is sent, instead of the compressed XML. */
  readonly message?: string
}

/** By redirect: the query that the provider's signature covers (SAML bindings 3.4.4.1). */
export function signedQuery(xml: string, options: SignedQuery = {}): string {
  const { kind = 'SAMLRequest', key = keyNamed('idp'), algorithm = `${DSIG_MORE}rsa-sha256` } = options
  const { relayState, write = encodeURIComponent, message = deflateRawSync(xml).toString('base64') } = options
  const state = relayState === undefined ? '' : `&RelayState=${write(relayState)}`
  const signed = `${kind}=${write(message)}${state}&SigAlg=${write(algorithm)}`
  const hash = /sha\d+$/.exec(algorithm)?.[0] ?? 'sha256'
  const ec = algorithm.includes('ecdsa') && !options.der ? ({ dsaEncoding: 'ieee-p1363' } as const) : {}
  const value = sign(hash, Buffer.from(signed), { key: key.privateKey, ...ec }).toString('base64')
  return `${signed}&Signature=${write(value)}`
}

export const redirected = (xml: string, options: SignedQuery = {}): ReceivedLogout => ({
  binding: 'redirect',
  query: signedQuery(xml, options),
})

/** The settings with which the service signs its messages by the key `service`. */
export async function signingSettings(): Promise<Readonly<Record<string, string>>> {
  const folder = await temporaryFolder()
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const { privateKey, certificate } = keyNamed('service')
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(certificateFile, certificate)
  return {
    'service.auth.saml.signing.key-file': keyFile,
    'service.auth.saml.signing.certificate-file': certificateFile,
  }
}

/** What this service expects of the messages above. */
export const expectedLogout = (changes: Partial<ExpectedLogout> = {}): ExpectedLogout => ({
  issuer: IDP,
  destination: LOGOUT,
  requestId: REQUEST,
  keys: [keyNamed('idp').pem],
  decryptionKeys: [],
  now: NOW,
  clockSkew: 60_000,
  ...changes,
})

/** A message of this service as it arrives at the provider. */
export interface LogoutAtProvider {
  readonly url: URL
  readonly xml: string
  readonly relayState: string | undefined
}

/** What a redirect to the provider says, after its signature was verified with the certificate of the service. */
export function readRedirect(answer: Answer | string): LogoutAtProvider {
  const location = typeof answer === 'string' ? answer : (answer.headers.location ?? '')
  const url = new URL(location)
  const [, covered = '', signature = ''] = /\?(SAML.*)&Signature=(.*)$/.exec(location) ?? []
  const bytes = Buffer.from(decodeURIComponent(signature), 'base64')
  assert.ok(verify('sha256', Buffer.from(covered), keyNamed('service').publicKey, bytes), location)
  const message = url.searchParams.get('SAMLRequest') ?? url.searchParams.get('SAMLResponse') ?? ''
  const xml = inflateRawSync(Buffer.from(message, 'base64')).toString()
  return { url, xml, relayState: url.searchParams.get('RelayState') ?? undefined }
}

/** The same from the page that leads a browser to the provider. */
export function readOnwardPage({ text }: Answer): LogoutAtProvider {
  const url = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1] ?? ''
  return readRedirect(url.replaceAll('&amp;', '&').replaceAll('&#38;', '&'))
}

/** The value of the ID in a message of this service. */
export const requestIdIn = (xml: string): string => / ID="([^"]*)"/.exec(xml)?.[1] ?? ''
