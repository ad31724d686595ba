import { isObject } from '../../base/json.ts'
import { decodeJwt, type JWTPayload } from 'jose'
import type { Milliseconds } from '../../base/units.ts'
import { refused } from '../refusal.ts'
import { isCostlyToken, showClaim } from './token.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** A token without `exp` is accepted for this long after `iat`. */
const TTL: Milliseconds = 600_000

/** The sessions that a provider asks to end. */
export interface LogoutRequest {
  /** Id of the session at the provider; if absent, all sessions of the subject end. */
  readonly sid: string | undefined
  readonly subject: string | undefined
  /** Id of the token, which counts once, and the time until which it must be remembered. */
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
  const until = (exp === undefined ? iat * 1000 + TTL : exp * 1000) + clockSkew
  if (until <= now) throw refused('logout-iat', `issued less than ${TTL / 60_000} minutes ago`, showClaim(iat))
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
