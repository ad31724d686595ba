import { parseStored } from '../../base/json.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { CredentialKind } from '../../accounts/credential-kinds.ts'
import { groupsOf } from '../../accounts/groups.ts'
import type { Client, Session, Sessions } from '../../accounts/sessions.ts'
import type { TokenGrant } from '../../accounts/token-scopes.ts'
import { findUser } from '../../accounts/users.ts'
import type { Database } from '../../stores/database.ts'

interface Dependencies {
  readonly database: Database
  readonly sessions: Sessions
  readonly credentials: readonly CredentialKind[]
}

/** How the maker of an operation was recognised. It contains no secret, so nobody can sign in with it. */
interface Credential {
  readonly client: Client
  readonly epoch: number
  readonly grant?: TokenGrant
  /** The id of the session; absent if it is in the memory of the process. */
  readonly session?: Pick<Session, 'id'>
}

/** As text for the row of the operation. */
export function credentialOf({ client: { address, userAgent }, user, grant, session }: Caller): string {
  const client = { address, userAgent }
  const known = session && { session: { id: session.id } }
  return JSON.stringify({ client, epoch: user.epoch, ...(grant && { grant }), ...known })
}

/**
 * The maker of an operation that another process has begun, with the same session or access token; `undefined` when it is known that this has
 * ended. Each portion checks again that it has not.
 */
export async function callerFrom(
  { database, sessions, credentials }: Dependencies,
  maker: string,
  text: string,
): Promise<Caller | undefined> {
  const { client, epoch, grant, session } = parseStored<Credential>(text)
  const user = await findUser(database, maker)
  // A session without an id was in the memory of a process that has ended.
  if (!user || (session && session.id === undefined)) return undefined
  const caller = { user: { ...user, epoch }, groups: new Set(await groupsOf(database, maker)), client }
  if (session?.id !== undefined) {
    // With its token, which tells whether a new password has kept it.
    const whole = await sessions.findById(session.id)
    if (whole?.userId !== maker) return undefined
    return { ...caller, session: whole, isStillValid: queries => sessions.isLive(whole, queries) }
  }
  if (!grant) return caller
  const kind = credentials.find(({ isStillValid }) => isStillValid !== undefined)
  return { ...caller, grant, isStillValid: async queries => (await kind?.isStillValid?.(queries, grant)) === true }
}
