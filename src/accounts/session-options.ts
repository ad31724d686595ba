import type { Milliseconds, Seconds } from '../base/units.ts'

/** The settings of all sessions. */
export interface SessionOptions {
  /**
   * Maximum lifetime without a request; -1: the cookie is a browser-session cookie and the server keeps the session for a
   * day (D2.5).
   */
  readonly maxAge: Seconds
  readonly refreshOnAccess: boolean
  /** Maximum lifetime from the sign-in on, regardless of requests (D2.6); -1 for no end. */
  readonly absoluteMaxAge: Seconds
  /** Maximum number of live sessions of one user; a new one ends the oldest (D2.6). */
  readonly maxPerUser: number
  /** An access is written when the stored time of the last access is at least this old; 0: every access is written. */
  readonly accessInterval: Milliseconds
  /** Told which user has lost a session, by whatever has ended it. */
  readonly onEnd?: (userId: string) => Promise<void>
}

/** The lifetime of one session, where it differs from the settings. */
export interface SessionLifetime {
  /** `auth_maxage`, at least 1; limited to the maximum (D2.3). */
  readonly requested?: Seconds | undefined
  /**
   * Replaces the configured maximum, with the same meaning of -1. Sessions by an identity provider have a maximum of their own
   * (I5.3, 5.4).
   */
  readonly maximum?: Seconds | undefined
  /** The session ends no later than this wall-clock time. */
  readonly notAfter?: Milliseconds | undefined
  /** When the identity provider authenticated the user, wall clock; 0 if that is unknown, absent if it was now. */
  readonly authenticated?: Milliseconds | undefined
  /** Name of the identity provider. */
  readonly provider?: string | undefined
  /** The sign-in included a second factor. */
  readonly hasSecondFactor?: boolean
  /** That factor was checked by the identity provider. */
  readonly hasProviderFactor?: boolean
  /** By each of these the identity provider can end the session; unique among all providers. */
  readonly logoutKeys?: readonly string[] | undefined
  readonly providerSession?: string | undefined
}
