import { Unauthenticated } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import { type Caller, isGuest } from './caller.ts'
import { groupsOf } from './groups.ts'
import { isCurrent } from './sessions.ts'
import { findUser } from './users.ts'

/**
 * The caller as he is now, with the groups of now. For what takes long between the head of a request and its effect.
 * @throws {Unauthenticated} when he is gone or disabled, or his login or password has been ended; not even as a guest does he go on,
 *   for what he does would be noted as his
 */
export async function presentCaller(queries: Queries, caller: Caller): Promise<Caller> {
  if (isGuest(caller)) return caller
  const user = await findUser(queries, caller.user.id)
  const isGood = user && !user.disabled && isStill(caller, user)
  if (!isGood) throw new Unauthenticated('not-signed-in', 'Your login has been ended meanwhile. Sign in again.')
  return { ...caller, user, groups: new Set(await groupsOf(queries, user.id)) }
}

/** By his login, or without one by the epoch under which his password was found right. */
const isStill = ({ session, user: before }: Caller, user: Caller['user']): boolean =>
  session ? isCurrent(session, user) : before.epoch === user.epoch
