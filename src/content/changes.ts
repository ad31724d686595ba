import type { Audit, AuditEntry } from '../accounts/audit.ts'
import { type Caller, type RequireFresh, requireNoToken, presentCaller } from '../accounts/caller.ts'
import { NotFound } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { GraphText } from '../graph/graph.ts'
import { CONTEXTS, type EntryAddress } from '../model/addresses.ts'
import { type Entry, type EntryHead, withModification } from '../model/entry.ts'
import { type AccessCheck, decidesAboutAccounts, type EntryInContext } from '../model/rights.ts'
import { indexEntry, indexHead, removeContextFromIndex, removeFromIndex } from '../search/index-records.ts'
import { haveSameBody } from '../search/index-fields.ts'
import type { Database, Queries, TransactionOptions } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { accessChange } from './access-changes.ts'
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

/** The event without its actor, which the writer adds. */
type Recorded = Omit<AuditEntry, 'actorId' | 'address'>

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
   * Runs work that changes entries in one transaction. Log lines of the audit log follow the commit. There is no way to make the changes
   * in a transaction of others: a failed commit, or work that runs again, would leave lines about what did not happen.
   * @param caller looked up again inside the transaction; `undefined` for the service itself, as when it fills a new store
   * @param options.address of the client, for the audit log, where there is no caller yet
   * @throws {Unauthenticated} when the caller's session has ended meanwhile
   */
  async run<T>(
    caller: Caller | undefined,
    work: (writer: EntryWriter) => Promise<T>,
    { address, ...options }: TransactionOptions & { readonly address?: string } = {},
  ): Promise<T> {
    const { result, recorded } = await this.#deps.database.transaction(
      tx => this.#work(tx, caller, work, address),
      options,
    )
    for (const entry of recorded) this.#deps.audit.announce(entry)
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

  async #work<T>(
    tx: Queries,
    caller: Caller | undefined,
    work: (writer: EntryWriter) => Promise<T>,
    address?: string,
  ): Promise<{ readonly result: T; readonly recorded: readonly AuditEntry[] }> {
    const { system, audit, revisions, requireFresh } = this.#deps
    const present = caller && (await presentCaller(tx, caller))
    const settings = { now: system.now(), keepsRevisions: revisions.enabled, requireFresh, address }
    const transaction = new Transaction(tx, present, settings)
    const result = await work(transaction)
    for (const entry of transaction.recorded) await audit.insert(tx, entry)
    return { result, recorded: transaction.recorded }
  }
}

/** A stored graph with other addresses. */
type Rename = (metadata: GraphText) => GraphText

/** Writes entries inside one transaction, together with everything that depends on them. */
export interface EntryWriter {
  /** For rows that are not entries: accounts, lists, files. */
  readonly tx: Queries
  readonly now: Milliseconds
  /** The caller, loaded inside the transaction. @throws {TypeError} when the service itself makes the change */
  readonly caller: Caller
  /**
   * Checks the right again: a body may have taken hours to arrive, and entry, access list and caller may have changed.
   * @throws {NotFound} also when another entry has taken the id meanwhile @throws {Unauthenticated | Forbidden}
   */
  recheck(loaded: EntryInContext, check: AccessCheck): Promise<Present>
  /**
   * Writes the new state of an entry, with a later modification time and the caller among the contributors; resolves to what
   * was written. @param by the id of the user who makes the change, where there is no caller
   */
  update(before: Entry, after: Entry, by?: string): Promise<Entry>
  /** The same where at most the access list changes: the graphs are neither read nor written. */
  updateHead(before: EntryHead, after: EntryHead): Promise<void>
  /** @param options.keepsRevision false when the entry already has its revisions */
  insert(entry: Entry, options?: { readonly keepsRevision?: boolean }): Promise<void>
  insertRevision(address: EntryAddress, revision: Omit<RevisionNote, 'isPresent'>, metadata: string): Promise<void>
  /**
   * Writes an entry at its new address, with its revisions. The old one stays until it is deleted.
   * @param rename applies to the graph of each revision
   */
  move(from: EntryAddress, moved: Entry, rename: Rename): Promise<void>
  delete(address: EntryAddress): Promise<void>
  /** Moves an entry with its revisions to the trash. @param root the id of the entry that the user moves there */
  moveToTrash(address: EntryAddress, root: string): Promise<void>
  /** Brings an entry with its revisions back from the trash, as it was. */
  restore(entry: Entry): Promise<void>
  /** Deletes an entry that is in the trash. */
  deleteFromTrash(address: EntryAddress): Promise<void>
  /** Deletes all entries of a context, those in its trash included. */
  deleteAllOf(context: string): Promise<void>
  /** Makes sure that an id is never reused (users, groups and contexts). */
  retireId(address: EntryAddress): Promise<void>
  /** Writes a row of the audit log in this transaction, with the caller as the actor. */
  record(event: Recorded | undefined): void
}

