import type { Audit } from '../accounts/audit.ts'
import type { Client } from '../accounts/sessions.ts'
import { findUserByName, insertUser, type User } from '../accounts/users.ts'
import { newEntry, userAcl } from '../model/entry.ts'
import { PRINCIPALS } from '../model/addresses.ts'
import type { Changes } from './changes.ts'
import { nextId } from './contexts.ts'

interface Dependencies {
  readonly changes: Changes
  readonly audit: Audit
}

/** Creates users whose identity an identity provider has verified (D8.4). */
export class Provisioning {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Creates a user without a password. @param name normalised. @throws {Conflict} `name-taken` */
  async createUser(name: string, client: Client): Promise<User> {
    const { changes, audit } = this.#deps
    const user = await changes.run(undefined, async writer => {
      const { tx, now } = writer
      const id = await nextId(tx, PRINCIPALS)
      await insertUser(tx, { id, name })
      const described = { context: PRINCIPALS, id, graphType: 'User', acl: userAcl(id) } as const
      await writer.insert(newEntry({ ...described, by: undefined, now }))
      return await findUserByName(tx, name)
    })
    if (!user) throw new Error('the user that was just created is missing')
    await audit.record({ event: 'user-created', userId: user.id, userName: user.name, address: client.address })
    return user
  }
}
