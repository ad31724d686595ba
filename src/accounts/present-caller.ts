import type { Queries } from '../stores/database.ts'
import { type Caller, guestFrom, isGuest } from './caller.ts'
import { groupsOf } from './groups.ts'
import { isCurrent } from './sessions.ts'
import { findUser } from './users.ts'

/**
 * The caller as he is now, with the groups of now: nobody any more when he is gone or disabled, or when his login or
 * password has been ended. For what takes long between the head of a request and its effect.
 */
export async function presentCaller(queries: Queries, caller: Caller): Promise<Caller> {
  if (isGuest(caller)) return caller
  const user = await findUser(queries, caller.user.id)
  if (!user || user.disabled) return guestFrom(caller.client)
  const isGood = caller.session ? isCurrent(caller.session, user) : user.epoch === caller.user.epoch
  if (!isGood) return guestFrom(caller.client)
  return { ...caller, user, groups: new Set(await groupsOf(queries, user.id)) }
}