interface Settings {
  readonly now: Milliseconds
  readonly keepsRevisions: boolean
  readonly requireFresh: RequireFresh
  readonly address: string | undefined
}

class Transaction implements EntryWriter {
  readonly tx: Queries
  readonly now: Milliseconds
  readonly recorded: AuditEntry[] = []
  readonly #caller: Caller | undefined
  readonly #keepsRevisions: boolean
  readonly #requireFresh: RequireFresh
  readonly #address: string | undefined

  constructor(tx: Queries, caller: Caller | undefined, { now, keepsRevisions, requireFresh, address }: Settings) {
    this.tx = tx
    this.now = now
    this.#caller = caller
    this.#keepsRevisions = keepsRevisions
    this.#requireFresh = requireFresh
    this.#address = address
  }

  get caller(): Caller {
    if (this.#caller) return this.#caller
    throw new TypeError('this change is made by the service itself')
  }

  async recheck(loaded: EntryInContext, check: AccessCheck): Promise<Present> {
    const entry = await findEntry(this.tx, loaded.entry)
    const contextEntry = await findEntryHead(this.tx, { context: CONTEXTS, id: loaded.entry.context })
    if (!entry || !contextEntry || entry.created !== loaded.entry.created) {
      const { context, id } = loaded.entry
      throw new NotFound('not-found', `The entry "${id}" in context ${context} has just been deleted.`)
    }
    const present = { entry, contextEntry, caller: this.caller }
    check(present.caller, present)
    return present
  }

  async update(before: Entry, after: Entry, by = this.caller.user.id): Promise<Entry> {
    const written = withModification(after, by, this.now)
    await updateEntryRow(this.tx, written)
    await renewRelations(this.tx, before, written)
    if (this.#keepsRevisions) await addRevision(this.tx, before, written, by)
    await (haveSameBody(before, written) ? indexHead : indexEntry)(this.tx, written)
    this.#recordAccess(before, written)
    return written
  }

  async updateHead(before: EntryHead, after: EntryHead): Promise<void> {
    const written = withModification(after, this.caller.user.id, this.now)
    await updateHeadRow(this.tx, written)
    await indexHead(this.tx, written)
    this.#recordAccess(before, written)
  }

  /** @throws {Forbidden} `access-token-scope`, `fresh-sign-in-required` for an access list that decides about accounts (D24.5, D28.6) */
  #recordAccess(before: EntryHead, after: EntryHead): void {
    const change = accessChange(before, after)
    if (change && this.#caller && decidesAboutAccounts(after)) {
      requireNoToken(this.#caller, 'change who has rights on users and groups')
      this.#requireFresh(this.#caller)
    }
    this.record(change)
  }

  async insert(entry: Entry, { keepsRevision = true } = {}): Promise<void> {
    await insertEntryRow(this.tx, entry)
    await addRelations(this.tx, entry)
    const by = this.#caller?.user.id
    if (keepsRevision && this.#keepsRevisions && by !== undefined) await addRevision(this.tx, undefined, entry, by)
    await indexEntry(this.tx, entry)
  }

  async insertRevision(
    address: EntryAddress,
    revision: Omit<RevisionNote, 'isPresent'>,
    metadata: string,
  ): Promise<void> {
    await insertRevision(this.tx, address, revision, metadata)
  }

  async move(from: EntryAddress, moved: Entry, rename: Rename): Promise<void> {
    await this.insert(moved, { keepsRevision: false })
    await moveRevisions(this.tx, from, moved, rename)
  }

  async delete(address: EntryAddress): Promise<void> {
    await this.#deleteRows(address)
    await removeFromIndex(this.tx, address)
  }

  async moveToTrash(address: EntryAddress, root: string): Promise<void> {
    await copyToTrash(this.tx, address, { root, time: this.now, by: this.caller.user.id })
    await this.#deleteRows(address)
    await removeFromIndex(this.tx, address)
  }

  async #deleteRows(address: EntryAddress): Promise<void> {
    await dropRelations(this.tx, address)
    await deleteEntryRow(this.tx, address)
  }

  async restore(entry: Entry): Promise<void> {
    await insertEntryRow(this.tx, entry)
    await addRelations(this.tx, entry)
    await restoreRevisions(this.tx, entry)
    await deleteTrashRow(this.tx, entry)
    await indexEntry(this.tx, entry)
  }

  async deleteFromTrash(address: EntryAddress): Promise<void> {
    await deleteTrashRow(this.tx, address)
  }

  async deleteAllOf(context: string): Promise<void> {
    await deleteTrashRowsOf(this.tx, context)
    await dropRelationsOf(this.tx, context)
    await deleteEntryRowsOf(this.tx, context)
    await removeContextFromIndex(this.tx, context)
  }

  async retireId(address: EntryAddress): Promise<void> {
    await retireId(this.tx, address)
  }

  record(event: Recorded | undefined): void {
    if (!event) return
    const { user, client } = this.#caller ?? {}
    this.recorded.push({ ...event, actorId: user?.id, address: client?.address ?? this.#address })
  }
}

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
