import type { AuditEntry } from '../accounts/audit.ts'
import { insertGroup } from '../accounts/groups.ts'
import type { Client } from '../accounts/sessions.ts'
import { findUserByName, insertUser, type User } from '../accounts/users.ts'
import { type Graph, graphText, literal, objectsOf, parseGraph, type Term, uri } from '../graph/graph.ts'
import { foaf } from '../graph/vocabulary.ts'
import { markProvisioned } from '../files/quota-owners.ts'
import { PRINCIPALS } from '../model/addresses.ts'
import { type Entry, groupAcl, newEntry, resourceOf, userAcl } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import type { Changes, EntryWriter } from './changes.ts'
import { nextId } from './contexts.ts'
import { findEntry } from './entry-records.ts'
import { withStatement } from './info.ts'

/** What the metadata of a user say about the person: full name and e-mail address. */
export interface PersonalData {
  readonly name?: string
  readonly email?: string
}

/** Reads the first full name and the first e-mail address in the metadata of a user. */
export async function personalDataOf(queries: Queries, userId: string): Promise<PersonalData> {
  const entry = await findEntry(queries, { context: PRINCIPALS, id: userId })
  return entry ? personalDataIn(entry) : {}
}

function personalDataIn(entry: Entry): PersonalData {
  const metadata = parseGraph(entry.metadata)
  const [name] = objectsOf(metadata, resourceOf(entry), foaf.name)
  const [mbox] = objectsOf(metadata, resourceOf(entry), foaf.mbox)
  return {
    ...(name ? { name: name.value } : {}),
    ...(mbox ? { email: mbox.value.replace(/^mailto:/i, '') } : {}),
  }
}

/** Makes the changes of a sign-on whose identity a provider has verified (D8.4, D27). */
export class Provisioning {
  readonly #changes: Changes

  constructor(changes: Changes) {
    this.#changes = changes
  }

  /** Runs the work in one transaction; its events are in the audit log with the address of the client. */
  async run<T>(client: Client, work: (provisioner: Provisioner) => Promise<T>): Promise<T> {
    return await this.#changes.run(undefined, writer => work(new Provisioner(writer)), { address: client.address })
  }
}

/** Creates and changes users and groups inside one transaction. */
export class Provisioner {
  readonly tx: Queries
  readonly #writer: EntryWriter

  constructor(writer: EntryWriter) {
    this.tx = writer.tx
    this.#writer = writer
  }

  /** Creates a user without a password. @param name normalised. @throws {Conflict} `name-taken` */
  async createUser(name: string): Promise<User> {
    const id = await nextId(this.tx, PRINCIPALS)
    await insertUser(this.tx, { id, name })
    await markProvisioned(this.tx, id)
    const described = { context: PRINCIPALS, id, graphType: 'User', acl: userAcl(id) } as const
    await this.#writer.insert(newEntry({ ...described, by: undefined, now: this.#writer.now }))
    const user = await findUserByName(this.tx, name)
    if (!user) throw new Error('the user that was just created is missing')
    this.record({ event: 'user-created', userId: id, userName: name })
    return user
  }

  /** Creates a group without members and returns its id. @param name normalised. @throws {Conflict} `name-taken` */
  async createGroup(name: string): Promise<string> {
    const id = await nextId(this.tx, PRINCIPALS)
    await insertGroup(this.tx, { id, name })
    const described = { context: PRINCIPALS, id, graphType: 'Group', acl: groupAcl(id) } as const
    await this.#writer.insert(newEntry({ ...described, by: undefined, now: this.#writer.now }))
    return id
  }

  /** Writes the given members to the metadata of a user, who becomes a contributor; all other statements stay. */
  async setPersonalData(userId: string, { name, email }: PersonalData): Promise<void> {
    const entry = await findEntry(this.tx, { context: PRINCIPALS, id: userId })
    if (!entry) return
    const say = (metadata: Graph, predicate: string, term: Term | undefined): Graph =>
      term === undefined ? metadata : withStatement(metadata, resourceOf(entry), predicate, term)
    const named = say(parseGraph(entry.metadata), foaf.name, name === undefined ? undefined : literal(name))
    const metadata = say(named, foaf.mbox, email === undefined ? undefined : uri(`mailto:${email}`))
    await this.#writer.update(entry, { ...entry, metadata: graphText(metadata) }, userId)
  }

  /** Writes a row of the audit log in this transaction. */
  record(event: Omit<AuditEntry, 'actorId' | 'address'>): void {
    this.#writer.record(event)
  }
}
