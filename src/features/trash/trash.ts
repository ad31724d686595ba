import { denied } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Files } from '../../files/files.ts'
import {
  CONTEXTS,
  type EntryAddress,
  type EntryKey,
  entryUri,
  PRINCIPALS,
  principalUri,
} from '../../model/addresses.ts'
import {
  type Acl,
  decidingAlone,
  type Entry,
  type EntryHead,
  followsFolder,
  givingAccess,
  isList,
} from '../../model/entry.ts'
import { type EntryInContext, letContextIn, may, requireRight, requires } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { Changes, EntryWriter, Precondition } from '../../content/changes.ts'
import { getContext } from '../../content/contexts.ts'
import { touchHoldingList } from '../../content/entries.ts'
import { displayName } from '../../content/file-description.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { findEntryHead } from '../../content/entry-records.ts'
import { joinList, settleLists } from '../../content/access-scopes.ts'
import { forgetList, insertMembership, leaveList, membersBelow } from '../../content/list-records.ts'
import {
  findTrashed,
  findTrashedEntry,
  trashedBefore,
  trashedHeadsAfter,
  type TrashedMember,
  trashedWith,
} from '../../content/trash-rows.ts'

interface Dependencies {
  readonly database: Database
  readonly changes: Changes
  readonly loader: EntryLoader
  readonly files: Files
  readonly system: System
}

export interface TrashOptions {
  /** Time until entries in the trash are deleted; 0 means never. */
  readonly retention: Milliseconds
}

/** An entry that has been restored from the trash. */
interface Restored {
  /** Its URI relative to the base address. */
  readonly address: string
  /** Id of the list that it belongs to again, if any. */
  readonly list: string | undefined
}

const trashing = requires('administer', 'move this entry to the trash')
/** Entries deleted in a row, before other transactions run. */
const BATCH = 50
/** Entries after which a transaction ends. Deleting them takes some hundred milliseconds. */
const MAX_ENTRIES = 1000

/**
 * Moves entries to the trash, restores them, and deletes them permanently (D25). This requires the right to
 * administer the entry. Entries in the trash are rows of another table, so that nothing else finds them.
 * Their files stay in place and count towards the quota.
 */
export class Trash {
  readonly #deps: Dependencies
  readonly #options: TrashOptions

  constructor(deps: Dependencies, options: TrashOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * Moves an entry to the trash, a list together with everything in it.
   * @throws {Forbidden} if the caller may not administer an entry in the list
   */
  async put(caller: Caller, key: EntryKey, precondition: Precondition): Promise<void> {
    const target = await this.#deps.loader.get(key)
    trashing(caller, target)
    requireTrashable(target.entry)
    await this.#deps.changes.run(
      caller,
      async writer => {
        const present = await writer.recheck(target, trashing)
        precondition(present.entry)
        await this.#put(writer, present)
      },
      isList(target.entry) ? { ownCommit: true } : {},
    )
  }

  /** {@link put} as a step of a larger change. */
  async putWithin(writer: EntryWriter, address: EntryAddress): Promise<void> {
    requireTrashable(address)
    await this.#put(writer, await writer.load(address, trashing))
  }

