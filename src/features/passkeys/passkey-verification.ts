import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'

/** Who asks for passkeys: browsers bind each passkey to this (WebAuthn, "Relying Party"). */
export interface RelyingParty {
  /** Host of the base address. */
  readonly id: string
  readonly origin: string
  /** Shown by browsers and authenticators. */
  readonly name: string
}

/** A passkey as stored: nothing of it is secret. */
export interface Passkey {
  /** Base64url, as in all messages of WebAuthn. */
  readonly credentialId: string
  /** COSE key in base64url. */
  readonly publicKey: string
  /** Signature counter of the authenticator; 0 if it has none. */
  readonly counter: number
  /** How browsers reach the authenticator, for instance `usb`, `internal`. */
  readonly transports: readonly string[]
  /** Whether the passkey may be copied to other devices. Never changes. */
  readonly isSyncable: boolean
}

/** The members of a browser's response to a registration that are used. */
export interface RegistrationResponse {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: readonly string[] | undefined
  }
}

/** The members of a browser's response to the use of a passkey that are used. */
export interface AssertionResponse {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string | null | undefined
  }
}

/** What a verified assertion states. */
interface Assertion {
  readonly counter: number
  /** Whether the authenticator has verified the user, by PIN or fingerprint. */
  readonly isUserVerified: boolean
}

/** Largest sizes in base64url characters. Credential ids have at most 1023 bytes (WebAuthn, 5.8.3). */
const MAX_ID = 1364
const MAX_CLIENT_DATA = 8192
const MAX_ATTESTATION = 32_768
const MAX_AUTHENTICATOR_DATA = 8192
const MAX_SIGNATURE = 2048
const MAX_TRANSPORTS = 8

/** ES256, RS256 and EdDSA (Ed25519), as numbered by COSE. EdDSA is last: Node 20 calls it experimental. */
export const ALGORITHMS = [-7, -257, -8] as const
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 8192

/** Loaded at the first use: it takes memory in each thread, and some services have no passkeys. */
const library = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')

/** What a client sent as an assertion; `undefined` if it does not have the form of one. Nothing has been verified. */
export function readAssertion(value: unknown): AssertionResponse | undefined {
  if (!isObject(value) || !isObject(value['response'])) return undefined
  const { id, response } = value
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  const isHandle = userHandle === undefined || userHandle === null || typeof userHandle === 'string'
  if (![id, clientDataJSON, authenticatorData, signature].every(isString) || !isHandle) return undefined
  return { id, response: { clientDataJSON, authenticatorData, signature, userHandle } } as AssertionResponse
}

const isString = (value: unknown): boolean => typeof value === 'string'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** The challenge that a response answers; `undefined` if the response is malformed. Nothing has been verified. */
export function challengeOf({ response }: RegistrationResponse | AssertionResponse): string | undefined {
  const data = clientDataOf(response.clientDataJSON)
  return typeof data?.['challenge'] === 'string' ? data['challenge'] : undefined
}

/**
 * Verifies the response to a registration (WebAuthn, 7.1). The attestation is not evaluated: passkeys of all makes are
 * accepted, and no certificate of a stranger is parsed or followed to an address.
 * @param challenge an issued challenge
 * @returns `undefined` for any response that is wrong
 */
export async function verifyRegistration(
  relyingParty: RelyingParty,
  { id, response }: RegistrationResponse,
  challenge: string,
  isUserVerificationRequired: boolean,
): Promise<Passkey | undefined> {
  const { clientDataJSON, attestationObject, transports = [] } = response
  if (!isText(id, MAX_ID) || !isText(attestationObject, MAX_ATTESTATION) || isFramed(clientDataJSON)) return undefined
  try {
    const checked: RegistrationResponseJSON = {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, attestationObject: await withoutAttestation(attestationObject) },
    }
    const { verifyRegistrationResponse } = await library()
    const { registrationInfo } = await verifyRegistrationResponse({
      response: checked,
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: isUserVerificationRequired,
      supportedAlgorithmIDs: [...ALGORITHMS],
    })
    // The key belongs to the id in the data of the authenticator; the id beside them is not signed.
    if (registrationInfo?.credential.id !== id) return undefined
    const { publicKey, counter } = registrationInfo.credential
    if (!(await isUsableKey(publicKey))) return undefined
    return {
      credentialId: id,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      counter,
      transports: transports.filter(name => /^[a-z-]{1,20}$/.test(name)).slice(0, MAX_TRANSPORTS),
      isSyncable: registrationInfo.credentialDeviceType === 'multiDevice',
    }
  } catch {
    // The library, and what it parses with, throw errors of many kinds for wrong input.
    return undefined
  }
}

