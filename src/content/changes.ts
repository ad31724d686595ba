import type { Audit, AuditEntry } from '../accounts/audit.ts'
import { type RequireFresh, requireNoToken } from '../accounts/caller-guards.ts'
import type { Caller } from '../accounts/caller.ts'
import { presentCaller } from '../accounts/present-caller.ts'
import { NotFound } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { endUploadsTo } from '../files/lasting-uploads.ts'
import type { GraphText } from '../graph/graph.ts'
import { CONTEXTS, type EntryAddress } from '../model/addresses.ts'
import { type Entry, type EntryHead, givesAccess, keepingGift, withModification } from '../model/entry.ts'
import { type AccessCheck, decidesAboutAccounts, type EntryInContext } from '../model/rights.ts'
import { IndexChanges, indexHead } from '../search/index-records.ts'
import { haveSameBody } from '../search/index-fields.ts'
import type { Database, Queries, TransactionOptions } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { scopeInside, settleMembers } from './access-scopes.ts'
import { type Adopted, adoptFolders } from './adopt-folders.ts'
import { accessChange, nameIn, type Recorded } from './change-events.ts'
import { entriesAfter, findEntry, findEntryHead } from './entry-records.ts'
import {
  addRelations,
  addRevision,
  deleteEntryRow,
  deleteEntryRowsOf,
  dropAllRelations,
  dropRelations,
  dropRelationsOf,
  insertEntryRow,
  insertRevision,
  moveRevisions,
  renewRelations,
  restoreRevisions,
  retireId,
  retireNumber,
  retireNumbersOf,
  reuseId,
  updateEntryRow,
  updateHeadRow,
} from './entry-rows.ts'
import type { RevisionNote } from './revisions.ts'
import { copyToTrash, deleteTrashRow, deleteTrashRowsOf } from './trash-rows.ts'

interface Dependencies {
  readonly database: Database
  readonly system: System
  readonly audit: Pick<Audit, 'insert' | 'announce'>
  /** Whether revisions of metadata are kept (`service.repository.provenance`). */
  readonly revisions: { readonly enabled: boolean }
  readonly requireFresh: RequireFresh
}

/**
 * Checks the entry as loaded inside the transaction, for instance against `If-Unmodified-Since`, and throws if the check
 * fails.
 */
export type Precondition = (entry: Entry) => void

/** What a change of an entry depends on. */
export interface Conditions {
  readonly check: AccessCheck
  readonly precondition?: Precondition
}

/** An entry and the caller, both loaded inside the transaction. */
interface Present extends EntryInContext {
  readonly caller: Caller
}

/**
 * The one way to change entries. Everything that belongs to a change happens in its transaction: the caller and their right are
 * checked again, then the precondition; the change gets a later modification time; relations, revisions and the search index follow;
 * the audit log gets its rows. Only {@link EntryWriter} writes rows of entries, and only this class makes one.
 */
