import { insertGroup, setHomeContext, setMembers } from '../../accounts/groups.ts'
import type { Passwords } from '../../accounts/passwords.ts'
import { ADMIN, ADMINS, GUEST, insertUser, systemNames, USERS } from '../../accounts/users.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { Database, Queries } from '../../stores/database.ts'
import {
  type Acl,
  everybody,
  type GraphType,
  groupAcl,
  newEntry,
  type NewEntry,
  resourceOf,
  userAcl,
} from '../../model/entry.ts'
import { CONTEXTS, metadataUri, PRINCIPALS, principalUri } from '../../model/addresses.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import { findContext, insertContext, nextId } from '../contexts.ts'
import { emptyGraph, type Graph, graphText, literal, type Term } from '../../graph/graph.ts'
import { dct } from '../../graph/vocabulary.ts'
import { replaceListMembers } from '../list-records.ts'

interface Initialisation {
  readonly database: Database
  readonly changes: Changes
  readonly ledger: Ledger
  readonly withTestData: boolean
  /** Hashes the passwords of the test users. */
  readonly passwords: Pick<Passwords, 'hash'>
}

const isInitialised = async (queries: Queries): Promise<boolean> => (await findContext(queries, CONTEXTS)) !== undefined

/**
 * Creates the system contexts and principals of a new store, and the test data if requested. Returns false and changes
 * nothing when they exist.
 */
export async function initialise(options: Initialisation): Promise<boolean> {
  const { database, changes, ledger } = options
  if (await isInitialised(database)) return false
  const testHashes = options.withTestData ? await hashTestPasswords(options.passwords) : undefined
  return await changes.run(undefined, async writer => {
    const { tx, now } = writer
    if (await isInitialised(tx)) return false
    const insert = async (context: string, id: string, graphType: GraphType, said?: Said): Promise<void> => {
      const entry = newEntry({ context, id, graphType, by: undefined, now, acl: { mread: everybody } })
      await writer.insert(said ? { ...entry, metadata: graphText({ [resourceOf(entry)]: said }) } : entry)
    }

    for (const context of [CONTEXTS, PRINCIPALS]) {
      await insertContext(tx, context, context)
      await ledger.open(tx, context)
    }
    for (const context of [CONTEXTS, PRINCIPALS]) await insert(CONTEXTS, context, 'SystemContext')
    for (const id of [GUEST, ADMIN] as const) {
      await insertUser(tx, { id, name: systemNames[id] })
      await insert(PRINCIPALS, id, 'User', described[id])
    }
    for (const id of [ADMINS, USERS] as const) {
      await insertGroup(tx, { id, name: systemNames[id] })
      await insert(PRINCIPALS, id, 'Group', described[id])
    }
    if (testHashes) await insertTestData(writer, ledger, testHashes)
    return true
  })
}

const english = (text: string): Term => ({ type: 'literal', value: text, lang: 'en' })
const describe = (title: string, description: string): Said => ({
  [dct.title]: [english(title)],
  [dct.description]: [english(description)],
})

/** What clients show in place of the ids. A step of the schema has the same for older stores. */
const described: Readonly<Record<typeof ADMIN | typeof GUEST | typeof ADMINS | typeof USERS, Said>> = {
  [ADMIN]: describe('Admin user', 'Has all rights.'),
  [GUEST]: describe('Guest user', 'Stands for everyone who has not signed in.'),
  [ADMINS]: describe('Administrators', 'Members of this group have all rights.'),
  [USERS]: describe('All users', 'Everyone who has signed in is a member of this group.'),
}

/** Publicly known passwords; they meet the default rules (W5.1). */
const passwords = { donald: 'donaldDonald12', daisy: 'daisyDaisy34', mickey: 'mickeyMickey56' } as const
type TestUser = keyof typeof passwords
type TestHashes = Readonly<Record<TestUser, string>>

/** Runs before the transaction begins, because hashing is slow. */
const hashTestPasswords = async (hasher: Pick<Passwords, 'hash'>): Promise<TestHashes> => ({
  donald: await hasher.hash(passwords.donald),
  daisy: await hasher.hash(passwords.daisy),
  mickey: await hasher.hash(passwords.mickey),
})

const titled = (title: string, subject?: string): Said => ({
  [dct.title]: [english(title)],
  ...(subject === undefined ? {} : { [dct.subject]: [literal(subject)] }),
})

