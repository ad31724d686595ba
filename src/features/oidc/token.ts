import { createHash } from 'node:crypto'
import {
  createLocalJWKSet,
  errors,
  type JWK,
  type JWTClaimVerificationOptions,
  type JWTPayload,
  jwtVerify,
  type KeyInput,
  decodeJwt,
} from 'jose'
import { isTooCostly, isObject } from '../../base/json.ts'
import type { Milliseconds, Seconds } from '../../base/units.ts'
import { type SsoCheck, refused } from '../sso/refusal.ts'
import { isOidcCheck } from './refusals.ts'
import { type Attributes, valueAt } from '../sso/attributes.ts'
import { normaliseName } from '../../accounts/users.ts'

export interface VerifiedToken {
  readonly claims: JWTPayload
  readonly algorithm: string
}

export interface ExpectedToken {
  readonly issuer: string
  readonly audience: string
  /** JWKs as JSON texts. */
  readonly keys: readonly string[]
  readonly algorithms: readonly string[]
  readonly now: Milliseconds
  readonly clockSkew: Milliseconds
}

/** Maximum length of a token in characters; longer ones are refused unread. */
const MAX_CHARACTERS = 200_000

/** The checks of this file that fail when the provider has a new key; then the keys are loaded once more. */
export const unknownKeyChecks: readonly string[] = ['token-key', 'token-signature']

/**
 * Verifies a token that the provider has signed, in this order: size, algorithm, key, signature, issuer,
 * audience, times. Does no I/O.
 * Keys come from the provider's key set only: `jwk`, `jku` and `x5u` in the header are ignored. @throws
 * {SsoRefused}
 */
export async function verifyToken(token: string, expected: ExpectedToken): Promise<VerifiedToken> {
  const { issuer, audience } = expected
  return await verifySigned(token, expected, { issuer, audience, requiredClaims: ['iat'] })
}

/**
 * Verifies a signed response of the userinfo endpoint (OpenID Connect Core 5.3.2), which need not name issuer, audience and times.
 * @throws {SsoRefused}
 */
export async function verifyUserinfo(token: string, expected: ExpectedToken): Promise<VerifiedToken> {
  const { issuer, audience } = expected
  const verified = await verifySigned(token, expected, {})
  const { iss = issuer, aud = audience } = verified.claims
  if (iss !== issuer) throw refused('token-iss', issuer, showClaim(iss))
  if (![aud].flat().includes(audience)) throw refused('token-aud', audience, showClaim(aud))
  return verified
}

async function verifySigned(
  token: string,
  expected: ExpectedToken,
  claims: JWTClaimVerificationOptions,
): Promise<VerifiedToken> {
  if (token.length > MAX_CHARACTERS) {
    throw refused('token-size', `at most ${MAX_CHARACTERS} characters`, `${token.length} characters`)
  }
  const { now, clockSkew } = expected
  const options = {
    ...claims,
    algorithms: [...expected.algorithms],
    clockTolerance: clockSkew / 1000,
    currentDate: new Date(now),
  }
  const keys = expected.keys.map(text => JSON.parse(text) as JWK)
  const { payload, protectedHeader } = await withAnyKey(createLocalJWKSet({ keys }), async key => {
    return await jwtVerify(token, key as KeySet, options)
  }).catch((error: unknown) => {
    throw asRefusal(error, expected)
  })
  const { iat = 0 } = payload
  if (iat * 1000 > now + clockSkew) throw refused('token-iat', `at most ${showTime(now)}`, showTime(iat * 1000))
  return { claims: payload, algorithm: protectedHeader.alg }
}

interface ExpectedIdToken {
  readonly clientId: string
  readonly nonce: string
  /** Maximum time since the user authenticated at the provider. */
  readonly maxAge: Seconds | undefined
  readonly now: Milliseconds
  readonly clockSkew: Milliseconds
}

/**
 * Makes the checks of an ID token of the code flow that go beyond those of a verified token (OpenID Connect Core 3.1.3.7). With several
 * audiences, `azp` may be missing, as in the standard since its second errata: signature, nonce and PKCE tie the token to this sign-on.
 * @throws {SsoRefused}
 */
