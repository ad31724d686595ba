import { deflateRawSync } from 'node:zlib'
import type { ExpectedLogout, ReceivedLogout } from '../../../src/features/saml/logout-message.ts'
import { encryptXml } from '../../support/saml-encryption.ts'
import { cut, DSIG_MORE, edit, encode, keyNamed, NAME, NOW, signElement, type Signing } from '../../support/saml-idp.ts'
import {
  type AboutLogout,
  buildLogoutRequest,
  buildLogoutResponse,
  LOGOUT,
  posted,
  redirected,
  type SignedQuery,
  signedQuery,
} from '../../support/saml-logout.ts'

/** A message that must be refused; its title is the claim. */
export interface LogoutAttack {
  readonly title: string
  /** The check that it must fail on. */
  readonly check: string
  readonly received: () => ReceivedLogout
  readonly expected?: Partial<ExpectedLogout>
}

export const EVIL = 'evil@a.example'
export const request = buildLogoutRequest()
const at = (time: number): string => new Date(time).toISOString()
export const raw = (query: string): ReceivedLogout => ({ binding: 'redirect', query })
export const form = (
  xml: string | Uint8Array,
  kind: 'SAMLRequest' | 'SAMLResponse' = 'SAMLRequest',
): ReceivedLogout => ({
  binding: 'post',
  kind,
  encoded: encode(xml),
})
export const attack = (
  title: string,
  check: string,
  received: () => ReceivedLogout,
  expected: Partial<ExpectedLogout> = {},
): LogoutAttack => ({ title, check, received, expected })

/** The same message by both bindings, signed by the provider's good key. */
const issued = (title: string, check: string, about: AboutLogout | ((xml: string) => string)): LogoutAttack[] => {
  const xml = (): string => (typeof about === 'function' ? about(request) : buildLogoutRequest(about))
  return [
    attack(`${title}, by redirect`, check, () => redirected(xml())),
    attack(`${title}, by POST`, check, () => posted(xml())),
  ]
}

const signedBy = (title: string, check: string, signing: Signing, query: SignedQuery): LogoutAttack[] => [
  attack(`${title}, by redirect`, check, () => redirected(request, query)),
  attack(`${title}, by POST`, check, () => posted(request, signing)),
]

export const attacker = keyNamed('attacker')

const withCutSignature = (query: string): string =>
  query.replace(/(?<=&Signature=).*/, value => {
    const bytes = Buffer.from(decodeURIComponent(value), 'base64')
    return encodeURIComponent(bytes.subarray(0, 200).toString('base64'))
  })

