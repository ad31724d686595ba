import { constants, createHash, type KeyObject, verify } from 'node:crypto'
import { SsoRefused, refused } from '../sso/refusal.ts'
import { attributeOf, childElements, childrenNamed, textOf, type XmlElement } from '../sso/xml-element.ts'
import { canonicalForm } from './canonical.ts'
import { parseMessage } from './message.ts'
import { DS, ENVELOPED, EXCLUSIVE_C14N, EXCLUSIVE_C14N_WITH_COMMENTS } from './names.ts'

type Scheme = { readonly hash: string; readonly key: 'rsa' | 'ec'; readonly pss?: true }

/** RSA and ECDSA with SHA-256 or better (RFC 9231); HMAC and SHA-1 are not among them (D8.3). */
const schemes: ReadonlyMap<string, Scheme> = new Map<string, Scheme>([
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', { hash: 'sha256', key: 'rsa' }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha384', { hash: 'sha384', key: 'rsa' }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', { hash: 'sha512', key: 'rsa' }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1', { hash: 'sha256', key: 'rsa', pss: true }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha384-rsa-MGF1', { hash: 'sha384', key: 'rsa', pss: true }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1', { hash: 'sha512', key: 'rsa', pss: true }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256', { hash: 'sha256', key: 'ec' }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384', { hash: 'sha384', key: 'ec' }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512', { hash: 'sha512', key: 'ec' }],
])

const digests: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])

/**
 * Both give the same text here: messages with comments are refused, and metadata that were signed with comments do not have the digest of the
 * form without.
 */
const canonicalizations = [EXCLUSIVE_C14N, EXCLUSIVE_C14N_WITH_COMMENTS]

/** The signature that an element carries for itself, if any. @throws {SsoRefused} when it carries several */
export function signatureOf(element: XmlElement): XmlElement | undefined {
  const [signature, ...more] = childrenNamed(element, DS, 'Signature')
  if (more.length > 0) throw malformed('one signature of an element', `${more.length + 1}`)
  return signature
}

/**
 * Verifies the signature that `element` carries for itself, by one of the provider's keys, and returns the element as it
 * was signed: parsed again from exactly the bytes that the signature covers, so that nothing else can be read (D8.3).
 * The document that holds `element` must have no comments, CDATA sections or entities, and each id once.
 * @throws {SsoRefused} `signature-…`
 */
export function verifiedElement(element: XmlElement, signature: XmlElement, keys: readonly KeyObject[]): XmlElement {
  const { digest, digestValue, prefixes, unknown } = verifiedReference(element, signature, keys)
  const text = canonicalForm(element, prefixes, signature)
  // The key signed this reference. If the digest differs, the element was changed after it was signed.
  if (!createHash(digest).update(text).digest().equals(digestValue)) throw unknown
  const signed = parseMessage(text)
  const isSame =
    signed.local === element.local &&
    signed.uri === element.uri &&
    attributeOf(signed, 'ID') === attributeOf(element, 'ID')
  if (!isSame) throw malformed('a signature over its own element', signed.name)
  return signed
}

/** A signature of a message in a query. */
interface TextSignature {
  readonly algorithm: string
  readonly value: Uint8Array
}

/** Verifies the signature over a query (SAML bindings 3.4.4.1) by one of the provider's keys. @throws {SsoRefused} `signature-…` */
export function requireSignedText(text: string, { algorithm, value }: TextSignature, keys: readonly KeyObject[]): void {
  const scheme = schemes.get(algorithm)
  if (!scheme) {
    const expected = [...schemes.keys()].join(' ')
    throw refused('signature-algorithm', expected, algorithm)
  }
  const usable = keys.filter(key => key.asymmetricKeyType === scheme.key)
  const material = Buffer.from(text)
  // In a query, some providers write an ECDSA signature as DER.
  const isDer = (key: KeyObject): boolean => scheme.key === 'ec' && verify(scheme.hash, material, key, value)
  if (usable.some(key => isSignedBy(key, scheme, material, value) || isDer(key))) return
  const check = usable.length === 0 ? 'signature-key' : 'signature'
  const received = `a signature by another key, or over another text; ${algorithm}`
  throw refused(check, `one of ${keys.length} keys of the provider`, received)
}

/** The reference that a key has signed: the digest of the canonical form of the element. */
export interface VerifiedReference {
  /** Node's name of the digest algorithm. */
  readonly digest: string
  readonly digestValue: Buffer
  /** InclusiveNamespaces PrefixList of the canonical form. */
  readonly prefixes: readonly string[]
  /** The refusal where the digest differs. */
  readonly unknown: SsoRefused
}

/**
 * Verifies that a key has signed the reference to `element`. The caller must still compare the digest of the element with it.
 * @throws {SsoRefused} `signature-…`
 */
export function verifiedReference(
  element: XmlElement,
  signature: XmlElement,
  keys: readonly KeyObject[],
): VerifiedReference {
  const signedInfo = requireSoundSignature(element, signature)
  const text = canonicalForm(signedInfo, prefixesOf(requireOne(signedInfo, 'CanonicalizationMethod')))
  // Parsed again from the signed bytes, like the element itself, so that only signed data are read.
  const { scheme, digest, reference } = requireSoundInfo(element, parseMessage(text))
  const usable = keys.filter(key => key.asymmetricKeyType === scheme.key)
  const value = base64Of(requireOne(signature, 'SignatureValue'))
  const unknown = unknownKey(signature, keys, usable)
  if (!usable.some(key => isSignedBy(key, scheme, Buffer.from(text), value))) throw unknown
  const digestValue = base64Of(requireOne(reference, 'DigestValue'))
  return { digest, digestValue, prefixes: prefixesIn(reference), unknown }
}

