import { denied } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { findUser } from '../../accounts/users.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { getContext } from '../../content/contexts.ts'
import { displayName } from '../../content/file-description.ts'
import { findTrashed, type TrashedHead, trashedHeads, trashedSizes } from '../../content/trash-rows.ts'
import type { GraphType } from '../../model/entry.ts'
import { may } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { TrashOptions } from './trash.ts'

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
  /** Number of all entries that the caller administers and that have the query in their name. */
  readonly results: number
  readonly bytes: Bytes
}

/** Reads what is in the trash. */
export class TrashList {
  readonly #database: Database
  readonly #options: TrashOptions

  constructor(database: Database, options: TrashOptions) {
    this.#database = database
    this.#options = options
  }

  /** The entries in the trash that the caller administers, the latest first. */
  async read(
    caller: Caller,
    contextKey: string,
    {
      limit,
      offset,
      query = '',
    }: { readonly limit: number; readonly offset: number; readonly query?: string | undefined },
  ): Promise<TrashPage> {
    const database = this.#database
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
    const named = query === '' ? heads : await this.#named(heads, query)
    const items: TrashedEntry[] = []
    for (const { entry: head, deleted, deletedBy, list } of named.slice(offset, offset + limit)) {
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
    return { items, results: named.length, bytes }
  }

  /** Those with this text in their name, in upper or lower case. */
  async #named(heads: readonly TrashedHead[], query: string): Promise<readonly TrashedHead[]> {
    const words = query.toLowerCase()
    const found: TrashedHead[] = []
    for (const head of heads) {
      const trashed = await findTrashed(this.#database, head.entry)
      if (trashed && displayName(trashed.entry).toLowerCase().includes(words)) found.push(head)
    }
    return found
  }
}