export function checkIdToken(
  { exp, sub, azp, nonce, auth_time: authenticated }: JWTPayload,
  { clientId, nonce: ours, maxAge, now, clockSkew }: ExpectedIdToken,
): void {
  if (exp === undefined) throw refused('token-exp', 'a time', 'none')
  if (typeof sub !== 'string' || sub === '') throw refused('token-sub', 'a text', showClaim(sub))
  if (nonce !== ours) throw refused('token-nonce', ours, showClaim(nonce))
  if (azp !== undefined && azp !== clientId) throw refused('token-azp', clientId, showClaim(azp))
  if (authenticated === undefined && maxAge === undefined) return
  const earliest = now - clockSkew - (maxAge ?? Infinity) * 1000
  if (typeof authenticated === 'number' && authenticated >= 0 && authenticated * 1000 >= earliest) return
  throw refused(
    'token-auth_time',
    maxAge === undefined ? 'a time' : `since ${showTime(earliest)}`,
    showClaim(authenticated),
  )
}

/** In the unit of {@link isTooCostly}: enough for ten thousand groups, and some hundred claims. */
const MAX_COST = 20_000

/** Whether a document of a provider, or the header or claims of a token, would take too long to parse on the thread that answers requests. */
export const isCostlyText = (text: string): boolean => isTooCostly(text, MAX_COST)
export const isCostlyToken = (token: string): boolean =>
  token.split('.', 2).some(part => isCostlyText(Buffer.from(part, 'base64url').toString('utf8')))

/**
 * Checks that the access token belongs to the ID token, if the ID token has `at_hash` (OpenID Connect Core
 * 3.1.3.6).
 * @throws {SsoRefused} `token-at_hash`
 */
export function requireAccessTokenHash({ claims, algorithm }: VerifiedToken, accessToken: string): void {
  const { at_hash: stated } = claims
  if (stated === undefined) return
  // The hash of the signature algorithm; Ed25519 uses SHA-512.
  const bits = /\d{3}$/.exec(algorithm)?.[0] ?? '512'
  const hash = createHash(algorithm === 'Ed25519' ? 'sha512' : `sha${bits}`)
    .update(accessToken)
    .digest()
  const expected = hash.subarray(0, hash.length / 2).toString('base64url')
  if (stated !== expected) throw refused('token-at_hash', expected, showClaim(stated))
}

type KeySet = ReturnType<typeof createLocalJWKSet>

/** A token without `kid` can belong to any key, so each one is tried. */
async function withAnyKey<T>(keySet: KeySet, verify: (key: KeySet | KeyInput) => Promise<T>): Promise<T> {
  try {
    return await verify(keySet)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return await verify(key)
      } catch (wrong) {
        if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function asRefusal(error: unknown, { issuer, audience, algorithms, now }: ExpectedToken): unknown {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const { claim, payload } = error
    const expectedOf: Readonly<Record<string, string>> = {
      iss: issuer,
      aud: audience,
      exp: `after ${showTime(now)}`,
      nbf: `before ${showTime(now)}`,
    }
    const expected = expectedOf[claim] ?? 'a value of the right type'
    return refused(checkOf(claim), expected, showClaim(payload[claim]), error)
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return refused('token-algorithm', algorithms.join(', '), error.message, error)
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return refused('token-key', 'a key of the provider', 'none that fits', error)
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return refused('token-signature', 'a signature by a key of the provider', 'another signature', error)
  }
  // Other errors concern the form of the token, or a header that is not supported.
  if (error instanceof errors.JOSEError) return refused('token-form', 'a signed token', error.message, error)
  // `node:crypto` rejects keys and signatures of the wrong length with errors of its own.
  const received = error instanceof Error ? error.message : 'an error'
  return refused('token-signature', 'a signature by a key of the provider', received, error)
}

/** The name of the check for a claim; claims without a check of their own count as part of the form of the token. */
function checkOf(claim: string): SsoCheck {
  const check = `token-${claim}`
  return isOidcCheck(check) ? check : 'token-form'
}

export const showClaim = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value))

const showTime = (time: Milliseconds): string => {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}

export type Claims = Attributes

export interface ClaimRules {
  /** The claim that becomes the name of a user. */
  readonly nameClaim: string
  /** Whether an e-mail address is accepted without `email_verified`. */
  readonly trustsUnverifiedEmail: boolean
  /** Further claims that this service reads. */
  readonly others: readonly string[]
}

