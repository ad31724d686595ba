import type { Caller } from '../accounts/caller.ts'
import { listUsers } from '../accounts/directory.ts'
import { ADMIN, findUser, findUserByName, normaliseName, type User } from '../accounts/users.ts'
import { NotFound, StartupError } from '../base/errors.ts'
import type { Database } from '../stores/database.ts'
import type { OperatorStore } from './operator-store.ts'

const PAGE = 1000

/** The caller with all rights. @throws {StartupError} in an empty store */
export async function operatorOf(database: Database): Promise<Caller> {
  const user = await findUser(database, ADMIN)
  if (!user)
    throw new StartupError('The store is empty. Restore a backup, or start the service once: it makes the first users.')
  return { user, groups: new Set(), client: { address: '', userAgent: '' }, isOperator: true }
}

/** The user whom a command names. @throws {NotFound} */
export async function userNamed({ database }: Pick<OperatorStore, 'database'>, name = ''): Promise<User> {
  const user = await findUserByName(database, normaliseName(name))
  if (!user) throw new NotFound('not-found', `There is no user "${name}". \`stowage user list\` lists all.`)
  return user
}

/** All users, by name. */
export async function* everybody({ database }: Pick<OperatorStore, 'database'>): AsyncIterable<User> {
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await listUsers(database, { query: undefined, limit: PAGE, offset })
    yield* items
    if (items.length < PAGE) return
  }
}
