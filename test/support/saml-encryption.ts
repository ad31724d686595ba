import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto'
import { DSIG, DSIG_MORE, type IdpKey, keyNamed, XENC } from './saml-idp.ts'

const XENC11 = 'http://www.w3.org/2009/xmlenc11#'

export const ciphers = {
  'aes128-gcm': { uri: `${XENC11}aes128-gcm`, cipher: 'aes-128-gcm', keyBytes: 16, ivBytes: 12 },
  'aes192-gcm': { uri: `${XENC11}aes192-gcm`, cipher: 'aes-192-gcm', keyBytes: 24, ivBytes: 12 },
  'aes256-gcm': { uri: `${XENC11}aes256-gcm`, cipher: 'aes-256-gcm', keyBytes: 32, ivBytes: 12 },
  'aes128-cbc': { uri: `${XENC}aes128-cbc`, cipher: 'aes-128-cbc', keyBytes: 16, ivBytes: 16 },
  'aes192-cbc': { uri: `${XENC}aes192-cbc`, cipher: 'aes-192-cbc', keyBytes: 24, ivBytes: 16 },
  'aes256-cbc': { uri: `${XENC}aes256-cbc`, cipher: 'aes-256-cbc', keyBytes: 32, ivBytes: 16 },
  'tripledes-cbc': { uri: `${XENC}tripledes-cbc`, cipher: 'des-ede3-cbc', keyBytes: 24, ivBytes: 8 },
} as const

export interface Encrypting {
  readonly cipher?: keyof typeof ciphers
  /** How the key of the cipher is wrapped. */
  readonly wrapping?: 'rsa-oaep-mgf1p' | 'rsa-oaep' | 'rsa-1_5'
  /** The hash of `rsa-oaep`, and of its mask. */
  readonly hash?: 'sha256' | 'sha384' | 'sha512'
  readonly recipient?: IdpKey
  /** Damages the bytes before they are written down. */
  readonly damage?: (bytes: Buffer) => Buffer
  /** The wrapped key beside the data instead of in it. */
  readonly keyBeside?: boolean
  /** Wraps the key of the cipher in another way. */
  readonly wrap?: (key: Buffer) => Buffer
  /** Follows the text with a CBC cipher. */
  readonly padding?: Buffer
}

/** A key of a cipher for another recipient, as it stands beside the right one. */
export function encryptedKeyFor(recipient: IdpKey, wrapping: 'rsa-oaep-mgf1p' | 'rsa-1_5' = 'rsa-oaep-mgf1p'): string {
  const xml = encryptXml('', { recipient, wrapping, keyBeside: true })
  return /<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/.exec(xml)?.[0] ?? ''
}

/** Encrypts a piece of XML (XML Encryption 1.1), as identity providers do with an assertion. */
export function encryptXml(xml: string, encrypting: Encrypting = {}): string {
  const { cipher: name = 'aes256-gcm', wrapping = 'rsa-oaep-mgf1p', recipient = keyNamed('service') } = encrypting
  const { hash = 'sha256' } = encrypting
  const { uri, cipher, keyBytes, ivBytes } = ciphers[name]
  const [key, iv] = [randomBytes(keyBytes), randomBytes(ivBytes)]
  const data = cipher.endsWith('gcm') ? gcm(cipher, key, iv, xml) : cbc(cipher, key, iv, xml, encrypting.padding)
  const damaged = encrypting.damage?.(data) ?? data
  const padding = wrapping === 'rsa-1_5' ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_OAEP_PADDING
  const oaepHash = wrapping === 'rsa-oaep' ? hash : 'sha1'
  const { wrap = (plain: Buffer) => publicEncrypt({ key: recipient.publicKey, padding, oaepHash }, plain) } = encrypting
  const wrapped = wrap(key).toString('base64')
  const id = `_${randomBytes(8).toString('hex')}`
  const digest =
    wrapping === 'rsa-oaep' ? `<ds:DigestMethod Algorithm="${hash === 'sha384' ? DSIG_MORE : XENC}${hash}"/>` : ''
  const mgf = wrapping === 'rsa-oaep' ? `<m:MGF xmlns:m="${XENC11}" Algorithm="${XENC11}mgf1${hash}"/>` : ''
  const method = `${wrapping === 'rsa-oaep' ? XENC11 : XENC}${wrapping}`
  const encryptedKey =
    `<xenc:EncryptedKey xmlns:xenc="${XENC}" xmlns:ds="${DSIG}" Id="${id}"><xenc:EncryptionMethod Algorithm="${method}">${mgf}${digest}</xenc:EncryptionMethod>` +
    `<xenc:CipherData><xenc:CipherValue>${wrapped}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey>`
  const toRelative = encrypting.keyBeside
    ? `<ds:RetrievalMethod Type="${XENC}EncryptedKey" URI="#${id}"/>`
    : encryptedKey
  return (
    `<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"><xenc:EncryptedData xmlns:xenc="${XENC}" Type="${XENC}Element"><xenc:EncryptionMethod Algorithm="${uri}"/>` +
    `<ds:KeyInfo xmlns:ds="${DSIG}">${toRelative}</ds:KeyInfo><xenc:CipherData><xenc:CipherValue>${damaged.toString('base64')}</xenc:CipherValue></xenc:CipherData>` +
    `</xenc:EncryptedData>${encrypting.keyBeside ? encryptedKey : ''}</saml:EncryptedAssertion>`
  )
}

function gcm(name: string, key: Buffer, iv: Buffer, text: string): Buffer {
  const cipher = createCipheriv(name as 'aes-128-gcm', key, iv)
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** The last byte counts the bytes of padding, the others may be anything. */
function cbc(name: string, key: Buffer, iv: Buffer, text: string, given?: Buffer): Buffer {
  const plain = Buffer.from(text)
  const size = iv.length - (plain.length % iv.length)
  const padding = given ?? Buffer.concat([randomBytes(size - 1), Buffer.from([size])])
  const cipher = createCipheriv(name, key, iv).setAutoPadding(false)
  return Buffer.concat([iv, cipher.update(Buffer.concat([plain, padding])), cipher.final()])
}

/** The response with its assertion encrypted. The assertion takes the namespaces along that it used from outside. */
export function encryptAssertion(xml: string, encrypting: Encrypting = {}): string {
  return xml.replace(/<saml:Assertion [^]*<\/saml:Assertion>/, assertion =>
    encryptXml(
      assertion.replace('<saml:Assertion ', '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" '),
      encrypting,
    ),
  )
}
