import { groupsOf } from '../accounts/groups.ts'
import { NotFound } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import { CONTEXTS, type EntryAddress, type EntryKey, PRINCIPALS } from '../model/addresses.ts'
import type { Entry, EntryHead, EntrySummary } from '../model/entry.ts'
import type { ResponseBudget } from '../model/response-budget.ts'
import type { AccessTarget, EntryInContext } from '../model/rights.ts'
import type { Database } from '../stores/database.ts'
import { type DependencyCache, memoryOf } from '../stores/dependency-cache.ts'
import { type FoundContext, getContext } from './contexts.ts'
import {
  type Attached,
  findAttached,
  findEntryHead,
  findEntrySummary,
  findEntryToShow,
  findLoadedEntry,
  type LoadedEntry,
} from './entry-records.ts'

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
}

interface EntryLoaderOptions {
  /** Rights on users depend on their groups. */
  readonly withGroups: boolean
}

/** In a response with several entries, larger ones are read again each time, so that they do not displace all others. */
const MAX_SHARED: Bytes = 32_768
/** The head of an entry, without its access list. */
const HEAD_BYTES: Bytes = 500
/** Of an access list each address is a text with an overhead of its own. */
const memoryOfHead = ({ acl }: EntryHead): Bytes => HEAD_BYTES + 2 * memoryOf(JSON.stringify(acl))

/** The names in the change log on which rights on an entry depend: the entry itself, and the folders that give access to it. */
const subjectsOf = ({ context, id, folders }: EntryHead): string[] => [
  `${context}/${id}`,
  ...folders.map(folder => `${context}/${folder.id}`),
]

/**
 * Loads entries before the right has been checked. Only the services of this module have one: what they return to a route has been
 * checked (`test/house.test.ts`).
 */
export class EntryLoader {
  readonly #deps: Dependencies
  readonly #withGroups: boolean

  constructor(deps: Dependencies, { withGroups }: EntryLoaderOptions = { withGroups: false }) {
    this.#deps = deps
    this.#withGroups = withGroups
  }

  /** The present entry, including every acknowledged change. @throws {NotFound} */
  async get({ context: contextKey, entry: id }: EntryKey): Promise<EntryInContext> {
    const { context, entry: contextEntry } = await this.getContext(contextKey)
    const loaded = await this.#loaded({ context: context.id, id })
    if (!loaded) throw new NotFound('not-found', `There is no entry "${id}" in context ${context.id}.`)
    return { entry: loaded.entry, contextEntry }
  }

  /**
   * The type and size of an entry, before any right has been checked; `undefined` if there is no such entry.
   * @param small an entry up to this size is loaded at once, because the request needs it next
   */
  async summary({ context, entry: id }: EntryKey, small: Bytes): Promise<EntrySummary | undefined> {
    const loaded = await this.#loaded({ context, id }, small)
    if (!loaded) return await findEntrySummary(this.#deps.database, context, id)
    const { entryType, graphType } = loaded.entry
    return { entryType, graphType, size: loaded.size }
  }

  /** For a response with several entries: graphs that exceed the budget are not loaded. */
  async toShow(address: EntryAddress, budget: ResponseBudget): Promise<Entry | undefined> {
    const loaded = await this.#loaded(address, MAX_SHARED)
    const size = loaded?.size
    if (size === undefined || size > budget.maxEntry) return await findEntryToShow(this.#deps.database, address, budget)
    budget.spend(size)
    return loaded?.entry
  }

  /** What other tables hold about an entry. */
  async attached(address: EntryAddress): Promise<Attached> {
    const loaded = await this.#loaded(address)
    return loaded?.attached ?? (await findAttached(this.#deps.database, address))
  }

  /** What rights on an entry depend on. `undefined` where there is no such entry. */
  async target(address: EntryAddress): Promise<AccessTarget | undefined> {
    const [entry, contextEntry] = [
      await this.head(address),
      await this.head({ context: CONTEXTS, id: address.context }),
    ]
    return entry && contextEntry && { entry, contextEntry }
  }

  #loaded({ context, id }: EntryAddress, most?: Bytes): Promise<LoadedEntry | undefined> {
    const subject = `${context}/${id}`
    return this.#deps.cache.get(`entry ${subject}`, async () => {
      const value = await findLoadedEntry(this.#deps.database, { context, id }, most)
      if (!value) return undefined
      const entry = await this.#inGroups(value.entry)
      return { value: { ...value, entry }, subjects: subjectsOf(entry), bytes: value.bytes }
    })
  }

  async #inGroups<T extends EntryHead>(entry: T): Promise<T> {
    if (!this.#withGroups || entry.context !== PRINCIPALS) return entry
    return { ...entry, groups: await groupsOf(this.#deps.database, entry.id) }
  }

  /** Only the members that rights depend on. */
  head(address: EntryAddress): Promise<EntryHead | undefined> {
    const subject = `${address.context}/${address.id}`
    return this.#deps.cache.get(`head ${subject}`, async () => {
      const head = await findEntryHead(this.#deps.database, address)
      const value = head && (await this.#inGroups(head))
      return value && { value, subjects: subjectsOf(value), bytes: memoryOfHead(value) }
    })
  }

  /** What a decision about the rights on an entry depends on in the change log, beside the caller. */
  static subjectsOf({ entry, contextEntry }: AccessTarget): string[] {
    return [...subjectsOf(entry), ...subjectsOf(contextEntry)]
  }

  /** A context, by its id or name. @throws {NotFound} */
  async getContext(key: string): Promise<FoundContext> {
    const found = await this.#deps.cache.get(`context ${key}`, async () => {
      const value = await getContext(this.#deps.database, key)
      return { value, subjects: [`${CONTEXTS}/${value.context.id}`], bytes: memoryOfHead(value.entry) }
    })
    return found ?? (await getContext(this.#deps.database, key))
  }

  /** The entry of a context itself. @throws {NotFound} */
  async getContextEntry(contextKey: string): Promise<EntryInContext> {
    const { context } = await this.getContext(contextKey)
    return await this.get({ context: CONTEXTS, entry: context.id })
  }
}
