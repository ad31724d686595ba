import { createHash, verify, type KeyObject } from 'node:crypto'
import { SignedXml } from 'xml-crypto'
import { SsoRefused } from '../../base/errors.ts'
import { attributeOf, childElements, childrenNamed, messageLimits, parseXml, textOf } from '../xml.ts'
import { DS, ENVELOPED, EXCLUSIVE_C14N } from './names.ts'

type Scheme = { readonly hash: string; readonly key: 'rsa' | 'ec'; readonly pss?: true }

/** RSA and ECDSA with SHA-256 or better (RFC 9231); HMAC and SHA-1 are not among them (D8.3). */
const schemes: ReadonlyMap<string, Scheme> = new Map<string, Scheme>([
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', { hash: 'sha256', key: 'rsa' }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha384', { hash: 'sha384', key: 'rsa' }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', { hash: 'sha512', key: 'rsa' }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1', { hash: 'sha256', key: 'rsa', pss: true }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256', { hash: 'sha256', key: 'ec' }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384', { hash: 'sha384', key: 'ec' }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512', { hash: 'sha512', key: 'ec' }],
])

const digests: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])

/** The signature that an element carries for itself, if any. @throws {SsoRefused} when it carries several */
export function signatureOf(element: Element): Element | undefined {
  const [signature, ...more] = childrenNamed(element, DS, 'Signature')
  if (more.length > 0) throw malformed('one signature of an element', `${more.length + 1}`)
  return signature
}

/**
 * Verifies the signature that `element` carries for itself, by one of the provider's keys, and returns the element as it
 * was signed: parsed again from exactly the bytes that the signature covers, so that nothing else can be read (D8.3).
 * @param text the document that `element` was parsed from
 * @throws {SsoRefused} `signature-…`
 */
export function verifiedElement(
  text: string,
  element: Element,
  signature: Element,
  keys: readonly KeyObject[],
): Element {
  const scheme = requireSoundSignature(element, signature)
  const usable = keys.filter(key => key.asymmetricKeyType === scheme.key)
  for (const key of usable) {
    const signed = signedText(text, signature, scheme, key)
    if (signed === undefined) continue
    const { documentElement } = parseXml(signed, messageLimits)
    const isSame =
      documentElement.localName === element.localName &&
      documentElement.namespaceURI === element.namespaceURI &&
      attributeOf(documentElement, 'ID') === attributeOf(element, 'ID')
    if (isSame) return documentElement
    throw malformed('a signature over its own element', documentElement.nodeName)
  }
  const check = usable.length === 0 ? 'signature-key' : 'signature'
  throw new SsoRefused({
    check,
    expected: `one of ${keys.length} keys of the provider`,
    received: describeKey(signature),
  })
}

/** Everything about a signature but its mathematics: one reference, to its own element, by known algorithms. */
function requireSoundSignature(element: Element, signature: Element): Scheme {
  const signedInfo = requireOne(signature, 'SignedInfo')
  requireText(requireOne(signature, 'SignatureValue'))
  if (childrenNamed(signature, DS, 'KeyInfo').length > 1) throw malformed('at most one KeyInfo', 'several')
  requireNoOthers(signature, ['SignedInfo', 'SignatureValue', 'KeyInfo'])
  requireNoOthers(signedInfo, ['CanonicalizationMethod', 'SignatureMethod', 'Reference'])
  requireAlgorithm(requireOne(signedInfo, 'CanonicalizationMethod'), [EXCLUSIVE_C14N])
  const method = requireAlgorithm(requireOne(signedInfo, 'SignatureMethod'), [...schemes.keys()])
  const reference = requireOne(signedInfo, 'Reference')
  requireNoOthers(reference, ['Transforms', 'DigestMethod', 'DigestValue'])
  const id = attributeOf(element, 'ID')
  const uri = attributeOf(reference, 'URI')
  if (!id || !/^[A-Za-z_][\w.-]*$/.test(id) || uri !== `#${id}`) throw malformed(`a reference to #${id ?? ''}`, uri)
  const transforms = childrenNamed(requireOne(reference, 'Transforms'), DS, 'Transform')
  const algorithms = transforms.map(transform => attributeOf(transform, 'Algorithm'))
  if (algorithms.length !== 2 || algorithms[0] !== ENVELOPED || algorithms[1] !== EXCLUSIVE_C14N) {
    throw new SsoRefused({
      check: 'signature-transform',
      expected: `${ENVELOPED} ${EXCLUSIVE_C14N}`,
      received: algorithms.join(' '),
    })
  }
  requireAlgorithm(requireOne(reference, 'DigestMethod'), [...digests.keys()])
  requireText(requireOne(reference, 'DigestValue'))
  const scheme = schemes.get(method)
  if (!scheme) throw malformed('a known algorithm', method)
  return scheme
}