/** Everything about a signature but its mathematics. Returns its SignedInfo. */
function requireSoundSignature(element: XmlElement, signature: XmlElement): XmlElement {
  const signedInfo = requireOne(signature, 'SignedInfo')
  requireText(requireOne(signature, 'SignatureValue'))
  if (childrenNamed(signature, DS, 'KeyInfo').length > 1) throw malformed('at most one KeyInfo', 'several')
  requireNoOthers(signature, ['SignedInfo', 'SignatureValue', 'KeyInfo'])
  requireSoundInfo(element, signedInfo)
  return signedInfo
}

interface SoundInfo {
  readonly scheme: Scheme
  /** Node's name of the digest algorithm. */
  readonly digest: string
  readonly reference: XmlElement
}

/** Requires exactly one reference, to the element that contains the signature, and known algorithms. */
function requireSoundInfo(element: XmlElement, signedInfo: XmlElement): SoundInfo {
  requireNoOthers(signedInfo, ['CanonicalizationMethod', 'SignatureMethod', 'Reference'])
  requireAlgorithm(requireOne(signedInfo, 'CanonicalizationMethod'), canonicalizations)
  const method = requireAlgorithm(requireOne(signedInfo, 'SignatureMethod'), [...schemes.keys()])
  const reference = requireOne(signedInfo, 'Reference')
  requireNoOthers(reference, ['Transforms', 'DigestMethod', 'DigestValue'])
  const id = attributeOf(element, 'ID')
  const uri = attributeOf(reference, 'URI')
  if (!id || !/^[A-Za-z_][\w.-]*$/.test(id) || uri !== `#${id}`) throw malformed(`a reference to #${id ?? ''}`, uri)
  const transforms = childrenNamed(requireOne(reference, 'Transforms'), DS, 'Transform')
  const algorithms = transforms.map(transform => attributeOf(transform, 'Algorithm') ?? '')
  const [first, second = '', ...more] = algorithms
  if (first !== ENVELOPED || !canonicalizations.includes(second) || more.length > 0) {
    throw refused('signature-transform', `${ENVELOPED} ${EXCLUSIVE_C14N}`, algorithms.join(' '))
  }
  const digest = digests.get(requireAlgorithm(requireOne(reference, 'DigestMethod'), [...digests.keys()]))
  requireText(requireOne(reference, 'DigestValue'))
  const scheme = schemes.get(method)
  if (!scheme || !digest) throw malformed('a known algorithm', method)
  return { scheme, digest, reference }
}

function isSignedBy(key: KeyObject, scheme: Scheme, material: Uint8Array, value: Uint8Array): boolean {
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants
  const options = scheme.pss ? { padding, saltLength } : {}
  // XML Signature writes an ECDSA signature as the two numbers side by side (RFC 4050).
  const encoding = scheme.key === 'ec' ? ({ dsaEncoding: 'ieee-p1363' } as const) : {}
  return verify(scheme.hash, material, { key, ...options, ...encoding }, value)
}

function prefixesIn(reference: XmlElement): string[] {
  const transforms = childrenNamed(requireOne(reference, 'Transforms'), DS, 'Transform')
  return transforms.flatMap(prefixesOf)
}

/** Each of them is looked up for each declaration. */
const MAX_PREFIXES = 100

function prefixesOf(method: XmlElement): string[] {
  const prefixes = childrenNamed(method, EXCLUSIVE_C14N, 'InclusiveNamespaces')
    .flatMap(list => attributeOf(list, 'PrefixList')?.split(/[ \t\r\n]+/) ?? [])
    .filter(prefix => prefix !== '')
  if (prefixes.length > MAX_PREFIXES) throw malformed(`at most ${MAX_PREFIXES} prefixes`, `${prefixes.length}`)
  return prefixes
}

const base64Of = (element: XmlElement): Buffer => Buffer.from(textOf(element) ?? '', 'base64')

function unknownKey(signature: XmlElement, keys: readonly KeyObject[], usable: readonly KeyObject[]): SsoRefused {
  const check = usable.length === 0 ? 'signature-key' : 'signature'
  return refused(check, `one of ${keys.length} keys of the provider`, describeKey(signature))
}

function requireOne(parent: XmlElement, name: string): XmlElement {
  const [one, ...more] = childrenNamed(parent, DS, name)
  if (one && more.length === 0) return one
  throw malformed(`exactly one ${name}`, one ? 'several' : 'none')
}

function requireNoOthers(parent: XmlElement, names: readonly string[]): void {
  const other = childElements(parent).find(child => child.uri !== DS || !names.includes(child.local))
  if (other) throw malformed(names.join(', '), other.name)
}

function requireText(element: XmlElement): void {
  if (!textOf(element)?.trim()) throw malformed(`a value in ${element.local}`, 'none')
}

function requireAlgorithm(element: XmlElement, accepted: readonly string[]): string {
  const algorithm = attributeOf(element, 'Algorithm') ?? ''
  if (accepted.includes(algorithm)) return algorithm
  throw refused('signature-algorithm', accepted.join(' '), algorithm)
}

const malformed = (expected: string, received: string | undefined): SsoRefused =>
  new SsoRefused({ check: 'signature-shape', expected, received })

/** The certificate that the message claims to be signed with, for administrators; it is never used to verify. */
function describeKey(signature: XmlElement): string {
  const [keyInfo] = childrenNamed(signature, DS, 'KeyInfo')
  const certificate = keyInfo?.textContent.replaceAll(/\s/g, '')
  if (!certificate) return 'no certificate named'
  const fingerprint = createHash('sha256').update(Buffer.from(certificate, 'base64')).digest('hex')
  return `certificate with SHA-256 ${fingerprint}`
}
