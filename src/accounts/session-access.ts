import { StoreUnavailable } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'

/** What a request records in its session. */
export interface Access {
  readonly lastAccess: Milliseconds
  readonly expires: Milliseconds
  readonly cookieSent: Milliseconds
}

/**
 * Records an access in a session, and returns that session: a copy for each request would be most of what the request leaves behind.
 * If several nodes record accesses, the latest counts, in whatever order they are written.
 */
export function touch<Accessed extends Access>(session: Accessed, access: Access): Accessed {
  const touched: { -readonly [Member in keyof Access]: Access[Member] } = session
  touched.lastAccess = Math.max(session.lastAccess, access.lastAccess)
  touched.expires = Math.max(session.expires, access.expires)
  touched.cookieSent = Math.max(session.cookieSent, access.cookieSent)
  return session
}

/** For what need not be written: without it the session is less fresh, or expires by itself. */
export const unlessUnreachable = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error
}
