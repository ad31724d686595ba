import { Unauthenticated } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import { type Caller, isGuest } from './caller.ts'
import { groupsOf } from './groups.ts'
import { isCurrent } from './sessions.ts'
import { findUser } from './users.ts'

/**
 * Loads the caller again with their current state and groups. For actions where much time passes between the head of the
 * request and its effect.
 * @throws {Unauthenticated} if the account or login has ended, or the password has changed meanwhile. Not downgraded to
 * guest: the change would still be recorded under the user's name.
 */
export async function presentCaller(queries: Queries, caller: Caller): Promise<Caller> {
  if (isGuest(caller)) return caller
  const user = await findUser(queries, caller.user.id)
  const isGood = user && !user.disabled && isStill(caller, user)
  if (!isGood) throw new Unauthenticated('not-signed-in', 'Your session has ended. Sign in again.')
  return { ...caller, user, groups: new Set(await groupsOf(queries, user.id)) }
}

/** Checks the caller's session or, without a session, the epoch under which their password was verified. */
const isStill = ({ session, user: before }: Caller, user: Caller['user']): boolean =>
  session ? isCurrent(session, user) : before.epoch === user.epoch