export class Changes {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Runs work that changes entries in one transaction. Lines of the audit log are written after the commit. Callers cannot pass a
   * transaction of their own: if it failed or ran again, the log would contain lines about changes that never happened.
   * @param caller looked up again inside the transaction; `undefined` for the service itself, as when it fills a new store
   * @param options.address of the client, for the audit log, where there is no caller yet
   * @throws {Unauthenticated} when the caller's session has ended meanwhile
   */
  async run<T>(
    caller: Caller | undefined,
    work: (writer: EntryWriter) => Promise<T>,
    { address, ...options }: TransactionOptions & { readonly address?: string } = {},
  ): Promise<T> {
    const { database, audit } = this.#deps
    const { result, recorded } = await database.transaction(async tx => {
      const writer = new EntryWriter(tx, caller && (await presentCaller(tx, caller)), this.#deps, address)
      const result = await work(writer)
      await writer.finish()
      for (const entry of writer.recorded) await audit.insert(tx, entry)
      return { result, recorded: writer.recorded }
    }, options)
    for (const entry of recorded) audit.announce(entry)
    return result
  }

  /** {@link run} for this caller, for a service that does more in the transaction: an upload also updates the quota usage. */
  transactionOf(caller: Caller): <T>(work: (writer: EntryWriter) => Promise<T>) => Promise<T> {
    return work => this.run(caller, work)
  }

  /** Changes one entry: `change` returns its new state. Resolves to the entry as written. */
  async change(
    caller: Caller,
    loaded: EntryInContext,
    { check, precondition }: Conditions,
    change: (entry: Entry, writer: EntryWriter, present: Present) => Entry | Promise<Entry>,
  ): Promise<Entry> {
    return await this.run(caller, async writer => {
      const present = await writer.recheck(loaded, check)
      precondition?.(present.entry)
      return await writer.update(present.entry, await change(present.entry, writer, present))
    })
  }
}

/** A stored graph with other addresses. */
type Rename = (metadata: GraphText) => GraphText

/** Writes entries inside one transaction, together with everything that depends on them. */
class EntryWriter {
  /** For rows that are not entries: accounts, lists, files. */
  readonly tx: Queries
  readonly now: Milliseconds
  /** The rows of the audit log that are to be written. */
  readonly recorded: AuditEntry[] = []
  readonly #touched = new Set<string>()
  readonly #index: IndexChanges
  readonly #caller: Caller | undefined
  readonly #deps: Dependencies
  readonly #address: string | undefined

  constructor(tx: Queries, caller: Caller | undefined, deps: Dependencies, address: string | undefined) {
    this.tx = tx
    this.now = deps.system.now()
    this.#index = new IndexChanges(tx)
    this.#caller = caller
    this.#deps = deps
    this.#address = address
  }

  /** The caller, loaded inside the transaction. @throws {TypeError} when the service itself makes the change */
  get caller(): Caller {
    if (this.#caller) return this.#caller
    throw new TypeError('this change is made by the service itself')
  }

  /**
   * Checks the right again: a body may have taken hours to arrive, and entry, access list and caller may have changed.
   * @throws {NotFound} also when another entry has taken the id meanwhile @throws {Unauthenticated | Forbidden}
   */
  async recheck(loaded: EntryInContext, check: AccessCheck): Promise<Present> {
    const present = await this.#find(loaded.entry)
    if (!present || present.entry.created !== loaded.entry.created) {
      const { context, id } = loaded.entry
      throw new NotFound('not-found', `The entry "${id}" in context ${context} has just been deleted.`)
    }
    check(present.caller, present)
    return present
  }

  /**
   * Loads an entry that nothing outside the transaction has loaded, for a step of a larger change.
   * @throws {NotFound} @throws {Unauthenticated | Forbidden}
   */
  async load(address: EntryAddress, check: AccessCheck): Promise<Present> {
    const present = await this.#find(address)
    if (!present) throw new NotFound('not-found', `There is no entry "${address.id}" in context ${address.context}.`)
    check(present.caller, present)
    return present
  }

  async #find(address: EntryAddress): Promise<Present | undefined> {
    const entry = await findEntry(this.tx, address)
    const contextEntry = await findEntryHead(this.tx, { context: CONTEXTS, id: address.context })
    return entry && contextEntry && { entry, contextEntry, caller: this.caller }
  }

