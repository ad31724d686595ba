import { constants, createDecipheriv, privateDecrypt } from 'node:crypto'
import { privateDecryptOaep } from 'xml-encryption/lib/oaep.js'
import { SsoRefused } from '../sso/refusal.ts'
import { messageLimits, parseXml, XmlRefused } from '../sso/xml.ts'
import { attributeOf, childrenNamed, textOf, type XmlElement } from '../sso/xml-element.ts'
import { DS, SAML, XENC, XENC11 } from './names.ts'

/** Ciphers of the assertion. Most providers still use CBC, although GCM is better. */
const ciphers: ReadonlyMap<string, string> = new Map([
  [`${XENC11}aes128-gcm`, 'aes-128-gcm'],
  [`${XENC11}aes192-gcm`, 'aes-192-gcm'],
  [`${XENC11}aes256-gcm`, 'aes-256-gcm'],
  [`${XENC}aes128-cbc`, 'aes-128-cbc'],
  [`${XENC}aes192-cbc`, 'aes-192-cbc'],
  [`${XENC}aes256-cbc`, 'aes-256-cbc'],
])

/** Ways to wrap the cipher's key. The first has a fixed mask generation function: MGF1 with SHA-1. */
const OAEP_MGF1P = `${XENC}rsa-oaep-mgf1p`
const OAEP = `${XENC11}rsa-oaep`
const wrappings: ReadonlySet<string> = new Set([OAEP_MGF1P, OAEP])

const digests: ReadonlyMap<string, string> = new Map([
  [`${DS}sha1`, 'sha1'],
  [`${XENC}sha256`, 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  [`${XENC}sha512`, 'sha512'],
])

const masks: ReadonlyMap<string, string> = new Map([
  [`${XENC11}mgf1sha1`, 'sha1'],
  [`${XENC11}mgf1sha256`, 'sha256'],
  [`${XENC11}mgf1sha384`, 'sha384'],
  [`${XENC11}mgf1sha512`, 'sha512'],
])

const TAG_BYTES = 16

/** The kind of element that is encrypted. */
type Encrypted = 'Assertion' | 'NameID'

/**
 * Returns the text of the element inside an EncryptedAssertion or EncryptedID. @param keys PEM; every key is tried, because two are in use
 * while one replaces the other. @throws {SsoRefused} `decryption`
 */
export function decryptElement(encrypted: XmlElement, name: Encrypted, keys: readonly string[]): string {
  if (keys.length === 0) throw refused(`an unencrypted ${name}: no decryption key is configured`)
  const [data, ...others] = childrenNamed(encrypted, XENC, 'EncryptedData')
  if (!data || others.length > 0) throw refused('one EncryptedData')
  requireKnownCipher(data)
  const wrapped = usableKeysIn(data, encrypted)
  for (const key of keys) {
    for (const encryptedKey of wrapped) {
      const text = plainText(data, encryptedKey, key)
      if (isElement(text, name)) return text
    }
  }
  // One refusal for every failure after this point: details would let a stranger guess the text byte by byte.
  throw refused(`an encrypted ${name}`)
}

/** Each costs an operation with each private key. */
const MAX_KEYS = 10

/**
 * The encrypted keys that this service may be able to decrypt, in the KeyInfo of the data or beside the data: providers write a key for
 * each of our certificates, or for other recipients.
 */
function usableKeysIn(data: XmlElement, encrypted: XmlElement): XmlElement[] {
  const [keyInfo, ...others] = childrenNamed(data, DS, 'KeyInfo')
  const parents = others.length > 0 ? [] : keyInfo ? [keyInfo, encrypted] : [encrypted]
  const found = parents.flatMap(parent => childrenNamed(parent, XENC, 'EncryptedKey'))
  if (found.length > MAX_KEYS) throw refused(`at most ${MAX_KEYS} EncryptedKey`, `${found.length}`)
  const failures: SsoRefused[] = []
  const usable = found.filter(encryptedKey => {
    try {
      requireKnownWrapping(encryptedKey)
      return true
    } catch (error) {
      if (!(error instanceof SsoRefused)) throw error
      failures.push(error)
      return false
    }
  })
  if (usable.length === 0 && failures[0]) throw failures[0]
  return usable
}

function requireKnownCipher(data: XmlElement): void {
  for (const method of childrenNamed(data, XENC, 'EncryptionMethod')) requireKnown(method, ciphers)
}

function requireKnownWrapping(encryptedKey: XmlElement): void {
  for (const method of childrenNamed(encryptedKey, XENC, 'EncryptionMethod')) {
    requireKnown(method, wrappings)
    for (const digest of childrenNamed(method, DS, 'DigestMethod')) requireKnown(digest, digests)
    for (const mask of childrenNamed(method, XENC11, 'MGF')) requireKnown(mask, masks)
  }
}

function requireKnown(element: XmlElement, known: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>): void {
  const algorithm = attributeOf(element, 'Algorithm') ?? ''
  if (!known.has(algorithm)) throw refused([...known.keys()].join(' '), algorithm)
}

/** Empty when it cannot be decrypted. */
function plainText(data: XmlElement, encryptedKey: XmlElement, key: string): string {
  try {
    const cipher = ciphers.get(attributeOf(only(data, XENC, 'EncryptionMethod'), 'Algorithm') ?? '') ?? ''
    return decipher(cipher, unwrappedKey(encryptedKey, key), cipherBytes(data))
  } catch {
    return ''
  }
}

function unwrappedKey(encryptedKey: XmlElement, key: string): Buffer {
  const method = only(encryptedKey, XENC, 'EncryptionMethod')
  const [digest] = childrenNamed(method, DS, 'DigestMethod')
  const [mask] = childrenNamed(method, XENC11, 'MGF')
  const isFixed = attributeOf(method, 'Algorithm') === OAEP_MGF1P
  if (isFixed && mask) throw new Error('this algorithm has no choice of a mask')
  const oaepHash = (digest && digests.get(attributeOf(digest, 'Algorithm') ?? '')) ?? 'sha1'
  const mgf1Hash = (mask && masks.get(attributeOf(mask, 'Algorithm') ?? '')) ?? 'sha1'
  const [label] = childrenNamed(method, XENC, 'OAEPparams')
  const oaepLabel = Buffer.from((label && textOf(label)) ?? '', 'base64')
  const wrapped = cipherBytes(encryptedKey)
  // Node uses the same hash for both purposes; for two different hashes the library computes the padding.
  if (oaepHash !== mgf1Hash) return privateDecryptOaep(key, wrapped, { oaepHash, mgf1Hash, oaepLabel })
  return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash, oaepLabel }, wrapped)
}

