import { type Caller, denied, isAdmin } from '../accounts/caller.ts'
import { findUserByName, normaliseName, type User } from '../accounts/users.ts'
import { NotFound } from '../base/errors.ts'
import type { Uses } from './services.ts'

/** The user with this name. @throws {NotFound} */
export async function userNamed({ database }: Uses<'database'>, name: string): Promise<User> {
  const user = await findUserByName(database, normaliseName(name))
  if (!user) throw new NotFound('not-found', `There is no user "${name}".`)
  return user
}

/**
 * The user whom a request is about: the caller, unless it names someone else, which only admins may.
 * @param action what others may not do, for the refusal @throws {Forbidden} @throws {NotFound}
 */
export async function askedUser(
  deps: Uses<'database'>,
  caller: Caller,
  name: string | undefined,
  action: string,
): Promise<User> {
  if (name === undefined || normaliseName(name) === caller.user.name) return caller.user
  if (!isAdmin(caller)) throw denied(caller, action)
  return await userNamed(deps, name)
}