function signedText(text: string, signature: Element, scheme: Scheme, key: KeyObject): string | undefined {
  const checker = new SignedXml({ publicCert: key as never, getCertFromKeyInfo: () => null })
  checker.idAttributes = ['ID']
  checker.HashAlgorithms = hashAlgorithms
  checker.SignatureAlgorithms = Object.fromEntries([...schemes.keys()].map(name => [name, verifierOf(scheme, key)]))
  try {
    checker.loadSignature(signature)
    if (!checker.checkSignature(text)) return undefined
  } catch {
    // The library says no by throwing; which of its reasons it was, the checks above have made all but one impossible.
    return undefined
  }
  const [signed, ...more] = checker.getSignedReferences()
  return more.length === 0 ? signed : undefined
}

/** The library knows fewer algorithms than real providers use; it takes ours in their place. */
const verifierOf = (scheme: Scheme, key: KeyObject) =>
  class {
    getAlgorithmName(): string {
      return ''
    }

    getSignature(): never {
      throw new Error('only verifies')
    }

    verifySignature(material: string, _key: unknown, value: string): boolean {
      const padding = scheme.pss ? { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST } : {}
      // XML Signature writes an ECDSA signature as the two numbers side by side (RFC 4050).
      const encoding = scheme.key === 'ec' ? ({ dsaEncoding: 'ieee-p1363' } as const) : {}
      const signature = Buffer.from(value.replaceAll(/\s/g, ''), 'base64')
      return verify(scheme.hash, Buffer.from(material), { key, ...padding, ...encoding }, signature)
    }
  }

const RSA_PKCS1_PSS_PADDING = 6
const RSA_PSS_SALTLEN_DIGEST = -1

const hashAlgorithms = Object.fromEntries(
  [...digests].map(([name, hash]) => [
    name,
    class {
      getAlgorithmName(): string {
        return name
      }

      getHash(text: string): string {
        return createHash(hash).update(text).digest('base64')
      }
    },
  ]),
)

function requireOne(parent: Element, name: string): Element {
  const [one, ...more] = childrenNamed(parent, DS, name)
  if (one && more.length === 0) return one
  throw malformed(`exactly one ${name}`, one ? 'several' : 'none')
}

function requireNoOthers(parent: Element, names: readonly string[]): void {
  const other = childElements(parent).find(child => child.namespaceURI !== DS || !names.includes(child.localName))
  if (other) throw malformed(names.join(', '), other.nodeName)
}

function requireText(element: Element): void {
  if (!textOf(element)?.trim()) throw malformed(`a value in ${element.localName}`, 'none')
}

function requireAlgorithm(element: Element, accepted: readonly string[]): string {
  const algorithm = attributeOf(element, 'Algorithm') ?? ''
  if (accepted.includes(algorithm)) return algorithm
  throw new SsoRefused({ check: 'signature-algorithm', expected: accepted.join(' '), received: algorithm })
}

const malformed = (expected: string, received: string | undefined): SsoRefused =>
  new SsoRefused({ check: 'signature-shape', expected, received })

/** Which certificate the message says it was signed with, for the administrator; it is never used to verify. */
function describeKey(signature: Element): string {
  const [keyInfo] = childrenNamed(signature, DS, 'KeyInfo')
  const certificate = keyInfo?.textContent?.replaceAll(/\s/g, '')
  if (!certificate) return 'no certificate named'
  const fingerprint = createHash('sha256').update(Buffer.from(certificate, 'base64')).digest('hex')
  return `certificate with SHA-256 ${fingerprint}`
}
