import type { Audit, AuditEvent } from '../accounts/audit.ts'
import { type Caller, denied } from '../accounts/caller.ts'
import { deletePrincipal, findUser } from '../accounts/users.ts'
import { findGroup, renameGroup, setHomeContext } from '../accounts/groups.ts'
import { requireName } from '../accounts/names.ts'
import type { Sessions } from '../accounts/sessions.ts'
import { changeUser } from '../accounts/users.ts'
import { Forbidden, InvalidInput, NotFound, WrongMethod } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { removeFilesOf } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { Graph } from '../graph/graph.ts'
import type { Database, Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { CONTEXTS, contextIdOf, type EntryAddress, PRINCIPALS } from './addresses.ts'
import {
  deleteContextRow,
  findContext,
  getContext,
  renameContext,
  requireContextName,
  requireHomeContext,
} from './contexts.ts'
import { type Entry, resourceOf, touched } from './entry.ts'
import { deleteEntriesOf, deleteEntry, findEntry, listsNaming, retireId, updateEntry } from './entry-records.ts'
import { type InfoRequest, readInfo, withSubjectMoved } from './info.ts'
import { may, type Placed, requireRight } from './rights.ts'
import type { Read } from './values.ts'

interface Dependencies {
  readonly database: Database
  readonly files: Files
  readonly ledger: Ledger
  readonly sessions: Sessions
  readonly system: System
  readonly audit: Audit
}

/** Judges the entry as it is inside the transaction, for instance against `If-Unmodified-Since`; throws to refuse. */
export type Precondition = (entry: Entry) => void

/** Finding entries, and changing what every entry has: info, metadata, name; deleting them (wire facts 3.3 to 3.6). */
export class Entries {
  readonly #on: Dependencies

  constructor(on: Dependencies) {
    this.#on = on
  }

  /** @param contextKey id or name of the context. @throws {NotFound} */
  async get(contextKey: string, id: string, queries: Queries = this.#on.database): Promise<Placed> {
    const { context, entry: contextEntry } = await getContext(queries, contextKey)
    const entry = await findEntry(queries, { context: context.id, id })
    if (!entry) throw new NotFound('not-found', `There is no entry "${id}" in context ${context.id}.`)
    return { entry, contextEntry }
  }

  /** The entry of a context itself. */
  async getContextEntry(contextKey: string): Promise<Placed> {
    const { context } = await getContext(this.#on.database, contextKey)
    return await this.get(CONTEXTS, context.id)
  }

  /**
   * Changes an entry in one transaction: right, precondition, then `change`; what it returns is written, later than before
   * and with the caller among the contributors. Resolves to the entry as written.
   */
  async change(
    caller: Caller,
    { entry }: Placed,
    precondition: Precondition,
    change: (entry: Entry, tx: Queries) => Entry | Promise<Entry>,
  ): Promise<Entry> {
    return await this.#on.database.transaction(async tx => {
      const present = await findEntry(tx, entry)
      if (!present) throw gone(entry)
      precondition(present)
      const changed = touched(await change(present, tx), caller.user.id, this.#on.system.now())
      await updateEntry(tx, changed)
      return changed
    })
  }

  /** Replaces the info (wire facts 3.3.2). */
  async putInfo(caller: Caller, placed: Placed, read: Read<Graph>, precondition: Precondition): Promise<Entry> {
    requireRight(caller, 'administer', placed, 'change the info of this entry')
    const info = await read()
    return await this.change(caller, placed, precondition, async (entry, tx) => {
      const asked = readInfo(info, entry)
      await this.#applyHomeContext(tx, entry, asked)
      return withInfo(entry, asked)
    })
  }

  async putMetadata(caller: Caller, placed: Placed, read: Read<Graph>, precondition: Precondition): Promise<Entry> {
    if (placed.entry.entryType === 'Reference') throw new WrongMethod('Writing local metadata', ['GET', 'HEAD'])
    requireRight(caller, 'writemetadata', placed, 'change the metadata of this entry')
    const metadata = await read()
    return await this.change(caller, placed, precondition, entry => ({ ...entry, metadata }))
  }

  /** The name of a user, group or context; `undefined` when it has none or the entry is of another kind. */
  async nameOf(entry: Entry, queries: Queries = this.#on.database): Promise<string | undefined> {
    if (entry.context === CONTEXTS) return (await findContext(queries, entry.id))?.name
    if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return undefined
    const principal = entry.graphType === 'Group' ? findGroup(queries, entry.id) : findUser(queries, entry.id)
    return (await principal)?.name
  }

  /** Sets the name of a context or group, or, by an administrator, of a user (D5.4); empty takes it away. */
  async rename(caller: Caller, placed: Placed, read: Read<string>): Promise<Entry> {
    const { entry } = placed
    if (!hasName(entry)) throw new NotFound('not-found', 'Entries of this kind have no name.')
    const right = entry.context === CONTEXTS ? 'administer' : 'writeresource'
    requireRight(caller, right, placed, 'change this name')
    if (entry.graphType === 'User' && !may(caller, 'administer', placed))
      throw denied(caller, 'change the name of a user')
    const name = await read()
    const changed = await this.change(caller, placed, anything, async (present, tx) => {
      await this.setName(tx, present, name)
      return present
    })
    if (entry.graphType === 'User') await this.#report(caller, 'user-renamed', entry.id)
    return changed
  }

  /** Part of a transaction whose right has been checked. */
  async setName(tx: Queries, entry: Entry, raw: string): Promise<void> {
    if (isSystemEntry(entry)) throw new Forbidden('not-allowed', 'The names of system entries cannot be changed.')
    const isEmpty = raw.trim() === ''
    if (entry.context === CONTEXTS) {
      await renameContext(tx, entry.id, isEmpty ? undefined : requireContextName(raw))
    } else if (entry.graphType === 'Group') {
      await renameGroup(tx, entry.id, isEmpty ? undefined : requireName(raw))
    } else {
      const user = await findUser(tx, entry.id)
      if (user) await changeUser(tx, user, { name: requireName(raw) })
    }
  }

  /** Deletes an entry and everything that is its own; a context goes with all its entries (wire facts 3.3.3). */
  async delete(caller: Caller, placed: Placed, precondition: Precondition): Promise<void> {
    const { entry } = placed
    requireRight(caller, 'administer', placed, 'delete this entry')
    if (isSystemEntry(entry)) throw new Forbidden('not-allowed', 'System entries cannot be deleted.')
    const user = entry.context === PRINCIPALS ? await findUser(this.#on.database, entry.id) : undefined
    await this.#on.database.transaction(async tx => {
      const present = await findEntry(tx, entry)
      if (!present) throw gone(entry)
      precondition(present)
      if (present.context === CONTEXTS) await this.#deleteContext(tx, present.id)
      if (present.context === PRINCIPALS) {
        await deletePrincipal(tx, present.id)
        await retireId(tx, present)
      }
      await this.#on.files.remove(tx, present)
      await deleteEntry(tx, present)
      await this.#leaveLists(tx, present, caller)
    })
    if (entry.context === PRINCIPALS) await this.#on.sessions.endAll(entry.id)
    if (user) await this.#report(caller, 'user-deleted', user.id, user.name)
    // A context may have held many files: their deletion goes on after the answer.
    const collected = this.#on.files.collectGarbage()
    if (entry.context !== CONTEXTS) await collected
  }

  async #report({ user, client }: Caller, event: AuditEvent, userId: string, userName?: string): Promise<void> {
    const name = userName ?? (await findUser(this.#on.database, userId))?.name
    await this.#on.audit.record({ event, userId, userName: name, actorId: user.id, address: client.address })
  }

  async #leaveLists(tx: Queries, { context, id }: EntryAddress, caller: Caller): Promise<void> {
    for (const list of await listsNaming(tx, { context, id })) {
      const members = (JSON.parse(list.content ?? '[]') as string[]).filter(member => member !== id)
      const changed = touched(list, caller.user.id, this.#on.system.now())
      await updateEntry(tx, { ...changed, content: JSON.stringify(members) })
    }
  }

  async #deleteContext(tx: Queries, id: string): Promise<void> {
    await removeFilesOf(tx, id)
    await deleteEntriesOf(tx, id)
    await tx.run(sql`UPDATE principals SET home_context = NULL WHERE home_context = ${id}`)
    await this.#on.ledger.close(tx, id)
    await deleteContextRow(tx, id)
    await retireId(tx, { context: CONTEXTS, id })
  }

  /** Clients write a group's or user's home context as a statement of `info`. */
  async #applyHomeContext(tx: Queries, entry: Entry, { homeContextUri }: InfoRequest): Promise<void> {
    if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return
    const wanted = homeContextUri === undefined ? undefined : (contextIdOf(homeContextUri) ?? homeContextUri)
    await setHomeContext(tx, entry.id, wanted === undefined ? undefined : await requireHomeContext(tx, wanted))
  }
}

