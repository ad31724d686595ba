import { isObject } from '../../base/json.ts'
import { decodeJwt, type JWTPayload } from 'jose'
import type { Milliseconds } from '../../base/units.ts'
import type { SsoCheck } from '../checks.ts'
import { SsoRefused } from '../refusal.ts'
import { showClaim } from './token.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** A token without an end is accepted for so long after it was issued. */
const TTL: Milliseconds = 600_000

/** Which logins a provider wants ended. */
export interface LogoutRequest {
  /** The session at the provider; without it all logins of the subject. */
  readonly sid: string | undefined
  readonly subject: string | undefined
  /** Each token counts once, until it is refused by its age. */
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
  // An ID token has a nonce: it cannot be used to end logins.
  if (nonce !== undefined) throw refused('logout-nonce', 'no nonce', 'a nonce')
  if (typeof jti !== 'string' || jti === '') throw refused('logout-jti', 'a unique id', showClaim(jti))
  if (sid !== undefined && (typeof sid !== 'string' || sid === ''))
    throw refused('logout-sid', 'a text', showClaim(sid))
  if (sid === undefined && (sub === undefined || sub === '')) throw refused('logout-subject', 'sub or sid', 'neither')
  const until = (exp === undefined ? iat * 1000 + TTL : exp * 1000) + clockSkew
  if (until <= now) throw refused('logout-iat', `issued less than ${TTL / 60_000} minutes ago`, showClaim(iat))
  return { sid, subject: sub, once: { id: jti, until } }
}

/** The issuer and the audiences that a token states, before anything of it is checked; `undefined` if it is no token. */
export function issuerOf(
  token: string,
): { readonly issuer: unknown; readonly audiences: readonly unknown[] } | undefined {
  try {
    const { iss, aud } = decodeJwt(token)
    return { issuer: iss, audiences: Array.isArray(aud) ? aud : [aud] }
  } catch {
    return undefined
  }
}

const refused = (check: SsoCheck, expected: string, received: string): SsoRefused =>
  new SsoRefused({ check, expected, received })
