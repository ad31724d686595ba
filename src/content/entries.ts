import { denied, isAdmin } from '../accounts/caller-guards.ts'
import type { Caller } from '../accounts/caller.ts'
import { Conflict, Forbidden, NotFound } from '../base/errors.ts'
import type { Files } from '../files/files.ts'
import type { Graph } from '../graph/graph.ts'
import { CONTEXTS, type EntryAddress, type EntryKey, isSystemEntry, PRINCIPALS } from '../model/addresses.ts'
import { type Acl, type Entry, type EntryHead, isList } from '../model/entry.ts'
import { type EntryInContext, may, requireRight, requires } from '../model/rights.ts'
import type { Database, Queries, TransactionOptions } from '../stores/database.ts'
import { renaming } from './change-events.ts'
import type { Changes, EntryWriter, Precondition } from './changes.ts'
import type { EntryLoader } from './entry-loader.ts'
import { EntryReads } from './entry-reads.ts'
import { findEntry, findEntryHead } from './entry-records.ts'
import { displayName } from './file-description.ts'
import { applyHomeContext, readInfo, withInfo } from './info.ts'
import { leaveList, listHolding, type MemberBelow, membersBelow } from './list-records.ts'
import { type Kinds, setName } from './resource-kind.ts'
import type { Read } from './values.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly kinds: Kinds
  readonly files: Files
  readonly changes: Changes
}

/** Reads entries, changes their info and name, and deletes them (W3.3 to 3.6). */
export class Entries extends EntryReads {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    super(deps)
    this.#deps = deps
  }

  /** Replaces the info (W3.3.2). @param toMembers also gives the list's new ACL to all entries in the list. */
  async putInfo(
    caller: Caller,
    key: EntryKey,
    read: (entry: Entry) => Promise<Graph>,
    precondition: Precondition,
    toMembers = false,
  ): Promise<Entry> {
    const target = await this.#deps.loader.get(key)
    const check = requires('administer', 'change the info of this entry')
    check(caller, target)
    const info = await read(target.entry)
    return await this.#deps.changes.change(
      caller,
      target,
      { check, precondition },
      async (entry, writer, { contextEntry }) => {
        const asked = readInfo(info, entry)
        await applyHomeContext(writer.tx, entry, asked)
        const changed = withInfo(entry, asked)
        requireOwner(caller, entry, changed)
        for (const event of renaming(entry, changed)) writer.record(event)
        if (toMembers) await applyAclBelow(writer, { list: changed, contextEntry, acl: changed.acl })
        return changed
      },
    )
  }

  /** The name of a user, group or context. @throws {NotFound} when it has none or the entry is of another kind */
  async getName(caller: Caller, key: EntryKey): Promise<string> {
    const { database, kinds, loader } = this.#deps
    const target = await loader.get(key)
    const { naming } = kinds.of(target.entry)
    if (naming && !naming.isPublic) requireRight(caller, 'readmetadata', target, 'read this name')
    const name = await naming?.find(database, target.entry.id)
    if (name === undefined) throw new NotFound('not-found', 'This entry has no name.')
    return name
  }

  /** Sets the name of a context or group or, for administrators, of a user (D5.4); an empty name removes it. */
  async rename(caller: Caller, key: EntryKey, read: Read<string>): Promise<Entry> {
    const target = await this.#deps.loader.get(key)
    const { naming } = this.#deps.kinds.of(target.entry)
    if (!naming) throw new NotFound('not-found', 'Entries of this kind have no name.')
    const { check } = naming
    check(caller, target)
    const name = await read()
    return await this.#deps.changes.change(caller, target, { check }, async (present, writer) => {
      await setName(naming, writer, present, name)
      return present
    })
  }

  /**
   * Deletes an entry with everything that belongs to it, and a context with all its entries (W3.3.3).
   * @param precondition also gets the transaction of the deletion
   * @param recursive deletes a list with all that it contains, which requires the right to administer the context.
   */
  async delete(
    caller: Caller,
    key: EntryKey,
    precondition: (entry: Entry, tx: Queries) => void | Promise<void>,
    recursive = false,
  ): Promise<void> {
    const target = await this.#deps.loader.get(key)
    const { entry } = target
    const check = requires('administer', 'delete this entry')
    check(caller, target)
    const takesMembers = recursive && isList(entry)
    const whole = takesMembers ? await this.#deps.loader.getContextEntry(entry.context) : undefined
    const checkWhole = requires('administer', 'delete a list with all its members')
    if (whole) checkWhole(caller, whole)
    const options: TransactionOptions = entry.context === CONTEXTS || takesMembers ? { ownCommit: true } : {}
    const deleted = await this.#deps.changes.run(
      caller,
      async writer => {
        const { entry: present } = await writer.recheck(target, check)
        if (whole) await writer.recheck(whole, checkWhole)
        await precondition(present, writer.tx)
        const all = takesMembers ? [present, ...(await membersBelow(writer.tx, present, 'all'))] : [present]
        await deleteEntries(writer, all, this.#deps)
        // Users, groups and contexts have events of their own.
        if (present.context !== CONTEXTS && present.context !== PRINCIPALS) {
          writer.record(deletion(present, all.length))
        }
        return all
      },
      options,
    )
    for (const one of deleted) await this.#deps.kinds.of(one).removed?.(one)
    // A context or a list may have held many files, so their deletion continues after the response.
    const collected = this.#deps.files.collectGarbage()
    if (entry.context !== CONTEXTS && !takesMembers) await collected
  }

  /**
   * Deletes an entry without a caller, if it still exists and `isUnused`. Its kind of resource must store nothing elsewhere.
   * @param by id of the user in whose name the list that contains it changes
   */
  async deleteByService(
    address: EntryAddress,
    by: string,
    isUnused: (target: EntryInContext, tx: Queries) => Promise<boolean>,
  ): Promise<void> {
    await this.#deps.changes.run(undefined, async writer => {
      const { tx } = writer
      const entry = await findEntry(tx, address)
      const contextEntry = await findEntryHead(tx, { context: CONTEXTS, id: address.context })
      if (!entry || !contextEntry || !(await isUnused({ entry, contextEntry }, tx))) return
      await deleteEntries(writer, [entry], { ...this.#deps, by })
      writer.record(deletion(entry, 1))
    })
  }
}