type Said = Graph[string]
type Described = Omit<NewEntry, 'context' | 'id' | 'by' | 'now' | 'metadata'> & { readonly said?: Said }

const [donald, daisy, mickey, friends, nameless] = ['1', '2', '3', '4', '5'] as const
const [duck, mouse] = ['1', '2'] as const

/** In the order of their ids, which are the first numbers of `_principals`. */
const users = [
  { id: donald, name: 'donald', said: titled('Donald Duck', 'duck') },
  { id: daisy, name: 'daisy', said: titled('Daisy Duck', 'duck') },
  { id: mickey, name: 'mickey', said: titled('Mickey Mouse', 'mouse') },
] as const

const duckEntries: readonly Described[] = [
  {
    entryType: 'Reference',
    graphType: 'User',
    externalResource: principalUri(mickey),
    externalMetadata: metadataUri({ context: PRINCIPALS, id: mickey }),
  },
  { graphType: 'List', said: titled('Pages about ducks') },
  { entryType: 'Link', externalResource: 'https://example.org/ducks/mallard', said: titled('The mallard') },
  { entryType: 'Link', externalResource: 'https://example.org/ducks/teal', said: titled('The teal') },
  { resourceType: 'NamedResource', said: titled('Huey', 'nephew') },
  { said: { ...titled('A picture to come'), [dct.format]: [literal('image/jpeg')] } },
]
const pages = { list: { context: duck, id: '2' }, members: ['3', '4'] }

const mouseEntries: readonly Described[] = [
  { entryType: 'Link', externalResource: 'https://example.org/mice', said: titled('Mice') },
  {
    entryType: 'Link',
    externalResource: 'https://example.org/cheese',
    acl: { mread: [principalUri(daisy)] },
    said: titled('Cheese for Daisy'),
  },
]

/**
 * Fills a new store with the users, groups, contexts and entries that the tests of existing clients expect
 * (W5.1). Runs inside the transaction that initialises the store.
 */
async function insertTestData(writer: EntryWriter, ledger: Ledger, hashes: TestHashes): Promise<void> {
  const { tx, now } = writer
  const write = async (context: string, id: string, { said, ...described }: Described): Promise<void> => {
    const bare = newEntry({ context, id, by: ADMIN, now, ...described })
    const entry = { ...bare, metadata: graphText(said === undefined ? emptyGraph : { [resourceOf(bare)]: said }) }
    await writer.insert(entry)
  }
  const insert = async (context: string, described: Described): Promise<string> => {
    const id = await nextId(tx, context)
    await write(context, id, described)
    return id
  }
  // The name first, because it is indexed with the entry.
  const open = async (name: string, acl: Acl): Promise<void> => {
    const id = await nextId(tx, CONTEXTS)
    await insertContext(tx, id, name)
    await write(CONTEXTS, id, { graphType: 'Context', acl })
    await ledger.open(tx, id)
  }

  for (const { id, name, said } of users) {
    await insertUser(tx, { id, name, password: hashes[name] })
    await insert(PRINCIPALS, { graphType: 'User', acl: userAcl(id), said })
  }
  await insertGroup(tx, { id: friends, name: 'friendsofmickey' })
  const friendsAcl = { ...groupAcl(friends), mread: [...(groupAcl(friends).mread ?? []), ...everybody] }
  await insert(PRINCIPALS, { graphType: 'Group', acl: friendsAcl, said: titled('Friends of Mickey') })
  await setMembers(tx, friends, [donald, mickey])
  await insertUser(tx, { id: nameless })
  await insert(PRINCIPALS, { graphType: 'User', acl: userAcl(nameless) })

  await open('duck', { admin: [donald, daisy].map(principalUri), mread: everybody, rread: everybody })
  const group = [principalUri(friends)]
  await open('mouse', { admin: [principalUri(mickey)], mread: everybody, rread: group, rwrite: group })
  await setHomeContext(tx, donald, duck)
  await setHomeContext(tx, mickey, mouse)
  for (const described of duckEntries) await insert(duck, described)
  for (const described of mouseEntries) await insert(mouse, described)
  await replaceListMembers(
    tx,
    pages.list,
    pages.members.map(id => ({ id, isTrusted: true })),
  )
}
