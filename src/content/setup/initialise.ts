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
    const insert = async (
      context: string,
      id: string,
      graphType: GraphType,
      properties?: Properties,
    ): Promise<void> => {
      const entry = newEntry({ context, id, graphType, by: undefined, now, acl: { mread: everybody } })
      await writer.insert(properties ? { ...entry, metadata: graphText({ [resourceOf(entry)]: properties }) } : entry)
    }

    for (const context of [CONTEXTS, PRINCIPALS]) {
      await insertContext(tx, context, context)
      await ledger.open(tx, context)
    }
    for (const context of [CONTEXTS, PRINCIPALS]) await insert(CONTEXTS, context, 'SystemContext')
    for (const id of [GUEST, ADMIN] as const) {
      await insertUser(tx, { id, name: systemNames[id] })
      await insert(PRINCIPALS, id, 'User', descriptions[id])
    }
    for (const id of [ADMINS, USERS] as const) {
      await insertGroup(tx, { id, name: systemNames[id] })
      await insert(PRINCIPALS, id, 'Group', descriptions[id])
    }
    if (testHashes) await insertTestData(writer, ledger, testHashes)
    return true
  })
}

const english = (text: string): Term => ({ type: 'literal', value: text, lang: 'en' })
const titleAndDescription = (title: string, description: string): Properties => ({
  [dct.title]: [english(title)],
  [dct.description]: [english(description)],
})

/** What clients show in place of the ids. A step of the schema gives older stores the same texts. */
const descriptions: Readonly<Record<typeof ADMIN | typeof GUEST | typeof ADMINS | typeof USERS, Properties>> = {
  [ADMIN]: titleAndDescription('Admin user', 'Has all rights.'),
  [GUEST]: titleAndDescription('Guest user', 'Stands for everyone who has not signed in.'),
  [ADMINS]: titleAndDescription('Administrators', 'Members of this group have all rights.'),
  [USERS]: titleAndDescription('All users', 'Everyone who has signed in is a member of this group.'),
}

/** Publicly known passwords; they meet the default rules (W5.1). */
const testPasswords = { donald: 'donaldDonald12', daisy: 'daisyDaisy34', mickey: 'mickeyMickey56' } as const
type TestUser = keyof typeof testPasswords
type TestHashes = Readonly<Record<TestUser, string>>

/** Runs before the transaction begins, because hashing is slow. */
const hashTestPasswords = async (hasher: Pick<Passwords, 'hash'>): Promise<TestHashes> => ({
  donald: await hasher.hash(testPasswords.donald),
  daisy: await hasher.hash(testPasswords.daisy),
  mickey: await hasher.hash(testPasswords.mickey),
})

const titled = (title: string, subject?: string): Properties => ({
  [dct.title]: [english(title)],
  ...(subject === undefined ? {} : { [dct.subject]: [literal(subject)] }),
})

/** The statements about one resource: its predicates and their objects. */
type Properties = Graph[string]
type TestEntry = Omit<NewEntry, 'context' | 'id' | 'by' | 'now' | 'metadata'> & { readonly properties?: Properties }

/** The tests of existing clients use these ids: the first numbers of `_principals` and `_contexts`. */
const [donald, daisy, mickey, friends, nameless] = ['1', '2', '3', '4', '5'] as const
const [duck, mouse] = ['1', '2'] as const

/** In the order of their ids. */
const users = [
  { id: donald, name: 'donald', properties: titled('Donald Duck', 'duck') },
  { id: daisy, name: 'daisy', properties: titled('Daisy Duck', 'duck') },
  { id: mickey, name: 'mickey', properties: titled('Mickey Mouse', 'mouse') },
] as const

