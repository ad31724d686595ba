import { insertGroup } from '../../accounts/groups.ts'
import { insertUser, ADMIN, ADMINS, GUEST, systemNames, USERS } from '../../accounts/users.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { everybody, type GraphType, newEntry } from '../../model/entry.ts'
import { CONTEXTS, PRINCIPALS } from '../../model/addresses.ts'
import type { Changes } from '../changes.ts'
import { findContext, insertContext } from '../contexts.ts'
import { insertTestData, type TestHashes } from './test-data.ts'

interface Initialisation {
  readonly database: Database
  readonly changes: Changes
  readonly ledger: Ledger
  /** Hashes the passwords of the test users, if the store gets test data; called only for a new store. */
  readonly testHashes: () => Promise<TestHashes | undefined>
}

const isInitialised = async (queries: Queries): Promise<boolean> => (await findContext(queries, CONTEXTS)) !== undefined

/**
 * Creates the system contexts and principals of a new store, and the test data if requested. Returns false and changes
 * nothing when they exist.
 */
export async function initialise(options: Initialisation): Promise<boolean> {
  const { database, changes, ledger } = options
  if (await isInitialised(database)) return false
  const testHashes = await options.testHashes()
  return await changes.run(undefined, async writer => {
    const { tx, now } = writer
    if (await isInitialised(tx)) return false
    const insert = (context: string, id: string, graphType: GraphType): Promise<void> =>
      writer.insert(newEntry({ context, id, graphType, by: undefined, now, acl: { mread: everybody } }))

    for (const context of [CONTEXTS, PRINCIPALS]) {
      await insertContext(tx, context, context)
      await ledger.open(tx, context)
    }
    for (const context of [CONTEXTS, PRINCIPALS]) await insert(CONTEXTS, context, 'SystemContext')
    for (const id of [GUEST, ADMIN] as const) {
      await insertUser(tx, { id, name: systemNames[id] })
      await insert(PRINCIPALS, id, 'User')
    }
    for (const id of [ADMINS, USERS] as const) {
      await insertGroup(tx, { id, name: systemNames[id] })
      await insert(PRINCIPALS, id, 'Group')
    }
    if (testHashes) await insertTestData(writer, ledger, testHashes)
    return true
  })
}