function decipher(cipher: string, key: Buffer, bytes: Buffer): string {
  if (cipher.endsWith('-gcm')) {
    const gcm = createDecipheriv(cipher as 'aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: TAG_BYTES })
    gcm.setAuthTag(bytes.subarray(-TAG_BYTES))
    return utf8(Buffer.concat([gcm.update(bytes.subarray(12, -TAG_BYTES)), gcm.final()]))
  }
  const cbc = createDecipheriv(cipher, key, bytes.subarray(0, 16)).setAutoPadding(false)
  const padded = Buffer.concat([cbc.update(bytes.subarray(16)), cbc.final()])
  // The last byte is the number of bytes of padding; the others may have any value (XML Encryption 1.1, 5.2.1).
  const padding = padded.at(-1) ?? 0
  if (padding < 1 || padding > 16) throw new Error('wrong padding')
  return utf8(padded.subarray(0, -padding))
}

const utf8 = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

function cipherBytes(element: XmlElement): Buffer {
  const value = only(only(element, XENC, 'CipherData'), XENC, 'CipherValue')
  return Buffer.from(textOf(value) ?? '', 'base64')
}

function only(parent: XmlElement, namespace: string, name: string): XmlElement {
  const [element, ...others] = childrenNamed(parent, namespace, name)
  if (!element || others.length > 0) throw new Error(`there is not exactly one ${name}`)
  return element
}

function isElement(text: string, name: Encrypted): boolean {
  try {
    const { uri, local } = parseXml(text, messageLimits)
    return uri === SAML && local === name
  } catch (error) {
    if (error instanceof XmlRefused) return false
    throw error
  }
}

const refused = (expected: string, received?: string): SsoRefused =>
  new SsoRefused({ check: 'decryption', expected, received })