const duckEntries: readonly TestEntry[] = [
  {
    entryType: 'Reference',
    graphType: 'User',
    externalResource: principalUri(mickey),
    externalMetadata: metadataUri({ context: PRINCIPALS, id: mickey }),
  },
  { graphType: 'List', properties: titled('Pages about ducks') },
  { entryType: 'Link', externalResource: 'https://example.org/ducks/mallard', properties: titled('The mallard') },
  { entryType: 'Link', externalResource: 'https://example.org/ducks/teal', properties: titled('The teal') },
  { resourceType: 'NamedResource', properties: titled('Huey', 'nephew') },
  { properties: { ...titled('A picture to come'), [dct.format]: [literal('image/jpeg')] } },
]
/** Entries of `duckEntries`: the list, and the links that it contains. */
const pages = { list: { context: duck, id: '2' }, members: ['3', '4'] }

const mouseEntries: readonly TestEntry[] = [
  { entryType: 'Link', externalResource: 'https://example.org/mice', properties: titled('Mice') },
  {
    entryType: 'Link',
    externalResource: 'https://example.org/cheese',
    acl: { mread: [principalUri(daisy)] },
    properties: titled('Cheese for Daisy'),
  },
]

/**
 * Fills a new store with the users, groups, contexts and entries that the tests of existing clients expect
 * (W5.1). Runs inside the transaction that initialises the store.
 */
async function insertTestData(writer: EntryWriter, ledger: Ledger, hashes: TestHashes): Promise<void> {
  const { tx, now } = writer
  const write = async (context: string, id: string, { properties, ...members }: TestEntry): Promise<void> => {
    const bare = newEntry({ context, id, by: ADMIN, now, ...members })
    const graph = properties === undefined ? emptyGraph : { [resourceOf(bare)]: properties }
    await writer.insert({ ...bare, metadata: graphText(graph) })
  }
  /** Takes the next number of the context. @throws {TypeError} if it is not the id that the test data expect */
  const takeId = async (context: string, expected: string): Promise<void> => {
    const id = await nextId(tx, context)
    if (id !== expected)
      throw new TypeError(`the test data expect the id ${expected} in ${context}, but the next is ${id}`)
  }
  const insert = async (context: string, id: string, entry: TestEntry): Promise<void> => {
    await takeId(context, id)
    await write(context, id, entry)
  }
  // The name first, because it is indexed with the entry.
  const open = async (id: string, name: string, acl: Acl): Promise<void> => {
    await takeId(CONTEXTS, id)
    await insertContext(tx, id, name)
    await write(CONTEXTS, id, { graphType: 'Context', acl })
    await ledger.open(tx, id)
  }

  for (const { id, name, properties } of users) {
    await insertUser(tx, { id, name, password: hashes[name] })
    await insert(PRINCIPALS, id, { graphType: 'User', acl: userAcl(id), properties })
  }
  await insertGroup(tx, { id: friends, name: 'friendsofmickey' })
  const friendsAcl = { ...groupAcl(friends), mread: [...(groupAcl(friends).mread ?? []), ...everybody] }
  await insert(PRINCIPALS, friends, { graphType: 'Group', acl: friendsAcl, properties: titled('Friends of Mickey') })
  await setMembers(tx, friends, [donald, mickey])
  await insertUser(tx, { id: nameless })
  await insert(PRINCIPALS, nameless, { graphType: 'User', acl: userAcl(nameless) })

  await open(duck, 'duck', { admin: [donald, daisy].map(principalUri), mread: everybody, rread: everybody })
  const group = [principalUri(friends)]
  await open(mouse, 'mouse', { admin: [principalUri(mickey)], mread: everybody, rread: group, rwrite: group })
  await setHomeContext(tx, donald, duck)
  await setHomeContext(tx, mickey, mouse)
  for (const [index, entry] of duckEntries.entries()) await insert(duck, String(index + 1), entry)
  for (const [index, entry] of mouseEntries.entries()) await insert(mouse, String(index + 1), entry)
  await replaceListMembers(
    tx,
    pages.list,
    pages.members.map(id => ({ id, isTrusted: true })),
  )
}
