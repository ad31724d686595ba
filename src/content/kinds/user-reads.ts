import { isAdmin } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { userLockoutKey, type Lockout } from '../../accounts/lockout.ts'
import { findUser, type User } from '../../accounts/users.ts'
import { NotFound } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { ResourceReads } from '../resource-kind.ts'

/** The user resource as clients see it (W2.6). */
interface UserDescription {
  readonly name?: string
  readonly homecontext?: string
  readonly language?: string
  readonly disabled?: true
  /** Shown to administrators: the user must choose a new password at the next sign-in (D33). */
  readonly temporaryPassword?: true
  /** End of a temporary lockout, UTC without a zone. */
  readonly disabledUntil?: string
  readonly customProperties: Readonly<Record<string, string>>
}

const describeUser = (caller: Caller, user: User, lockedUntil: Milliseconds | undefined): UserDescription => ({
  ...(user.name === undefined ? {} : { name: user.name }),
  ...(user.homeContext === undefined ? {} : { homecontext: user.homeContext }),
  ...(user.language === undefined ? {} : { language: user.language }),
  ...(user.disabled ? { disabled: true } : {}),
  ...(user.hasTemporaryPassword && isAdmin(caller) ? { temporaryPassword: true } : {}),
  ...(lockedUntil === undefined ? {} : { disabledUntil: new Date(lockedUntil).toISOString().replace(/Z$/, '') }),
  customProperties: user.customProperties,
})

export interface UserReadDependencies {
  readonly database: Database
  /** Absent in reader threads, which show no user. */
  readonly lockout?: Lockout | undefined
}

/** @throws {NotFound} */
export async function getUser(queries: Queries, id: string): Promise<User> {
  const user = await findUser(queries, id)
  if (!user) throw new NotFound('not-found', `There is no user "${id}".`)
  return user
}

export function userReads({ database, lockout }: UserReadDependencies): ResourceReads {
  const describe = async (caller: Caller, user: User): Promise<UserDescription> => {
    if (!lockout) throw new TypeError('users are shown where their lockouts are known')
    return describeUser(caller, user, await lockout.lockedUntil(userLockoutKey(user)))
  }
  return {
    async view(caller, { entry }) {
      const user = await findUser(database, entry.id)
      return { form: 'value', value: user ? await describe(caller, user) : {} }
    },
    /** A lockout changes what is shown without a change of the entry. */
    async content(caller, { entry }) {
      return {
        form: 'json',
        isVersioned: false,
        read: async () => await describe(caller, await getUser(database, entry.id)),
      }
    },
  }
}
