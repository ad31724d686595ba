import { createPrivateKey, createPublicKey, sign as signBytes, verify } from 'node:crypto'

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

/** The signature in base64; that of a curve as two numbers side by side, as XML Signature writes it. @param pem private key */
export function signText(text: string, pem: string): string {
  const { hash } = requestScheme(pem)
  return signBytes(hash, Buffer.from(text), { key: createPrivateKey(pem), dsaEncoding: 'ieee-p1363' }).toString(
    'base64',
  )
}

/** The key's algorithm as the XML signature library wants it. */
export const libraryScheme = (pem: string) =>
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
