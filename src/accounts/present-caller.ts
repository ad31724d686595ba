import { Unauthenticated } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import { type Caller, isGuest } from './caller.ts'
import { groupsOf } from './groups.ts'
import { isCurrent } from './sessions.ts'
import { findUser, type User } from './users.ts'

/**
 * Loads the caller again with their current state and groups. For actions where much time passes between the head of the
 * request and its effect.
 * @throws {Unauthenticated} if the account, session or access token has ended, or the password has changed meanwhile. Not downgraded to
 * guest: the change would still be recorded under the user's name.
 */
export async function presentCaller(queries: Queries, caller: Caller): Promise<Caller> {
  // The operator could write the rows without a command, so nothing of theirs can have ended.
  if (isGuest(caller) || caller.isOperator) return caller
  const user = await findUser(queries, caller.user.id)
  const isGood = user && !user.disabled && (await isStill(queries, caller, user))
  if (!isGood) throw new Unauthenticated('not-signed-in', 'Your session has ended. Sign in again.')
  return { ...caller, user, groups: new Set(await groupsOf(queries, user.id)) }
}

/** A user in the place of a caller, where the service acts for them; `undefined` when they are deleted or disabled. */
export async function findCaller(queries: Queries, id: string): Promise<Caller | undefined> {
  const user = await findUser(queries, id)
  if (!user || user.disabled) return undefined
  return { user, groups: new Set(await groupsOf(queries, id)), client: { address: '', userAgent: '' } }
}

/** Checks the caller's access token or session or, without them, the epoch under which their password was verified. */
async function isStill(queries: Queries, caller: Caller, user: User): Promise<boolean> {
  const { grant, session, user: before } = caller
  // A session that was ended by name has still the epoch of its user.
  if (caller.isStillValid && !(await caller.isStillValid(queries))) return false
  if (grant) return true
  return session ? isCurrent(session, user) : before.epoch === user.epoch && !user.hasSecondFactor
}