export const signatureAttacks: readonly LogoutAttack[] = [
  attack('not signed, by POST', 'signature-missing', () => form(request)),
  attack('not signed, by redirect', 'signature-missing', () =>
    raw(`SAMLRequest=${encodeURIComponent(deflateRawSync(request).toString('base64'))}`),
  ),
  attack('an algorithm without a signature, by redirect', 'signature-missing', () =>
    raw(signedQuery(request).replace(/&Signature=.*/, '')),
  ),
  attack('a signature without an algorithm, by redirect', 'signature-missing', () =>
    raw(signedQuery(request).replace(/&SigAlg=[^&]*/, '')),
  ),
  attack('signed in the XML only, by redirect', 'signature-missing', () => {
    const message = deflateRawSync(signElement(request, '_logout')).toString('base64')
    return raw(`SAMLRequest=${encodeURIComponent(message)}`)
  }),
  ...signedBy('signed by a key of the attacker', 'signature', { key: attacker }, { key: attacker }),
  ...signedBy('signed by another provider', 'signature', { key: keyNamed('other') }, { key: keyNamed('other') }),
  ...signedBy(
    'signed by a key of another kind',
    'signature-key',
    { key: keyNamed('P-256'), method: `${DSIG_MORE}ecdsa-sha256` },
    { key: keyNamed('P-256'), algorithm: `${DSIG_MORE}ecdsa-sha256` },
  ),
  attack('RSA with SHA-1, by redirect', 'signature-algorithm', () =>
    redirected(request, { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
  ),
  attack('RSA with SHA-1, by POST', 'signature-algorithm', () =>
    posted(request, { method: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
  ),
  attack('HMAC with the public key, by POST', 'signature-algorithm', () =>
    posted(request, { method: `${DSIG_MORE}hmac-sha256` }),
  ),
  attack('no algorithm, by redirect', 'signature-algorithm', () =>
    raw(signedQuery(request).replace(/SigAlg=[^&]*/, 'SigAlg=')),
  ),
  attack('an algorithm that says none, by redirect', 'signature-algorithm', () =>
    raw(signedQuery(request).replace(/SigAlg=[^&]*/, 'SigAlg=none')),
  ),
  attack('an empty signature, by redirect', 'signature', () =>
    raw(signedQuery(request).replace(/Signature=[^&]*/, 'Signature=')),
  ),
  attack('a cut signature, by redirect', 'signature', () => raw(withCutSignature(signedQuery(request)))),
  attack('changed after it was signed, by POST', 'signature', () =>
    form(edit(signElement(request, '_logout'), NAME, EVIL)),
  ),
  attack('another message under the same signature, by redirect', 'signature', () => {
    const evil = encodeURIComponent(deflateRawSync(request.replace(NAME, EVIL)).toString('base64'))
    return raw(signedQuery(request).replace(/SAMLRequest=[^&]*/, `SAMLRequest=${evil}`))
  }),
  attack('a RelayState that was not signed, by redirect', 'signature', () =>
    raw(signedQuery(request).replace('&SigAlg', '&RelayState=x&SigAlg')),
  ),
  attack('another RelayState, by redirect', 'signature', () =>
    raw(signedQuery(request, { relayState: 'a' }).replace('RelayState=a', 'RelayState=b')),
  ),
  attack('a request relabelled as a response, by redirect', 'signature', () =>
    raw(signedQuery(request).replace('SAMLRequest', 'SAMLResponse')),
  ),
  attack('the message twice, by redirect', 'message', () =>
    raw(`${signedQuery(request)}&SAMLRequest=${encodeURIComponent('x')}`),
  ),
  attack('two signatures, by redirect', 'message', () => raw(`${signedQuery(request)}&Signature=x`)),
  attack('two RelayStates, by redirect', 'message', () =>
    raw(`${signedQuery(request, { relayState: 'a' })}&RelayState=b`),
  ),
  attack('request and response at once, by redirect', 'message', () =>
    raw(`${signedQuery(request)}&SAMLResponse=${encodeURIComponent('x')}`),
  ),
  attack('no message, by redirect', 'message', () => raw('RelayState=x')),
  attack('a name that is percent-encoded, by redirect', 'message', () =>
    raw(signedQuery(request).replace('SAMLRequest', 'SAML%52equest')),
  ),
  attack('another encoding, by redirect', 'message', () => raw(`${signedQuery(request)}&SAMLEncoding=urn%3Ax`)),
  attack('two signatures in the message, by POST', 'signature-shape', () => {
    const once = signElement(request, '_logout')
    return form(edit(once, cut(once, 'ds:Signature'), found => found + found))
  }),
  attack('a signature of another element, by POST', 'signature-shape', () => posted(request, { uri: '#_other' })),
  attack('a signature over the whole document, by POST', 'signature-shape', () => posted(request, { uri: '' })),
  attack('a transform that selects, by POST', 'signature-transform', () =>
    posted(request, { transforms: ['http://www.w3.org/TR/1999/REC-xpath-19991116'] }),
  ),
]

/** A copy without signature, under an id of its own, for the attacker's user. */
const evilCopy = (xml: string): string =>
  xml
    .replace(/<ds:Signature[^]*<\/ds:Signature>/, '')
    .replaceAll(NAME, EVIL)
    .replace('ID="_logout"', 'ID="_evil"')

export const wrappingAttacks: readonly LogoutAttack[] = [
  attack('wrapped: the original in the extensions of a forged one', 'signature-missing', () => {
    const good = signElement(request, '_logout')
    return form(
      edit(evilCopy(request), '</saml:Issuer>', found => `${found}<samlp:Extensions>${good}</samlp:Extensions>`),
    )
  }),
  attack('wrapped: the original inside the signature that was moved', 'signature-shape', () => {
    const good = signElement(request, '_logout')
    const signature = cut(good, 'ds:Signature')
    const moved = edit(signature, '</ds:Signature>', found => `<ds:Object>${request}</ds:Object>${found}`)
    return form(edit(evilCopy(request), '</saml:Issuer>', found => found + moved))
  }),
  attack('wrapped: the signature of the original at the forged one', 'signature-shape', () => {
    const good = signElement(request, '_logout')
    const signature = cut(good, 'ds:Signature')
    return form(
      edit(
        evilCopy(request),
        '</saml:Issuer>',
        found => `${found}${signature}<samlp:Extensions>${request}</samlp:Extensions>`,
      ),
    )
  }),
  attack('wrapped: forged and original with the same id', 'duplicate-id', () => {
    const signature = cut(signElement(request, '_logout'), 'ds:Signature')
    const forged = request.replaceAll(NAME, EVIL)
    return form(
      edit(forged, '</saml:Issuer>', found => `${found}${signature}<samlp:Extensions>${request}</samlp:Extensions>`),
    )
  }),
  attack('wrapped: a second NameID before the signed one', 'signature', () =>
    form(edit(signElement(request, '_logout'), '<saml:NameID>', found => `<saml:NameID>${EVIL}</saml:NameID>${found}`)),
  ),
  attack('wrapped: a SessionIndex added', 'signature', () =>
    form(
      edit(
        signElement(request, '_logout'),
        '<samlp:SessionIndex>',
        found => `<samlp:SessionIndex>_other</samlp:SessionIndex>${found}`,
      ),
    ),
  ),
  attack('wrapped: all SessionIndex elements taken away', 'signature', () =>
    form(edit(signElement(request, '_logout'), /<samlp:SessionIndex>.*<\/samlp:SessionIndex>/, '')),
  ),
  attack('wrapped: a stray signature in the extensions', 'signature-shape', () => {
    const other = signElement(request.replace('_logout', '_other'), '_other')
    const extended = edit(
      request,
      '</saml:Issuer>',
      f => `${f}<samlp:Extensions>${cut(other, 'ds:Signature')}</samlp:Extensions>`,
    )
    return posted(extended)
  }),
]

export const statementAttacks: readonly LogoutAttack[] = [
  ...issued('another issuer', 'issuer', { issuer: 'https://other.example/metadata' }),
  ...issued('an issuer with a suffix', 'issuer', { issuer: 'https://idp.example/metadata?tenant=1&x=2#' }),
  ...issued('no issuer', 'issuer', xml => edit(xml, /<saml:Issuer>.*<\/saml:Issuer>/, '')),
  ...issued('another destination', 'destination', { destination: 'https://other.example/logout' }),
  ...issued('the address of another provider here', 'destination', { destination: LOGOUT.replace(/a$/, 'b') }),
  ...issued('no destination', 'destination', xml => edit(xml, / Destination="[^"]*"/, '')),
  ...issued('issued eleven minutes ago', 'expired', { now: NOW - 661_000 }),
  ...issued('issued two minutes in the future', 'not-yet-valid', { now: NOW + 120_000 }),
  ...issued('no time of issue', 'expired', xml => edit(xml, / IssueInstant="[^"]*"/, '')),
  ...issued('a time of issue without a zone', 'expired', xml =>
    edit(xml, /IssueInstant="([^"]*)Z"/, found => found.replace('Z"', '"')),
  ),
  ...issued('over', 'expired', xml => edit(xml, ' Version', ` NotOnOrAfter="${at(NOW - 60_000)}" Version`)),
  ...issued('an end that is no time', 'expired', xml => edit(xml, ' Version', ' NotOnOrAfter="soon" Version')),
  ...issued('SAML 1.1', 'version', xml => edit(xml, 'Version="2.0"', 'Version="1.1"')),
  ...issued('no NameID', 'name-id', xml => edit(xml, /<saml:NameID>.*<\/saml:NameID>/, '')),
  ...issued('two NameIDs', 'name-id', xml => edit(xml, /<saml:NameID>.*<\/saml:NameID>/, found => found + found)),
  ...issued('elements in the NameID', 'name-id', xml => edit(xml, NAME, 'a<x/>@a.example')),
  ...issued('an empty NameID', 'name-id', { name: ' ' }),
  ...issued('an empty SessionIndex', 'message', { sessionIndexes: [' '] }),
  ...issued('a SessionIndex and an empty one', 'message', { sessionIndexes: ['_s', ''] }),
  ...issued('101 sessions', 'size', { sessionIndexes: Array.from({ length: 101 }, (_, index) => `_${index}`) }),
  ...issued('a response in the parameter of a request', 'root', () => buildLogoutResponse()),
  ...issued('an element of another namespace', 'root', xml =>
    edit(
      xml,
      'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"',
      'xmlns:samlp="urn:oasis:names:tc:SAML:1.0:protocol"',
    ),
  ),
  attack('no ID, by redirect', 'message', () => redirected(edit(request, ' ID="_logout"', ''))),
  attack('an empty ID, by redirect', 'message', () => redirected(buildLogoutRequest({ id: '' }))),
  attack('an ID of 257 characters, by redirect', 'message', () =>
    redirected(buildLogoutRequest({ id: `_${'a'.repeat(256)}` })),
  ),
  ...issued('an assertion', 'root', xml => xml.replaceAll('samlp:LogoutRequest', 'saml:Assertion')),
  attack('an EncryptedID without a key of ours', 'decryption', () =>
    posted(edit(request, /<saml:NameID>.*<\/saml:NameID>/, encryptedId())),
  ),
  attack(
    'an EncryptedID of an assertion',
    'decryption',
    () =>
      posted(
        edit(
          request,
          /<saml:NameID>.*<\/saml:NameID>/,
          encryptedId('<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>'),
        ),
      ),
    decrypting(),
  ),
  attack('an EncryptedID beside the NameID', 'name-id', () =>
    posted(edit(request, '<saml:NameID>', found => encryptedId() + found)),
  ),
]

/** A NameID encrypted to this service. */
export function encryptedId(
  nameId = `<saml:NameID xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${NAME}</saml:NameID>`,
): string {
  return encryptXml(nameId).replaceAll('EncryptedAssertion', 'EncryptedID')
}

export function decrypting(): Partial<ExpectedLogout> {
  return { decryptionKeys: [keyNamed('service').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()] }
}
