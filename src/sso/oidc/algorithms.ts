import type { JWK } from 'jose'

/**
 * Accepted signature algorithms. Only public-key algorithms: neither `none` nor an HMAC keyed with a public
 * key can pass.
 */
export const algorithms: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

const curves: readonly unknown[] = ['P-256', 'P-384', 'P-521']
/**
 * RSA modulus length in base64url characters, for 2048 and 8192 bits. Shorter keys are weak; longer ones take
 * too much time.
 */
const RSA_CHARACTERS = { min: 341, max: 1368 }

/** Whether the key can verify a signature by one of the {@link algorithms}. */
export function isUsableKey({ kty, use, crv, n, e, alg }: JWK): boolean {
  if (use !== undefined && use !== 'sig') return false
  if (alg !== undefined && !algorithms.includes(alg)) return false
  if (kty === 'RSA') {
    const isSized = n !== undefined && n.length >= RSA_CHARACTERS.min && n.length <= RSA_CHARACTERS.max
    // A long exponent takes as much time as a long modulus.
    return isSized && e !== undefined && e.length <= 8
  }
  return (kty === 'EC' && curves.includes(crv)) || (kty === 'OKP' && crv === 'Ed25519')
}