  async #put(writer: EntryWriter, { entry, contextEntry }: EntryInContext): Promise<void> {
    const { context, id } = entry
    const below = isList(entry) ? await membersBelow(writer.tx, entry, 'all') : []
    for (const member of below) {
      const one = await findEntryHead(writer.tx, member)
      const what = `move the entry "${member.id}" to the trash, which is in this list`
      if (one) requireRight(writer.caller, 'administer', { entry: one, contextEntry }, what)
    }
    await touchHoldingList(writer, entry)
    const all = [entry, ...below]
    for (const one of all) await writer.moveToTrash(one, id)
    await leaveList(writer.tx, entry)
    for (const one of all) if (isList(one)) await forgetList(writer.tx, one)
    writer.record({
      event: 'entry-trashed',
      detail: { context, entry: id, name: displayName(entry), entries: all.length },
    })
  }

  /**
   * Restores an entry and everything in it: into the list that held it, or into no list if that one no longer
   * exists or the caller may not write to it.
   * Resolves to its address and the id of the list.
   * @throws {Forbidden} if the caller may not administer an entry in it: it is restored as a whole or not at all
   */
  async restore(caller: Caller, contextKey: string, id: string): Promise<Restored> {
    return await this.#deps.changes.run(caller, writer => this.restoreWithin(writer, contextKey, id), {
      ownCommit: true,
    })
  }

  /** {@link restore} as a step of a larger change. */
  async restoreWithin(writer: EntryWriter, contextKey: string, id: string): Promise<Restored> {
    const { tx } = writer
    const wanted = { contextKey, id, verb: 'restore' } as const
    const { entry, list, all, contextEntry } = await requireTrashed(tx, writer.caller, wanted)
    let name = id
    for (const { entry: head } of all) {
      const one = await findTrashedEntry(tx, head)
      if (one?.id === id) name = displayName(one)
      if (one) await writer.restore(one)
    }
    for (const { entry: one, membership } of all) {
      if (one.id !== id && membership) await insertMembership(tx, one, membership)
    }
    const detail = { context: entry.context, entry: id, name, entries: all.length }
    writer.record({ event: 'entry-restored', detail })
    const holding = list === undefined ? undefined : await findEntryHead(tx, { context: entry.context, id: list })
    const address = entryUri(entry)
    const [root] = all
    const isOpen = holding !== undefined && may(writer.caller, 'writeresource', { entry: holding, contextEntry })
    const lists = all.map(({ entry: one }) => one).filter(isList)
    if (!isOpen || !isList(holding)) {
      await closeOutside(writer, entry)
      await settleLists(writer, lists)
      return { address, list: undefined }
    }
    await joinList(writer, holding, { ...entry, folders: [] }, root?.membership?.isTrusted ?? true)
    await settleLists(writer, lists)
    await writer.touch(holding)
    return { address, list: holding.id }
  }

  /** Deletes an entry in the trash permanently, with everything in it. @throws {Forbidden} as {@link restore} does */
  async delete(caller: Caller, contextKey: string, id: string): Promise<void> {
    await this.#deps.changes.run(caller, writer => this.deleteWithin(writer, contextKey, id), { ownCommit: true })
    void this.#deps.files.collectGarbage()
  }

  /** {@link delete} as a step of a larger change. Bytes that nothing needs any more are collected after its commit. */
  async deleteWithin(writer: EntryWriter, contextKey: string, id: string): Promise<void> {
    const { entry, all } = await requireTrashed(writer.tx, writer.caller, { contextKey, id, verb: 'delete' })
    await this.#purge(writer, entry, all)
  }

  /**
   * Deletes entries from the trash of a context, with everything inside them, if the caller may administer all of it; in several
   * transactions if there are many. Resolves to the number of entries that had been moved to the trash themselves.
   */
  async empty(caller: Caller, contextKey: string): Promise<number> {
    const { changes, files } = this.#deps
    let emptied: Emptied = { deleted: 0, next: '' }
    while (emptied.next !== undefined) {
      const before = emptied
      emptied = await changes.run(caller, writer => this.#emptySome(writer, contextKey, before), { ownCommit: true })
    }
    void files.collectGarbage()
    return emptied.deleted
  }

  /** Deletes the next batch, so that a large trash does not block other writers for long. */
  async #emptySome(writer: EntryWriter, contextKey: string, { deleted, next = '' }: Emptied): Promise<Emptied> {
    const { tx, caller } = writer
    const { context, entry: contextEntry } = await getContext(tx, contextKey)
    const heads = await trashedHeadsAfter(tx, { context: context.id, id: next }, BATCH)
    let [entries, purged] = [0, 0]
    for (const entry of heads) {
      if (!may(caller, 'administer', { entry, contextEntry })) continue
      const all = await trashedWith(tx, entry)
      if (findForeign(caller, contextEntry, all)) continue
      await this.#purge(writer, entry, all)
      entries += all.length
      purged++
      if (entries >= MAX_ENTRIES) return { deleted: deleted + purged, next: entry.id }
    }
    const emptied = { deleted: deleted + purged, next: heads.length < BATCH ? undefined : heads.at(-1)?.id }
    const isNothing = emptied.next === undefined && emptied.deleted === 0
    if (isNothing && !may(caller, 'readresource', { entry: contextEntry, contextEntry })) {
      throw denied(caller, 'empty the trash of this context')
    }
    return emptied
  }

  /**
   * Deletes entries that have been in the trash longer than the retention. Several nodes may do so at the
   * same time: the first transaction deletes an entry, and the others do not find it.
   */
  async expire(): Promise<void> {
    const { retention } = this.#options
    if (retention === 0) return
    const { changes, database, system, files } = this.#deps
    const before = system.now() - retention
    for (;;) {
      const due = await trashedBefore(database, before, BATCH)
      for (const address of due) {
        await changes.run(undefined, async writer => {
          const found = await findTrashed(writer.tx, address)
          // Skips an entry that another node has deleted, or that was restored and moved to the trash again.
          if (found && found.deleted < before) await this.#purge(writer, address, await trashedWith(writer.tx, address))
        })
      }
      if (due.length < BATCH) break
    }
    await files.collectGarbage()
  }

  /** @param all with everything in it */
  async #purge(writer: EntryWriter, { context, id }: EntryAddress, all: readonly TrashedMember[]): Promise<void> {
    const root = await findTrashedEntry(writer.tx, { context, id })
    for (const { entry } of all) {
      await this.#deps.files.remove(writer.tx, entry)
      await writer.deleteFromTrash(entry)
    }
    const name = root ? displayName(root) : id
    writer.record({ event: 'trash-deleted', detail: { context, entry: id, name, entries: all.length } })
  }
}

