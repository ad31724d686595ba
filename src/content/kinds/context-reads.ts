import { requireAdmin } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { findPrincipalNamed, requireName } from '../../accounts/users.ts'
import { CONTEXTS, PRINCIPALS } from '../../model/addresses.ts'
import type { EntryInContext } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { findContextNamed } from '../contexts.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { listEntryIds } from '../entry-records.ts'
import type { ResourceContent, ResourceReads, ResourceView } from '../resource-kind.ts'

export interface ContextReadDependencies {
  readonly database: Database
  readonly loader: EntryLoader
}

/** What a context contains, as it is read. */
export class ContextReads implements ResourceReads {
  readonly #deps: ContextReadDependencies

  constructor(deps: ContextReadDependencies) {
    this.#deps = deps
  }

  async view(): Promise<ResourceView> {
    return { form: 'value', value: {} }
  }

  async content(caller: Caller, { entry }: EntryInContext): Promise<ResourceContent> {
    return { form: 'ids', isVersioned: false, read: () => this.list(caller, entry.id) }
  }

  /** Ids of all entries, for administrators. */
  async list(caller: Caller, contextKey: string): Promise<string[]> {
    const { entry } = await this.#deps.loader.getContextEntry(contextKey)
    requireAdmin(caller, 'list the entries of a context')
    return await listEntryIds(this.#deps.database, entry.id)
  }

  /** The id of the context or principal with this name, in an array that may be empty; for administrators. */
  async named(caller: Caller, contextKey: string, name: string): Promise<string[]> {
    const { entry } = await this.#deps.loader.getContextEntry(contextKey)
    requireAdmin(caller, 'look for a name')
    if (entry.id !== CONTEXTS && entry.id !== PRINCIPALS) return []
    const id =
      entry.id === CONTEXTS
        ? await findContextNamed(this.#deps.database, name)
        : await findPrincipalNamed(this.#deps.database, requireName(name))
    return id === undefined ? [] : [id]
  }
}
