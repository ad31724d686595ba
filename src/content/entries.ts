import { type Caller, denied, isAdmin } from '../accounts/caller.ts'
import { findGroup } from '../accounts/groups.ts'
import { findUser } from '../accounts/users.ts'
import { Conflict, Forbidden, NotFound } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { Files } from '../files/files.ts'
import type { Graph } from '../graph/graph.ts'
import {
  CONTEXTS,
  type EntryAddress,
  type EntryKey,
  isSystemEntry,
  principalIn,
  PRINCIPALS,
} from '../model/addresses.ts'
import { type Acl, type Entry, type EntryHead, type EntrySummary, isList } from '../model/entry.ts'
import { type EntryInContext, may, requireRight, requires, type Right } from '../model/rights.ts'
import type { Database, Queries, TransactionOptions } from '../stores/database.ts'
import type { Changes, EntryWriter, Precondition } from './changes.ts'
import { getContext } from './contexts.ts'
import type { EntryLoader } from './entry-loader.ts'
import { findEntry, findEntryHead } from './entry-records.ts'
import { displayName } from './file-description.ts'
import { personalDataOf } from './provisioning.ts'
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

/** A user or group as people call it. */
export interface NamedPrincipal {
  readonly id: string
  readonly name: string | undefined
  readonly fullName: string | undefined
}

/** Changes info and name of entries, and deletes entries (W3.3 to 3.6). */
export class Entries {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** The entry, for a caller who has the right. @param what completes "You may not …". */
  async get(caller: Caller, key: EntryKey, right: Right, what: string): Promise<Entry> {
    return requireReadable(caller, await this.#deps.loader.get(key), right, what)
  }

  /** The entry of a context, for a caller who has the right. @param what completes "You may not …". */
  async getContext(caller: Caller, contextKey: string, right: Right, what: string): Promise<Entry> {
    return requireReadable(caller, await this.#deps.loader.getContextEntry(contextKey), right, what)
  }

  /** The id of a context, given by its id or name. @throws {NotFound} */
  async contextId(contextKey: string): Promise<string> {
    return (await this.#deps.loader.getContext(contextKey)).context.id
  }

  /**
   * What an entry is and how large, for deciding where a request is answered; `undefined` where there is none.
   * @param small entries up to this size are read where the request has arrived
   */
  summary(key: EntryKey, small: Bytes): Promise<EntrySummary | undefined> {
    return this.#deps.loader.summary(key, small)
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

  /**
   * The users and groups in the access lists of the entry and its context, with their names: whoever administers an entry may read who has
   * access to it, even if the names of others are hidden (D18.20).
   */
  async listAccess(caller: Caller, key: EntryKey): Promise<readonly NamedPrincipal[]> {
    const { database, loader } = this.#deps
    const target = await loader.get(key)
    requireRight(caller, 'administer', target, 'read who has access to this entry')
    const uris = [target.entry, target.contextEntry].flatMap(({ acl }) => Object.values(acl).flat())
    const named: NamedPrincipal[] = []
    for (const id of new Set(uris.flatMap(uri => principalIn(uri) ?? []))) {
      const { name } = (await findUser(database, id)) ?? (await findGroup(database, id)) ?? {}
      const fullName = (await personalDataOf(database, id)).name
      if (name !== undefined || fullName !== undefined) named.push({ id, name, fullName })
    }
    return named
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
   * @param recursive deletes a list with all that it contains, which requires the right to administer the context.
   */
  async delete(caller: Caller, key: EntryKey, precondition: Precondition, recursive = false): Promise<void> {
    const target = await this.#deps.loader.get(key)
    const { entry, contextEntry } = target
    const check = requires('administer', 'delete this entry')
    check(caller, target)
    const takesMembers = recursive && isList(entry)
    if (takesMembers) {
      const { entry: contextsEntry } = await getContext(this.#deps.database, CONTEXTS)
      const whole = { entry: contextEntry, contextEntry: contextsEntry }
      requireRight(caller, 'administer', whole, 'delete a list with all its members')
    }
    const options: TransactionOptions = entry.context === CONTEXTS || takesMembers ? { ownCommit: true } : {}
    const deleted = await this.#deps.changes.run(
      caller,
      async writer => {
        const { entry: present } = await writer.recheck(target, check)
        precondition(present)
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
   * Deletes an entry without a caller, if it is still there and `isUnused`. It must be one whose kind keeps nothing elsewhere.
   * @param by id of the user in whose name the list that contains it changes
   */
  async deleteByService(
    address: EntryAddress,
    by: string,
    isUnused: (entry: Entry, tx: Queries) => Promise<boolean>,
  ): Promise<void> {
    await this.#deps.changes.run(undefined, async writer => {
      const entry = await findEntry(writer.tx, address)
      if (!entry || !(await isUnused(entry, writer.tx))) return
      await deleteEntries(writer, [entry], { ...this.#deps, by })
      writer.record(deletion(entry, 1))
    })
  }
}

function requireReadable(caller: Caller, target: EntryInContext, right: Right, what: string): Entry {
  requireRight(caller, right, target, what)
  return target.entry
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
 * Gives all entries below a list the list's access list (W3.3.2), but for those that were added without the right to administer them: who
 * may write to the list could give themselves rights on any entry of the caller. It requires the right to administer each entry; if the
 * caller lacks it for one, the whole change is rejected.
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
  if (entries.some(isSystemEntry)) throw new Forbidden('not-allowed', 'System entries cannot be deleted.')
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

/** @param entries number of those that are deleted with it */
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
  const list = holding === undefined ? undefined : await findEntryHead(writer.tx, { context, id: holding })
  if (list) await writer.updateHead(list, list, by)
}
