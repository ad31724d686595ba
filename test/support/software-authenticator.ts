import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

export type Algorithm = 'ES256' | 'RS256' | 'EdDSA'

/** What an authenticator or a browser states; a test changes one of them to forge a response. */
export interface Statement {
  readonly origin: string
  readonly rpId: string
  readonly type: string
  readonly challenge: string
  readonly crossOrigin?: boolean
  readonly topOrigin?: string
  /** The flags of the authenticator data, see {@link flags}. */
  readonly flags: number
  readonly counter: number
  /** CBOR behind the authenticator data; announced by the flag `ED`. */
  readonly extensions?: Uint8Array
}

/** User present, user verified, backup eligible, backed up, attested credential data, extension data. */
export const flags = { UP: 1, UV: 4, BE: 8, BS: 16, AT: 64, ED: 128 } as const

interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id?: string }
  readonly user: { readonly id: string }
}

interface RequestOptions {
  readonly challenge: string
  readonly rpId?: string
}

/** One passkey in software, which signs whatever a test asks for. */
export class SoftwareAuthenticator {
  readonly credentialId: string
  readonly #origin: string
  readonly #algorithm: Algorithm
  readonly #counts: boolean
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  #userHandle: string | undefined
  #counter = 0

  constructor(
    origin: string,
    { algorithm = 'ES256', counts = true }: { readonly algorithm?: Algorithm; readonly counts?: boolean } = {},
  ) {
    this.#origin = origin
    this.#algorithm = algorithm
    this.#counts = counts
    this.#keys = keyPair(algorithm)
    this.credentialId = randomBytes(32).toString('base64url')
  }

  /** The public key as a COSE key. */
  get publicKey(): Map<number, number | Uint8Array> {
    return coseKey(this.#keys.publicKey)
  }

  /** The response to a registration, with `none` as attestation. */
  create(options: CreationOptions, forged: Partial<Statement> & { readonly publicKey?: Uint8Array } = {}) {
    this.#userHandle = options.user.id
    const stated = this.#statement('webauthn.create', options.rp.id, options.challenge, forged)
    const id = Buffer.from(this.credentialId, 'base64url')
    const attested = [
      Buffer.alloc(16),
      Buffer.from([id.length >> 8, id.length & 255]),
      id,
      forged.publicKey ?? isoCBOR.encode(this.publicKey),
    ]
    const data = Buffer.concat([authenticatorData({ ...stated, flags: stated.flags | flags.AT }), ...attested])
    return this.#response({
      clientDataJSON: clientData(stated),
      attestationObject: attestation(data),
      transports: ['internal'],
    })
  }

  /** The response to a sign-in. `signedBy` replaces the key that signs. */
  get(options: RequestOptions, forged: Partial<Statement> & { readonly signedBy?: SoftwareAuthenticator } = {}) {
    const stated = this.#statement('webauthn.get', options.rpId, options.challenge, forged)
    const clientDataJSON = clientData(stated)
    const data = authenticatorData(stated)
    const signer = forged.signedBy ?? this
    return this.#response({
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: signer.#sign(Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))])),
      userHandle: this.#userHandle,
    })
  }

  #statement(type: string, rpId: string | undefined, challenge: string, forged: Partial<Statement>): Statement {
    if (this.#counts) this.#counter += 1
    return {
      origin: this.#origin,
      rpId: rpId ?? new URL(this.#origin).hostname,
      type,
      challenge,
      crossOrigin: false,
      flags: flags.UP | flags.UV,
      counter: this.#counter,
      ...forged,
    }
  }

  #response<R>(response: R) {
    const { credentialId: id } = this
    return { id, rawId: id, type: 'public-key' as const, response, clientExtensionResults: {} }
  }

  #sign(data: Uint8Array): string {
    const digest = this.#algorithm === 'EdDSA' ? null : 'sha256'
    return sign(digest, data, this.#keys.privateKey).toString('base64url')
  }
}

/** The attestation object around authenticator data. */
export function attestation(authData: Uint8Array, fmt = 'none'): string {
  const object = new Map<string, string | Uint8Array | Map<never, never>>([
    ['fmt', fmt],
    ['attStmt', new Map<never, never>()],
    ['authData', new Uint8Array(authData)],
  ])
  return Buffer.from(isoCBOR.encode(object)).toString('base64url')
}

function clientData({ type, challenge, origin, crossOrigin, topOrigin }: Statement): string {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin, topOrigin })).toString('base64url')
}

function authenticatorData({ rpId, flags, counter, extensions = Buffer.alloc(0) }: Statement): Buffer {
  const tail = Buffer.alloc(5)
  tail.writeUInt8(flags)
  tail.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(Buffer.from(rpId)), tail, extensions])
}

const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest()

function keyPair(algorithm: Algorithm) {
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** A public key as COSE writes it (RFC 9053). */
export function coseKey(key: KeyObject): Map<number, number | Uint8Array> {
  const { kty, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' })
  const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'))
  const entries: ReadonlyArray<readonly [number, number | Uint8Array]> =
    kty === 'RSA'
      ? [
          [1, 3],
          [3, -257],
          [-1, bytes(n)],
          [-2, bytes(e)],
        ]
      : kty === 'OKP'
        ? [
            [1, 1],
            [3, -8],
            [-1, 6],
            [-2, bytes(x)],
          ]
        : [
            [1, 2],
            [3, -7],
            [-1, 1],
            [-2, bytes(x)],
            [-3, bytes(y)],
          ]
  return new Map(entries)
}
