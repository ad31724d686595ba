import { createHash } from 'node:crypto'

interface Owned {
  readonly token: string
  readonly userId: string
}

/**
 * A name for a session that other users may see. With the handle a permitted user can end the session, but cannot use it. It
 * contains a dot, which no token does.
 */
export const handleOf = ({ token, userId }: Owned): string =>
  `${createHash('sha256').update(`handle\n${token}`).digest('base64url')}.${userId}`

/** The id of the user whose session a handle names; `undefined` for a token. */
export function userOfHandle(handle: string): string | undefined {
  const dot = handle.indexOf('.')
  return dot < 0 ? undefined : handle.slice(dot + 1)
}
