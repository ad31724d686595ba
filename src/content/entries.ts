import type { Caller } from '../accounts/caller.ts'
import { findGroup } from '../accounts/groups.ts'
import type { Sessions } from '../accounts/sessions.ts'
import { findUser } from '../accounts/users.ts'
import { NotFound, WrongMethod } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import type { Files } from '../files/files.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { Graph } from '../graph/graph.ts'
import { CONTEXTS, PRINCIPALS } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import { type EntryInContext, requireRight, requires } from '../model/rights.ts'
import type { Database, Queries, TransactionOptions } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { hasExternalMetadata, liveSourceOf } from './cached-metadata.ts'
import type { Changes, Precondition } from './changes.ts'
import { findContext, type FoundContext, getContext } from './contexts.ts'
import { deleteEntries } from './deletion.ts'
import { findEntry } from './entry-records.ts'
import { sizeOf } from './lazy-graphs.ts'
import { applyHomeContext, setName } from './entry-names.ts'
import { readInfo } from './info.ts'
import { withInfo } from './info-change.ts'
import { isList } from './list-records.ts'
import { applyAclBelow, entriesBelow } from './list-tree.ts'
import type { Read } from './values.ts'

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly files: Files
  readonly ledger: Ledger
  readonly sessions: Sessions
  readonly system: System
  readonly changes: Changes
}

/** The head of an entry of a context, without its access list. */
const CONTEXT_BYTES: Bytes = 1500

/** Finds entries, changes what every entry has (info, metadata, name), and deletes entries (W3.3 to 3.6). */
export class Entries {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The present entry, including every acknowledged change. @param contextKey id or name of the context. @throws {NotFound}
   */
  async get(contextKey: string, id: string): Promise<EntryInContext> {
    const { context, entry: contextEntry } = await this.#getContext(contextKey)
    const subject = `${context.id}/${id}`
    const entry = await this.#deps.cache.get(`entry ${subject}`, async () => {
      const value = await findEntry(this.#deps.database, { context: context.id, id })
      return value && { value, subjects: [subject], bytes: sizeOf(value) }
    })
    if (!entry) throw new NotFound('not-found', `There is no entry "${id}" in context ${context.id}.`)
    return { entry, contextEntry }
  }

  async #getContext(key: string): Promise<FoundContext> {
    const found = await this.#deps.cache.get(`context ${key}`, async () => {
      const value = await getContext(this.#deps.database, key)
      const bytes = CONTEXT_BYTES + 2 * JSON.stringify(value.entry.acl).length
      return { value, subjects: [`${CONTEXTS}/${value.context.id}`], bytes }
    })
    return found ?? (await getContext(this.#deps.database, key))
  }

  /** The entry of a context itself. */
  async getContextEntry(contextKey: string): Promise<EntryInContext> {
    const { context } = await this.#getContext(contextKey)
    return await this.get(CONTEXTS, context.id)
  }

  /** Replaces the info (W3.3.2). @param toMembers also gives the list's new ACL to all entries in the list. */
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
    return await this.#deps.changes.change(
      caller,
      placed,
      { check: judge, precondition },
      async (entry, writer, { contextEntry }) => {
        const asked = readInfo(info, entry)
        await applyHomeContext(writer.tx, entry, asked)
        const changed = withInfo(entry, asked)
        if (toMembers) await applyAclBelow(writer, { list: changed, contextEntry, acl: changed.acl })
        return changed
      },
    )
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
    return await this.#deps.changes.change(caller, placed, { check: judge, precondition }, entry => ({
      ...entry,
      metadata,
    }))
  }

  /** Replaces the copy of external metadata (W3.6). */
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
    return await this.#deps.changes.change(caller, placed, { check: judge, precondition }, entry => {
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

  /** Sets the name of a context or group or, for administrators, of a user (D5.4); an empty name removes it. */
  async rename(caller: Caller, placed: EntryInContext, read: Read<string>): Promise<Entry> {
    const { entry } = placed
    if (!hasName(entry)) throw new NotFound('not-found', 'Entries of this kind have no name.')
    const isUser = entry.graphType === 'User'
    const right = entry.context === CONTEXTS || isUser ? 'administer' : 'writeresource'
    const judge = requires(right, isUser ? 'change the name of a user' : 'change this name')
    judge(caller, placed)
    const name = await read()
    return await this.#deps.changes.change(caller, placed, { check: judge }, async (present, writer) => {
      await setName(writer, present, name)
      return present
    })
  }

  /**
   * Deletes an entry with everything that belongs to it, and a context with all its entries (W3.3.3).
   * @param recursive deletes a list with all that it contains, which requires the right to administer the context.
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
    const users = await this.#deps.changes.run(
      caller,
      async writer => {
        const { entry: present } = await writer.recheck(placed, judge)
        precondition(present)
        const all = takesMembers ? [present, ...(await entriesBelow(writer.tx, present))] : [present]
        return await deleteEntries(writer, all, this.#deps)
      },
      options,
    )
    for (const { id } of users) await this.#deps.sessions.clearAway(id)
    // A context or a list may have held many files, so their deletion continues after the response.
    const collected = this.#deps.files.collectGarbage()
    if (entry.context !== CONTEXTS && !takesMembers) await collected
  }
}

/** True for the kinds of entry that have a name: contexts, groups, users. */
export const hasName = (entry: Entry): boolean =>
  entry.context === CONTEXTS ||
  (entry.context === PRINCIPALS && entry.entryType === 'Local' && ['User', 'Group'].includes(entry.graphType))
