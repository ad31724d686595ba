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

const HANDLE = /^[\w-]{43}\.([\w-]{1,128})$/

/** The id of the user whose session a handle names; `undefined` for a token, and for any text that is no handle. */
export const userOfHandle = (handle: string): string | undefined => HANDLE.exec(handle)?.[1]
