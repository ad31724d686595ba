import type { Audit, AuditEvent } from '../accounts/audit.ts'
import type { Caller } from '../accounts/caller.ts'
import { findGroup, forgetHomeContext, renameGroup, setHomeContext } from '../accounts/groups.ts'
import { requireName } from '../accounts/names.ts'
import type { Sessions } from '../accounts/sessions.ts'
import { changeUser, deletePrincipal, findUser, type User } from '../accounts/users.ts'
import { Forbidden, InvalidInput, NotFound, WrongMethod } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { removeFilesOf } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { type Graph, objectsOf } from '../graph/graph.ts'
import { store } from '../graph/vocabulary.ts'
import type { Database, Queries, TransactionOptions } from '../stores/database.ts'
import { RevisionCache } from '../stores/revision-cache.ts'
import { CONTEXTS, contextIdOf, type EntryAddress, entryUri, PRINCIPALS } from '../model/addresses.ts'
import { hasExternalMetadata, liveSourceOf } from './cached-metadata.ts'
import {
  deleteContextRow,
  findContext,
  type FoundContext,
  getContext,
  renameContext,
  requireContextName,
  requireHomeContext,
} from './contexts.ts'
import { type Entry, resourceOf, withModification } from '../model/entry.ts'
import { deleteEntriesOf, deleteEntry, findEntry, retireId, updateEntry } from './entry-records.ts'
import { type InfoRequest, readInfo, withStatement, withSubjectMoved } from './info.ts'
import { forgetList, forgetListsOf, isList, leaveList, listHolding } from './list-records.ts'
import { applyAclBelow, entriesBelow } from './list-tree.ts'
import { type Present, recheckAccess } from './recheck-access.ts'
import { dropRelations, dropRelationsOf, renewRelations } from './relations.ts'
import type { Revisions } from './revisions.ts'
import { type AccessCheck, requires, type EntryInContext, requireRight } from '../model/rights.ts'
import type { Read } from './values.ts'

interface Dependencies {
  readonly database: Database
  readonly files: Files
  readonly ledger: Ledger
  readonly sessions: Sessions
  readonly system: System
  readonly audit: Audit
  readonly revisions: Revisions
}

/** Contexts whose access lists are kept at hand. */
const MAX_CONTEXTS = 1000

/** Judges the entry as it is inside the transaction, for instance against `If-Unmodified-Since`; throws to refuse. */
export type Precondition = (entry: Entry) => void

/** What a change of an entry depends on. */
export interface Conditions {
  readonly judge: AccessCheck
  readonly precondition?: Precondition
}