/**
 * Verifies the response of a passkey (WebAuthn, 7.2), except for the counter and the user handle: the caller compares them with the stored
 * values.
 * @param challenge an issued challenge
 * @returns `undefined` for any wrong response
 */
export async function verifyAssertion(
  relyingParty: RelyingParty,
  { id, response }: AssertionResponse,
  challenge: string,
  passkey: Pick<Passkey, 'credentialId' | 'publicKey' | 'isSyncable'>,
  isUserVerificationRequired: boolean,
): Promise<Assertion | undefined> {
  const { clientDataJSON, authenticatorData, signature } = response
  if (id !== passkey.credentialId || isFramed(clientDataJSON)) return undefined
  if (!isText(authenticatorData, MAX_AUTHENTICATOR_DATA) || !isText(signature, MAX_SIGNATURE)) return undefined
  try {
    const checked: AuthenticationResponseJSON = {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature },
    }
    const { verifyAuthenticationResponse } = await library()
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: checked,
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: isUserVerificationRequired,
      // The library would compare the counter before the signature, and not atomically. The caller does it afterwards.
      credential: { id, publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')), counter: 0 },
    })
    const isSyncable = authenticationInfo.credentialDeviceType === 'multiDevice'
    if (!verified || isSyncable !== passkey.isSyncable) return undefined
    return { counter: authenticationInfo.newCounter, isUserVerified: authenticationInfo.userVerified }
  } catch {
    return undefined
  }
}

/**
 * Whether a text is base64url in canonical form: two spellings of a credential id must not count as two credentials.
 */
export function isText(value: unknown, maxLength: number): value is string {
  if (typeof value !== 'string' || value === '' || value.length > maxLength || !/^[\w-]+$/.test(value)) return false
  return Buffer.from(value, 'base64url').toString('base64url') === value
}

/** Whether a text can be the id of a credential. */
export const isCredentialId = (id: unknown): id is string => isText(id, MAX_ID)

function clientDataOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!isText(text, MAX_CLIENT_DATA)) return undefined
  try {
    const data: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return isObject(data) ? data : undefined
  } catch {
    return undefined
  }
}

/** Pages of this service are never shown inside pages of others, so a response from there is not the user's wish. */
function isFramed(clientDataJSON: string): boolean {
  const data = clientDataOf(clientDataJSON)
  return data === undefined || (data['crossOrigin'] ?? false) !== false || data['topOrigin'] !== undefined
}

/** The attestation object with the same authenticator data, and the statement "none". */
async function withoutAttestation(attestationObject: string): Promise<string> {
  const { isoCBOR } = await helpers()
  const decoded = isoCBOR.decodeFirst<Map<string, Uint8Array>>(Buffer.from(attestationObject, 'base64url'))
  const authData = decoded.get('authData')
  if (!(authData instanceof Uint8Array)) throw new TypeError('no authenticator data')
  const bare = new Map<string, string | Uint8Array | Map<never, never>>([
    ['fmt', 'none'],
    ['attStmt', new Map<never, never>()],
    ['authData', authData],
  ])
  return Buffer.from(isoCBOR.encode(bare)).toString('base64url')
}

const EC2 = { type: 2, algorithm: -7, curve: 1 }
const RSA = { type: 3, algorithm: -257 }
const OKP = { type: 1, algorithm: -8, curve: 6 }

/** Whether the COSE key is a complete key of one of the {@link ALGORITHMS}, of a size that is secure and cheap to verify. */
async function isUsableKey(publicKey: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const { isoCBOR } = await helpers()
  const key = isoCBOR.decodeFirst<Map<number, unknown>>(publicKey)
  const bytes = (label: number): string => {
    const value = key.get(label)
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : ''
  }
  const is = ({ type, algorithm, curve }: { type: number; algorithm: number; curve?: number }): boolean =>
    key.get(1) === type && key.get(3) === algorithm && (curve === undefined || key.get(-1) === curve)
  let jwk: JsonWebKey
  if (is(EC2)) jwk = { kty: 'EC', crv: 'P-256', x: bytes(-2), y: bytes(-3) }
  else if (is(OKP)) jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes(-2) }
  else if (is(RSA)) jwk = { kty: 'RSA', n: bytes(-1), e: bytes(-2) }
  else return false
  const { modulusLength: bits, publicExponent = 0n } =
    createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {}
  // Anyone can sign for the exponent 1, and no signature is right for 0.
  return bits === undefined || (bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS && publicExponent > 1n)
}