/** The precondition of a request that states none. */
export const anything: Precondition = () => undefined

/** True for the kinds of entry that carry a name: contexts, groups, users. */
export const hasName = (entry: Entry): boolean =>
  entry.context === CONTEXTS ||
  (entry.context === PRINCIPALS && entry.entryType === 'Local' && ['User', 'Group'].includes(entry.graphType))

/** The entries that a new store begins with; in system contexts nobody else gets such an id. */
const isSystemEntry = ({ context, id }: EntryAddress): boolean =>
  (context === CONTEXTS || context === PRINCIPALS) && id.startsWith('_')

const gone = ({ context, id }: EntryAddress): NotFound =>
  new NotFound('not-found', `The entry "${id}" in context ${context} has just been deleted.`)

/** The entry as its new info says (wire facts 3.3.2, steps 1 to 5). */
function withInfo(entry: Entry, asked: InfoRequest): Entry {
  const isLocal = entry.entryType === 'Local'
  const becomesLinkReference = asked.entryType === 'LinkReference' && !isLocal
  const changed: Entry = {
    ...entry,
    entryType: becomesLinkReference ? 'LinkReference' : entry.entryType,
    graphType: isLocal ? entry.graphType : (asked.graphType ?? 'None'),
    resourceType: isLocal ? entry.resourceType : (asked.resourceType ?? 'InformationResource'),
    externalResource: isLocal ? undefined : (asked.externalResource ?? entry.externalResource),
    acl: asked.acl,
    statements: asked.statements,
  }
  const hasExternal = changed.entryType === 'LinkReference' || changed.entryType === 'Reference'
  const external = asked.externalMetadata ?? entry.externalMetadata
  if (hasExternal && external === undefined) {
    throw new InvalidInput('invalid-graph', 'A LinkReference needs the URI of its external metadata.')
  }
  const from = resourceOf(entry)
  const to = resourceOf(changed)
  return {
    ...changed,
    externalMetadata: hasExternal ? external : undefined,
    metadata: from === to ? entry.metadata : withSubjectMoved(entry.metadata, from, to),
    cachedExternalMetadata:
      from === to || !entry.cachedExternalMetadata
        ? entry.cachedExternalMetadata
        : withSubjectMoved(entry.cachedExternalMetadata, from, to),
  }
}