/** Finding entries, and changing what every entry has: info, metadata, name; deleting them (wire facts 3.3 to 3.6). */
export class Entries {
  readonly #deps: Dependencies
  readonly #contexts: RevisionCache<FoundContext>

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#contexts = new RevisionCache(deps.database, MAX_CONTEXTS)
  }

  /** @param contextKey id or name of the context. @throws {NotFound} */
  async get(contextKey: string, id: string, queries: Queries = this.#deps.database): Promise<EntryInContext> {
    const look = (): Promise<FoundContext> => getContext(queries, contextKey)
    const isOutside = queries === this.#deps.database
    const { context, entry: contextEntry } = await (isOutside ? this.#contexts.get(contextKey, look) : look())
    const entry = await findEntry(queries, { context: context.id, id })
    if (!entry) throw new NotFound('not-found', `There is no entry "${id}" in context ${context.id}.`)
    return { entry, contextEntry }
  }

  /** The entry of a context itself. */
  async getContextEntry(contextKey: string): Promise<EntryInContext> {
    const { context } = await getContext(this.#deps.database, contextKey)
    return await this.get(CONTEXTS, context.id)
  }

  /**
   * Changes an entry in one transaction: the right, judged before as well, the precondition, then `change`; what it returns is written,
   * later than before and with the caller among the contributors. Resolves to the entry as written.
   */
  async change(
    caller: Caller,
    placed: EntryInContext,
    { judge, precondition }: Conditions,
    change: (entry: Entry, tx: Queries, present: Present) => Entry | Promise<Entry>,
  ): Promise<Entry> {
    return await this.#deps.database.transaction(async tx => {
      const present = await recheckAccess(tx, caller, placed, judge)
      const { entry } = present
      precondition?.(entry)
      const changed = withModification(await change(entry, tx, present), caller.user.id, this.#deps.system.now())
      await updateEntry(tx, changed)
      await renewRelations(tx, entry, changed)
      await this.#deps.revisions.note(tx, entry, changed, caller.user.id)
      return changed
    })
  }

  /** Replaces the info (wire facts 3.3.2). @param toMembers gives all that is in a list the list's new ACL too. */
  async putInfo(
    caller: Caller,
    placed: EntryInContext,
    read: Read<Graph>,
    precondition: Precondition,
    toMembers = false,
  ): Promise<Entry> {
    const judge = requires('administer', 'change the info of this entry')
    judge(caller, placed)
    const info = await read()
    return await this.change(caller, placed, { judge, precondition }, async (entry, tx, present) => {
      const asked = readInfo(info, entry)
      await this.#applyHomeContext(tx, entry, asked)
      const changed = withInfo(entry, asked)
      const from = { list: changed, contextEntry: present.contextEntry, acl: changed.acl }
      if (toMembers) await applyAclBelow(tx, present.caller, from, this.#deps.system.now())
      return changed
    })
  }

  async putMetadata(
    caller: Caller,
    placed: EntryInContext,
    read: Read<Graph>,
    precondition: Precondition,
  ): Promise<Entry> {
    if (placed.entry.entryType === 'Reference') throw new WrongMethod('Writing local metadata', ['GET', 'HEAD'])
    const judge = requires('writemetadata', 'change the metadata of this entry')
    judge(caller, placed)
    const metadata = await read()
    return await this.change(caller, placed, { judge, precondition }, entry => ({ ...entry, metadata }))
  }

  /** Replaces the copy of metadata kept elsewhere (wire facts 3.6). */
  async putCachedMetadata(
    caller: Caller,
    placed: EntryInContext,
    read: Read<Graph>,
    precondition: Precondition,
  ): Promise<Entry> {
    if (!hasExternalMetadata(placed.entry) || liveSourceOf(placed.entry)) {
      throw new WrongMethod('Writing cached external metadata', ['GET', 'HEAD'])
    }
    const judge = requires('writemetadata', 'change the cached metadata of this entry')
    judge(caller, placed)
    const cachedExternalMetadata = await read()
    return await this.change(caller, placed, { judge, precondition }, entry => {
      const cached = Math.max(this.#deps.system.now(), (entry.cached ?? entry.modified) + 1)
      return { ...entry, cachedExternalMetadata, cached }
    })
  }

  /** The name of a user, group or context; `undefined` when it has none or the entry is of another kind. */
  async nameOf(entry: Entry, queries: Queries = this.#deps.database): Promise<string | undefined> {
    if (entry.context === CONTEXTS) return (await findContext(queries, entry.id))?.name
    if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return undefined
    const principal = entry.graphType === 'Group' ? findGroup(queries, entry.id) : findUser(queries, entry.id)
    return (await principal)?.name
  }

  /** Sets the name of a context or group, or, by an administrator, of a user (D5.4); empty takes it away. */
  async rename(caller: Caller, placed: EntryInContext, read: Read<string>): Promise<Entry> {
    const { entry } = placed
    if (!hasName(entry)) throw new NotFound('not-found', 'Entries of this kind have no name.')
    const isUser = entry.graphType === 'User'
    const right = entry.context === CONTEXTS || isUser ? 'administer' : 'writeresource'
    const judge = requires(right, isUser ? 'change the name of a user' : 'change this name')
    judge(caller, placed)
    const name = await read()
    const changed = await this.change(caller, placed, { judge }, async (present, tx) => {
      await this.setName(tx, present, name)
      return present
    })
    if (isUser) await this.#report(caller, 'user-renamed', entry.id)
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

  /**
   * Deletes an entry and everything that is its own; a context goes with all its entries (wire facts 3.3.3).
   * @param recursive a list goes with all that is in it, which takes the right to administer the context.
   */
  async delete(caller: Caller, placed: EntryInContext, precondition: Precondition, recursive = false): Promise<void> {
    const { entry, contextEntry } = placed
    const judge = requires('administer', 'delete this entry')
    judge(caller, placed)
    const takesMembers = recursive && isList(entry)
    if (takesMembers) {
      const { entry: contextsEntry } = await getContext(this.#deps.database, CONTEXTS)
      const whole = { entry: contextEntry, contextEntry: contextsEntry }
      requireRight(caller, 'administer', whole, 'delete a list with all its members')
    }
    const options: TransactionOptions = entry.context === CONTEXTS || takesMembers ? { ownCommit: true } : {}
    const users = await this.#deps.database.transaction(async tx => {
      const { entry: present } = await recheckAccess(tx, caller, placed, judge)
      precondition(present)
      const all = takesMembers ? [present, ...(await entriesBelow(tx, present))] : [present]
      if (all.some(isSystemEntry)) throw new Forbidden('not-allowed', 'System entries cannot be deleted.')
      const deleted: User[] = []
      await this.#touchList(tx, present, caller)
      for (const one of all) {
        const user = one.context === PRINCIPALS ? await findUser(tx, one.id) : undefined
        if (user) deleted.push(user)
        await this.#deleteOne(tx, one)
      }
      return deleted
    }, options)
    for (const user of users) {
      await this.#deps.sessions.clearAway(user.id)
      await this.#report(caller, 'user-deleted', user.id, user.name)
    }
    // A context or a list may have held many files: their deletion goes on after the answer.
    const collected = this.#deps.files.collectGarbage()
    if (entry.context !== CONTEXTS && !takesMembers) await collected
  }

  async #deleteOne(tx: Queries, entry: Entry): Promise<void> {
    if (entry.context === CONTEXTS) await this.#deleteContext(tx, entry.id)
    if (entry.context === PRINCIPALS) {
      await deletePrincipal(tx, entry.id)
      await retireId(tx, entry)
    }
    await this.#deps.files.remove(tx, entry)
    await leaveList(tx, entry)
    await forgetList(tx, entry)
    await dropRelations(tx, entry)
    await deleteEntry(tx, entry)
  }

  /** The list that an entry leaves or comes to has changed with it. */
  async #touchList(tx: Queries, { context, id }: EntryAddress, caller: Caller): Promise<void> {
    const holding = await listHolding(tx, { context, id })
    const list = holding === undefined ? undefined : await findEntry(tx, { context, id: holding })
    if (list) await updateEntry(tx, withModification(list, caller.user.id, this.#deps.system.now()))
  }

  async #report({ user, client }: Caller, event: AuditEvent, userId: string, userName?: string): Promise<void> {
    const name = userName ?? (await findUser(this.#deps.database, userId))?.name
    await this.#deps.audit.record({ event, userId, userName: name, actorId: user.id, address: client.address })
  }

  async #deleteContext(tx: Queries, id: string): Promise<void> {
    await removeFilesOf(tx, id)
    await forgetListsOf(tx, id)
    await dropRelationsOf(tx, id)
    await deleteEntriesOf(tx, id)
    await forgetHomeContext(tx, id)
    await this.#deps.ledger.close(tx, id)
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

/** True for the kinds of entry that carry a name: contexts, groups, users. */
export const hasName = (entry: Entry): boolean =>
  entry.context === CONTEXTS ||
  (entry.context === PRINCIPALS && entry.entryType === 'Local' && ['User', 'Group'].includes(entry.graphType))

/** The entries that a new store begins with; in system contexts nobody else gets such an id. */
const isSystemEntry = ({ context, id }: EntryAddress): boolean =>
  (context === CONTEXTS || context === PRINCIPALS) && id.startsWith('_')

/** Where an entry was first made is told by the service; a new `info` leaves it as it is (wire facts 2.3). */
const keepingOrigin = (entry: Entry, statements: Graph): Graph => {
  const [origin] = objectsOf(entry.statements, entryUri(entry), store.originallyCreatedIn)
  return origin === undefined
    ? statements
    : withStatement(statements, entryUri(entry), store.originallyCreatedIn, origin)
}

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
    statements: keepingOrigin(entry, asked.statements),
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