  /**
   * Writes the new state of an entry, with a later modification time and the caller among the contributors; resolves to what
   * was written. @param by the id of the user who makes the change, where there is no caller
   */
  async update(before: Entry, after: Entry, by = this.caller.user.id): Promise<Entry> {
    const written = withModification(keepingGift(before, after), by, this.now)
    await updateEntryRow(this.tx, written)
    await renewRelations(this.tx, before, written)
    if (this.#deps.revisions.enabled) await addRevision(this.tx, before, written, by)
    await (haveSameBody(before, written) ? this.#index.head(written) : this.#index.entry(written))
    await this.#followAccess(before, written)
    return written
  }

  /** The same where at most the access list changes: the graphs are neither read nor written. */
  async updateHead(before: EntryHead, after: EntryHead, by = this.caller.user.id): Promise<void> {
    const written = withModification(keepingGift(before, after), by, this.now)
    await updateHeadRow(this.tx, written)
    await this.#index.head(written)
    await this.#followAccess(before, written)
  }

  /** When a list begins or ceases to give access, its content follows. */
  async #followAccess(before: EntryHead, after: EntryHead): Promise<void> {
    await this.#recordAccess(before, after)
    if (givesAccess(before) !== givesAccess(after)) await settleMembers(this, after, scopeInside(after))
  }

  /** @throws {Forbidden} `access-token-scope`, `fresh-sign-in-required` for an access list that decides about accounts (D24.5, D28.6) */
  async #recordAccess(before: EntryHead, after: EntryHead): Promise<void> {
    const change = accessChange(before, after)
    if (change && this.#caller && decidesAboutAccounts(after)) {
      requireNoToken(this.#caller, 'change who has rights on users and groups')
      this.#deps.requireFresh(this.#caller)
    }
    if (change) this.record({ ...change, detail: { ...change.detail, ...(await this.#nameOf(after)) } })
  }

  /** How people call an entry; users, groups and contexts have names of their own. */
  async #nameOf(address: EntryAddress): Promise<{ readonly name?: string }> {
    const entry = await findEntry(this.tx, address)
    return entry ? nameIn(entry) : {}
  }

  /** Entries have moved from one place to another: a list as `context/id`, or a context for what is in no list. */
  async recordMoves(moved: ReadonlyArray<EntryAddress | Entry>, from: string, to: string): Promise<void> {
    for (const one of moved) {
      const name = 'metadata' in one ? nameIn(one) : await this.#nameOf(one)
      this.record({ event: 'entry-moved', detail: { context: one.context, entry: one.id, ...name, from, to } })
    }
  }

  /**
   * Gives a list whose members change a later modification time: once in a transaction, because nobody sees the states in between.
   * @param by the id of the user who makes the change, where there is no caller
   */
  async touch(list: EntryAddress, by?: string): Promise<void> {
    const key = `${list.context}/${list.id}`
    if (this.#touched.has(key)) return
    this.#touched.add(key)
    const head = await findEntryHead(this.tx, list)
    if (head) await this.updateHead(head, head, by)
  }

  /** Returns a function to call when what a step has written since then is undone. */
  beginStep(): () => void {
    const recorded = this.recorded.length
    const index = this.#index.mark()
    return () => {
      this.#touched.clear()
      this.recorded.length = recorded
      this.#index.undo(index)
    }
  }

  /** Writes what waits for the end of the transaction. */
  async finish(): Promise<void> {
    await this.#index.flush()
  }

  /** @param options.keepsRevision false when the entry already has its revisions */
  async insert(entry: Entry, { keepsRevision = true } = {}): Promise<void> {
    await insertEntryRow(this.tx, entry)
    await addRelations(this.tx, entry)
    const by = this.#caller?.user.id
    if (keepsRevision && this.#deps.revisions.enabled && by !== undefined)
      await addRevision(this.tx, undefined, entry, by)
    await this.#index.add([entry])
  }

  async insertRevision(
    address: EntryAddress,
    revision: Omit<RevisionNote, 'isPresent'>,
    metadata: string,
  ): Promise<void> {
    await insertRevision(this.tx, address, revision, metadata)
  }

  /**
   * Writes an entry at its new address, with its revisions. The old one stays until it is deleted.
   * @param rename applies to the graph of each revision
   */
  async move(from: EntryAddress, moved: Entry, rename: Rename): Promise<void> {
    await this.insert(moved, { keepsRevision: false })
    await moveRevisions(this.tx, from, moved, rename)
  }

  /** Deletes an entry, and ends the uploads to it. */
  async delete(address: EntryAddress): Promise<void> {
    await this.endUploads(address)
    await retireNumber(this.tx, address)
    await dropRelations(this.tx, address)
    await deleteEntryRow(this.tx, address)
    await this.#index.remove(address)
  }

  /** Ends the uploads to an entry that goes, or gets other content. */
  async endUploads(address: EntryAddress): Promise<void> {
    await endUploadsTo(this.tx, address)
  }

  /** Moves an entry with its revisions to the trash. @param root the id of the entry that the user moves there */
  async moveToTrash(address: EntryAddress, root: string): Promise<void> {
    await copyToTrash(this.tx, address, { root, time: this.now, by: this.caller.user.id })
    await this.delete(address)
  }

  /** Brings an entry with its revisions back from the trash, as it was. */
  async restore(entry: Entry): Promise<void> {
    await insertEntryRow(this.tx, entry)
    await addRelations(this.tx, entry)
    await restoreRevisions(this.tx, entry)
    await deleteTrashRow(this.tx, entry)
    await this.#index.add([entry])
  }

  /** Deletes an entry that is in the trash. */
  async deleteFromTrash(address: EntryAddress): Promise<void> {
    await deleteTrashRow(this.tx, address)
  }

  /** Deletes all entries of a context, those in its trash included. */
  async deleteAllOf(context: string): Promise<void> {
    await endUploadsTo(this.tx, { context })
    await retireNumbersOf(this.tx, context)
    await deleteTrashRowsOf(this.tx, context)
    await dropRelationsOf(this.tx, context)
    await deleteEntryRowsOf(this.tx, context)
    await this.#index.removeContext(context)
  }

  /** Makes sure that an id is never reused (users, groups and contexts). */
  async retireId(address: EntryAddress): Promise<void> {
    await retireId(this.tx, address)
  }

  /** Allows a retired id again, for the same context that comes back. */
  async reuseId(address: EntryAddress): Promise<void> {
    await reuseId(this.tx, address)
  }

  /** Drops the events of the steps so far, because one event is about all of them. Changes of rights stay on record one by one. */
  forgetRecorded(): void {
    this.recorded.splice(0, Infinity, ...this.recorded.filter(({ event }) => event === 'access-changed'))
  }

  /** Writes a row of the audit log in this transaction, with the caller as the actor. */
  record(event: Recorded | undefined): void {
    if (!event) return
    const { user, client } = this.#caller ?? {}
    this.recorded.push({ ...event, actorId: user?.id, address: client?.address ?? this.#address })
  }
}

export type { EntryWriter }

const RELATIONS_BATCH = 500
const RELATIONS_WORK = 'relations'

/** Adds the relations to a store that was created before relations existed; does nothing when that is done. */
export async function buildMissingRelations(queries: Queries): Promise<void> {
  if (!(await queries.get(sql`SELECT 1 AS pending FROM pending_work WHERE name = ${RELATIONS_WORK}`))) return
  await dropAllRelations(queries)
  let last: EntryAddress = { context: '', id: '' }
  for (;;) {
    const entries = await entriesAfter(queries, last, RELATIONS_BATCH)
    for (const entry of entries) await addRelations(queries, entry)
    const next = entries.at(-1)
    if (!next) break
    last = next
  }
  await queries.run(sql`DELETE FROM pending_work WHERE name = ${RELATIONS_WORK}`)
}

/** {@link adoptFolders}, in a transaction of its own. */
export const adoptFoldersOnce = (tx: Queries): Promise<Adopted | undefined> =>
  adoptFolders({
    tx,
    // A later version, but no change of anybody.
    write: async (head, acl) => {
      const written = { ...head, acl, modified: head.modified + 1 }
      await updateHeadRow(tx, written)
      await indexHead(tx, written)
    },
  })