/** @throws {InvalidInput} */
function requireTrashable({ context }: EntryAddress): void {
  if (context === CONTEXTS || context === PRINCIPALS)
    throw new InvalidInput('invalid-type', 'Contexts, users and groups cannot be moved to the trash.')
}

/**
 * If a folder had closed an entry, and the entry is restored outside any folder, only the person who restores it has access, until they
 * change this: nobody has asked to open the entry to the readers of the context.
 */
async function closeOutside(writer: EntryWriter, { folders, ...entry }: Entry): Promise<void> {
  if (!followsFolder(entry.acl) || letContextIn(folders)) return
  const present = await findEntryHead(writer.tx, entry)
  const own = decidingAlone(entry.acl)
  const alone: Acl = { ...own, admin: [...new Set([...(own.admin ?? []), principalUri(writer.caller.user.id)])] }
  const acl = isList(entry) ? givingAccess(alone) : alone
  if (present) await writer.updateHead(present, { ...present, acl })
}

/** How far the trash of a context is emptied. */
interface Emptied {
  readonly deleted: number
  /** The entries after this id are next; `undefined` when there are no more. */
  readonly next: string | undefined
}

interface Wanted {
  readonly contextKey: string
  readonly id: string
  readonly verb: 'restore' | 'delete'
}

/** An entry that was moved to the trash, with everything in it, all of which the caller administers. */
async function requireTrashed(queries: Queries, caller: Caller, { contextKey, id, verb }: Wanted) {
  const { context, entry: contextEntry } = await getContext(queries, contextKey)
  const found = await findTrashed(queries, { context: context.id, id })
  if (!found) throw new NotFound('not-found', `There is no entry "${id}" in the trash of context ${context.id}.`)
  requireRight(caller, 'administer', { entry: found.entry, contextEntry }, `${verb} this entry`)
  const all = await trashedWith(queries, found.entry)
  const foreign = findForeign(caller, contextEntry, all)
  if (foreign) throw denied(caller, `${verb} the entry "${foreign.entry.id}", which is in this list`)
  return { ...found, all, contextEntry }
}

/**
 * The first entry that the caller does not administer. The rights are checked again, because the user who moved the list to the trash may
 * have had more rights.
 */
const findForeign = (
  caller: Caller,
  contextEntry: EntryHead,
  all: readonly TrashedMember[],
): TrashedMember | undefined => all.find(({ entry }) => !may(caller, 'administer', { entry, contextEntry }))