/** @throws {Conflict} where a user takes the last owner from a context, which only an administrator could give back */
function requireOwner(caller: Caller, before: EntryHead, after: EntryHead): void {
  if (before.context !== CONTEXTS || isAdmin(caller)) return
  const count = ({ acl }: EntryHead): number => acl.admin?.length ?? 0
  if (count(before) > 0 && count(after) === 0) {
    throw new Conflict('last-owner', 'This change would leave the context without an owner. Name another owner first.')
  }
}

/**
 * Gives the access list of a list to all entries below it (W3.3.2), except entries that were added without the right to administer them:
 * otherwise people who may write to the list could give themselves rights on any entry of the caller. The caller needs the right to
 * administer each entry; if they lack it for one entry, the whole change is rejected.
 */
async function applyAclBelow(
  writer: EntryWriter,
  { list, contextEntry, acl }: { readonly list: Entry; readonly contextEntry: EntryHead; readonly acl: Acl },
): Promise<void> {
  if (!isList(list)) return
  const { caller } = writer
  for (const member of await membersBelow(writer.tx, list, 'trusted')) {
    const entry = await findEntryHead(writer.tx, member)
    if (!entry) continue
    if (!may(caller, 'administer', { entry, contextEntry })) throw denied(caller, `administer the entry "${entry.id}"`)
    await writer.updateHead(entry, { ...entry, acl })
  }
}

/**
 * Deletes entries with everything that belongs to them: their file, their place in a list, and what their kind of resource keeps
 * elsewhere. The list that contains the first of them changes too. Part of a change whose right has been checked.
 * @throws {Forbidden} for system entries
 */
async function deleteEntries(
  writer: EntryWriter,
  entries: readonly MemberBelow[],
  { files, kinds, by }: Pick<Dependencies, 'files' | 'kinds'> & { readonly by?: string },
): Promise<void> {
  const system = entries.find(isSystemEntry)
  if (system)
    throw new Forbidden('not-allowed', `${system.context}/${system.id} belongs to the system and cannot be deleted.`)
  const [first] = entries
  if (first) await touchHoldingList(writer, first, by)
  for (const entry of entries) {
    await kinds.of(entry).remove?.(writer, entry)
    if (entry.context === CONTEXTS || entry.context === PRINCIPALS) await writer.retireId(entry)
    await files.remove(writer.tx, entry)
    await leaveList(writer.tx, entry)
    await writer.delete(entry)
  }
}

/** @param entries number of entries that are deleted together */
const deletion = (entry: Entry, entries: number) => ({
  event: 'entry-deleted' as const,
  detail: { context: entry.context, entry: entry.id, name: displayName(entry), entries },
})

/**
 * Gives the list that contains the entry, if any, a later modification time: its members change.
 * @param by the id of the user who makes the change, where there is no caller
 */
export async function touchHoldingList(writer: EntryWriter, { context, id }: EntryAddress, by?: string): Promise<void> {
  const holding = await listHolding(writer.tx, { context, id })
  if (holding !== undefined) await writer.touch({ context, id: holding }, by)
}