/**
 * Merges the claims of the ID token and of the userinfo endpoint. A claim of the ID token wins, because it is signed. `email_verified` of
 * userinfo is dropped if the ID token has another e-mail address.
 */
export function mergeClaims(idToken: Claims, userinfo: Claims): Claims {
  const merged: Record<string, unknown> = { ...userinfo, ...idToken }
  const isOtherEmail = idToken['email'] !== undefined && idToken['email'] !== userinfo['email']
  if (isOtherEmail && idToken['email_verified'] === undefined) delete merged['email_verified']
  return merged
}

/** The name of the user, and whether the provider has verified it. @throws {SsoRefused} `name-claim` */
export function readName(
  claims: Claims,
  { nameClaim, trustsUnverifiedEmail }: ClaimRules,
): { readonly name: string; readonly nameIsUnverified: boolean } {
  const value = valueAt(claims, nameClaim)
  if (typeof value !== 'string' || value === '') {
    throw refused('name-claim', `the claim ${nameClaim}`, showClaim(value))
  }
  const { email, email_verified: verified } = claims
  // Some providers send the string "true" instead of the boolean.
  const isVerified = value === email && (verified === true || verified === 'true')
  // A value without @ is a user name at the provider, because the operator has chosen the claim.
  const isAddress = nameClaim === 'email' || normaliseName(value).includes('@')
  return { name: value, nameIsUnverified: isAddress && !isVerified && !trustsUnverifiedEmail }
}

/** Whether a claim that this service reads is missing, so that the userinfo endpoint must be asked. */
export function lacksClaims(claims: Claims, { nameClaim, trustsUnverifiedEmail, others }: ClaimRules): boolean {
  const needed = [nameClaim, ...others]
  if (!trustsUnverifiedEmail && nameClaim === 'email') needed.push('email_verified')
  return needed.some(name => valueAt(claims, name) === undefined)
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** A logout token without `exp` is accepted for this long after `iat`. */
const LOGOUT_TOKEN_TTL: Milliseconds = 600_000

/** The sessions that a provider asks to end. */
export interface LogoutRequest {
  /** Id of the session at the provider; if absent, all sessions of the subject end. */
  readonly sid: string | undefined
  readonly subject: string | undefined
  /** Id of the token, which is accepted once, and the time until which it must be remembered. */
  readonly once: { readonly id: string; readonly until: Milliseconds }
}

/**
 * Reads a logout token (OpenID Connect Back-Channel Logout 2.6) whose signature, issuer, audience and times have been checked.
 * @throws {SsoRefused}
 */
export function readLogoutToken(
  { events, nonce, jti, sub, sid, exp, iat = 0 }: JWTPayload,
  { now, clockSkew }: { readonly now: Milliseconds; readonly clockSkew: Milliseconds },
): LogoutRequest {
  const event = isObject(events) ? events[EVENT] : undefined
  if (!isObject(event)) throw refused('logout-events', EVENT, showClaim(events))
  // A token with a nonce may be an ID token, which must not end sessions.
  if (nonce !== undefined) throw refused('logout-nonce', 'no nonce', 'a nonce')
  if (typeof jti !== 'string' || jti === '') throw refused('logout-jti', 'a unique id', showClaim(jti))
  if (sid !== undefined && (typeof sid !== 'string' || sid === ''))
    throw refused('logout-sid', 'a text', showClaim(sid))
  if (sid === undefined && (sub === undefined || sub === '')) throw refused('logout-subject', 'sub or sid', 'neither')
  const until = (exp === undefined ? iat * 1000 + LOGOUT_TOKEN_TTL : exp * 1000) + clockSkew
  if (until <= now)
    throw refused('logout-iat', `issued less than ${LOGOUT_TOKEN_TTL / 60_000} minutes ago`, showClaim(iat))
  return { sid, subject: sub, once: { id: jti, until } }
}

/** The issuer and the audiences that a token claims, before it is verified; `undefined` if the text is no token, or an expensive one. */
export function issuerOf(
  token: string,
): { readonly issuer: unknown; readonly audiences: readonly unknown[] } | undefined {
  if (isCostlyToken(token)) return undefined
  try {
    const { iss, aud } = decodeJwt(token)
    return { issuer: iss, audiences: Array.isArray(aud) ? aud : [aud] }
  } catch {
    return undefined
  }
}
