import { constants, createDecipheriv, privateDecrypt } from 'node:crypto'
import { privateDecryptOaep } from 'xml-encryption/lib/oaep.js'
import { SsoRefused } from '../refusal.ts'
import { messageLimits, parseXml, XmlRefused } from '../xml.ts'
import { attributeOf, childrenNamed, descendantsNamed, textOf, type XmlElement } from '../xml-element.ts'
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

/** What an encrypted element contains. */
type Encrypted = 'Assertion' | 'NameID'

/**
 * Returns the text of the element inside an EncryptedAssertion or EncryptedID. @param keys PEM; two while one replaces the other, and
 * each is tried. @throws {SsoRefused} `decryption`
 */
export function decryptElement(encrypted: XmlElement, name: Encrypted, keys: readonly string[]): string {
  if (keys.length === 0) throw refused(`an unencrypted ${name}: no decryption key is configured`)
  const [data, ...others] = childrenNamed(encrypted, XENC, 'EncryptedData')
  if (!data || others.length > 0) throw refused('one EncryptedData')
  requireKnownAlgorithms(encrypted)
  for (const key of keys) {
    const text = plainText(data, encrypted, key)
    if (isElement(text, name)) return text
  }
  // One refusal for every failure after this point: details would let a stranger guess the text byte by byte.
  throw refused(`an encrypted ${name}`)
}

function requireKnownAlgorithms(encrypted: XmlElement): void {
  const known = [...ciphers.keys(), OAEP_MGF1P, OAEP]
  for (const method of descendantsNamed(encrypted, XENC, 'EncryptionMethod')) {
    const algorithm = attributeOf(method, 'Algorithm') ?? ''
    if (!known.includes(algorithm)) throw refused(known.join(' '), algorithm)
    for (const digest of childrenNamed(method, DS, 'DigestMethod')) requireKnown(digest, digests)
    for (const mask of childrenNamed(method, XENC11, 'MGF')) requireKnown(mask, masks)
  }
}

function requireKnown(element: XmlElement, known: ReadonlyMap<string, string>): void {
  const algorithm = attributeOf(element, 'Algorithm') ?? ''
  if (!known.has(algorithm)) throw refused([...known.keys()].join(' '), algorithm)
}

/** Empty when it cannot be decrypted. */
function plainText(data: XmlElement, encrypted: XmlElement, key: string): string {
  try {
    const cipher = ciphers.get(attributeOf(only(data, XENC, 'EncryptionMethod'), 'Algorithm') ?? '') ?? ''
    return decipher(cipher, unwrappedKey(encryptedKeyOf(data, encrypted), key), cipherBytes(data))
  } catch {
    return ''
  }
}

/** Inside the KeyInfo of the data, or beside the data, where the KeyInfo refers to it by id. */
function encryptedKeyOf(data: XmlElement, encrypted: XmlElement): XmlElement {
  const keyInfo = only(data, DS, 'KeyInfo')
  const [inside] = childrenNamed(keyInfo, XENC, 'EncryptedKey')
  if (inside) return inside
  const [reference] = childrenNamed(keyInfo, DS, 'RetrievalMethod')
  const id = /^#(.+)$/.exec((reference && attributeOf(reference, 'URI')) ?? '')?.[1]
  const beside = childrenNamed(encrypted, XENC, 'EncryptedKey')
  const found = beside.find(element => attributeOf(element, 'Id') === id) ?? (id === undefined ? beside[0] : undefined)
  if (!found) throw new Error('there is no EncryptedKey')
  return found
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
  // Node has one hash for both; the library computes the padding where they differ.
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
