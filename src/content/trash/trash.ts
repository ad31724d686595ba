import { type Caller, denied } from '../../accounts/caller.ts'
import { findUser } from '../../accounts/users.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { Files } from '../../files/files.ts'
import { CONTEXTS, type EntryAddress, type EntryKey, entryUri, PRINCIPALS } from '../../model/addresses.ts'
import { type EntryHead, type GraphType, isList } from '../../model/entry.ts'
import { may, requireRight, requires } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { Changes, EntryWriter, Precondition } from '../changes.ts'
import { getContext } from '../contexts.ts'
import { touchHoldingList } from '../entries.ts'
import { displayName } from '../file-description.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { findEntryHead } from '../entry-records.ts'
import { appendToList, forgetList, insertMembership, leaveList, membersBelow } from '../list-records.ts'
import {
  findTrashed,
  findTrashedEntry,
  trashedBefore,
  trashedHeads,
  trashedHeadsAfter,
  type TrashedMember,
  trashedSizes,
  trashedWith,
} from '../trash-rows.ts'

interface Dependencies {
  readonly database: Database
  readonly changes: Changes
  readonly loader: EntryLoader
  readonly files: Files
  readonly system: System
}

interface TrashOptions {
  /** Time until entries in the trash are deleted; 0 means never. */
  readonly retention: Milliseconds
}

/** An entry in the trash, together with everything in it. */
export interface TrashedEntry {
  readonly entryId: string
  /** The file name or the title; the id if it has neither. */
  readonly name: string
  readonly graphType: GraphType
  /** Number of entries: 1, plus those in the list. */
  readonly entries: number
  readonly bytes: Bytes
  readonly deleted: Milliseconds
  /** Id and name of the user who moved it to the trash. The name is absent if the user no longer exists. */
  readonly deletedBy: { readonly id: string; readonly name: string | undefined }
  /** Id of the list that it was in, if any. */
  readonly list: string | undefined
  /** When it is deleted permanently; absent if it stays. */
  readonly expires: Milliseconds | undefined
}

interface TrashPage {
  readonly items: readonly TrashedEntry[]
  /** Number of all entries that the caller administers. */
  readonly results: number
  readonly bytes: Bytes
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
    const { context, id } = target.entry
    if (context === CONTEXTS || context === PRINCIPALS) {
      throw new InvalidInput('invalid-type', 'Contexts, users and groups cannot be moved to the trash.')
    }
    await this.#deps.changes.run(
      caller,
      async writer => {
        const { entry, contextEntry } = await writer.recheck(target, trashing)
        precondition(entry)
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
      },
      isList(target.entry) ? { ownCommit: true } : {},
    )
  }

  /** The entries in the trash that the caller administers, the latest first. */
  async list(
    caller: Caller,
    contextKey: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<TrashPage> {
    const { database } = this.#deps
    const { context, entry: contextEntry } = await getContext(database, contextKey)
    const heads = (await trashedHeads(database, context.id)).filter(({ entry }) =>
      may(caller, 'administer', { entry, contextEntry }),
    )
    // An empty result reveals nothing. But a caller without any right may have lost the session, and must get
    // a 401.
    if (heads.length === 0 && !may(caller, 'readresource', { entry: contextEntry, contextEntry })) {
      throw denied(caller, 'see the trash of this context')
    }
    const sizes = await trashedSizes(database, context.id)
    const bytes = heads.reduce((sum, { entry }) => sum + (sizes.get(entry.id)?.bytes ?? 0), 0)
    const items: TrashedEntry[] = []
    for (const { entry: head, deleted, deletedBy, list } of heads.slice(offset, offset + limit)) {
      const found = await findTrashed(database, head)
      if (!found) continue
      items.push({
        entryId: head.id,
        name: displayName(found.entry),
        graphType: head.graphType,
        ...(sizes.get(head.id) ?? { entries: 1, bytes: 0 }),
        deleted,
        deletedBy: { id: deletedBy, name: (await findUser(database, deletedBy))?.name },
        list,
        expires: this.#options.retention === 0 ? undefined : deleted + this.#options.retention,
      })
    }
    return { items, results: heads.length, bytes }
  }

  /**
   * Restores an entry and everything in it: into the list that held it, or into no list if that one no longer
   * exists or the caller may not write to it.
   * Resolves to its address and the id of the list.
   * @throws {Forbidden} if the caller may not administer an entry in it: it is restored as a whole or not at all
   */
  async restore(caller: Caller, contextKey: string, id: string): Promise<Restored> {
    return await this.#deps.changes.run(
      caller,
      async writer => {
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
        const isOpen = holding !== undefined && may(writer.caller, 'writeresource', { entry: holding, contextEntry })
        if (!isOpen || !isList(holding)) return { address, list: undefined }
        const [root] = all
        await appendToList(tx, holding, { id, isTrusted: root?.membership?.isTrusted ?? true })
        await writer.updateHead(holding, holding)
        return { address, list: holding.id }
      },
      { ownCommit: true },
    )
  }

  /** Deletes an entry in the trash permanently, with everything in it. @throws {Forbidden} as {@link restore} does */
  async delete(caller: Caller, contextKey: string, id: string): Promise<void> {
    await this.#deps.changes.run(
      caller,
      async writer => {
        const { entry, all } = await requireTrashed(writer.tx, writer.caller, { contextKey, id, verb: 'delete' })
        await this.#purge(writer, entry, all)
      },
      { ownCommit: true },
    )
    void this.#deps.files.collectGarbage()
  }

  /**
   * Deletes what was moved to the trash of a context and the caller may administer with everything in it, in several transactions if it is
   * much. Resolves to the number of entries that had been moved there.
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

  /** Deletes the next ones, so that a large trash does not keep others from writing for long. */
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
 * The first entry that the caller does not administer. Rights are judged again, because who moved a list to the trash may have had more
 * of them.
 */
const findForeign = (
  caller: Caller,
  contextEntry: EntryHead,
  all: readonly TrashedMember[],
): TrashedMember | undefined => all.find(({ entry }) => !may(caller, 'administer', { entry, contextEntry }))
