import type { Audit } from '../accounts/audit.ts'
import type { Client } from '../accounts/sessions.ts'
import { findUserByName, insertUser, type User } from '../accounts/users.ts'
import type { System } from '../base/system.ts'
import type { Database } from '../stores/database.ts'
import { userAcl } from '../model/acl.ts'
import { PRINCIPALS } from '../model/addresses.ts'
import { nextId } from './contexts.ts'
import { newEntry } from '../model/entry.ts'
import { insertEntry } from './entry-records.ts'

interface Dependencies {
  readonly database: Database
  readonly audit: Audit
  readonly system: System
}

/** Makes users that nobody created by hand: those an identity provider vouches for (D8.4). */
export class Provisioning {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** A user without a password. @param name normalised. @throws {Conflict} `name-taken` */
  async createUser(name: string, client: Client): Promise<User> {
    const { database, audit, system } = this.#deps
    const user = await database.transaction(async tx => {
      const id = await nextId(tx, PRINCIPALS)
      await insertUser(tx, { id, name })
      const described = { context: PRINCIPALS, id, graphType: 'User', acl: userAcl(id) } as const
      await insertEntry(tx, newEntry({ ...described, by: undefined, now: system.now() }))
      return await findUserByName(tx, name)
    })
    if (!user) throw new Error('the user just made is not there')
    await audit.record({ event: 'user-created', userId: user.id, userName: user.name, address: client.address })
    return user
  }
}
