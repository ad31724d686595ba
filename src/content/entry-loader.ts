import { NotFound } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import { CONTEXTS, type EntryKey } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { EntryInContext } from '../model/rights.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { type FoundContext, getContext } from './contexts.ts'
import { findEntry, sizeOf, storedSizeOf } from './entry-records.ts'
import { findOutline, type Outline } from './outline.ts'
import { hasManyRelations } from './relations.ts'

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
}

/** The head of an entry of a context, without its access list. */
const CONTEXT_BYTES: Bytes = 1500

/**
 * Loads entries before the right has been checked. Only the services of this room have one: what they return to a route has been
 * checked (`test/house.test.ts`).
 */
export class EntryLoader {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** The present entry, including every acknowledged change. @throws {NotFound} */
  async get({ context: contextKey, entry: id }: EntryKey): Promise<EntryInContext> {
    const { context, entry: contextEntry } = await this.getContext(contextKey)
    const subject = `${context.id}/${id}`
    const entry = await this.#deps.cache.get(`entry ${subject}`, async () => {
      const value = await findEntry(this.#deps.database, { context: context.id, id })
      return value && { value, subjects: [subject], bytes: sizeOf(value) }
    })
    if (!entry) throw new NotFound('not-found', `There is no entry "${id}" in context ${context.id}.`)
    return { entry, contextEntry }
  }

  /**
   * What an entry is and how large, before any right has been checked and without its graphs. An entry in the cache costs no statement.
   * `undefined` where there is none.
   */
  async outline({ context, entry: id }: EntryKey): Promise<Outline | undefined> {
    const known = await this.#deps.cache.peek<Entry>(`entry ${context}/${id}`)
    return known ? outlineOf(known) : await findOutline(this.#deps.database, context, id)
  }

  /** Whether many statements of other entries are about this one, known until they change. @throws {NotFound} */
  async hasManyRelations({ context: contextKey, entry: id }: EntryKey): Promise<boolean> {
    const { context } = await this.getContext(contextKey)
    const subject = `${context.id}/${id}`
    const found = await this.#deps.cache.get(`many relations ${subject}`, async () => {
      const value = await hasManyRelations(this.#deps.database, { context: context.id, id })
      return { value, subjects: [subject], bytes: 0 }
    })
    return found === true
  }

  /** A context, by its id or name. @throws {NotFound} */
  async getContext(key: string): Promise<FoundContext> {
    const found = await this.#deps.cache.get(`context ${key}`, async () => {
      const value = await getContext(this.#deps.database, key)
      const bytes = CONTEXT_BYTES + 2 * JSON.stringify(value.entry.acl).length
      return { value, subjects: [`${CONTEXTS}/${value.context.id}`], bytes }
    })
    return found ?? (await getContext(this.#deps.database, key))
  }

  /** The entry of a context itself. @throws {NotFound} */
  async getContextEntry(contextKey: string): Promise<EntryInContext> {
    const { context } = await this.getContext(contextKey)
    return await this.get({ context: CONTEXTS, entry: context.id })
  }
}

const outlineOf = (entry: Entry): Outline => ({
  entryType: entry.entryType,
  graphType: entry.graphType,
  size: storedSizeOf(entry),
})
