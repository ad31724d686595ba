import type { Queries } from '../../stores/database.ts'
import { sql } from '../../stores/sql.ts'
import type { RowFile } from '../../backup/row-files.ts'

/** How much of which store a backup holds. */
export interface Extent {
  /** The time of the snapshot, in ISO 8601. */
  readonly created: string
  /** When the store was made, in ISO 8601, which tells stores apart; absent in backups of older versions. */
  readonly store?: string | undefined
  readonly tables: readonly RowFile[]
  readonly files: { readonly count: number }
  /** Keys of files whose bytes the store had lost; absent before they are copied. */
  readonly damaged?: readonly string[]
  /** A time in ISO 8601: an operator has said that the store is as it should be, whatever the backups made before had. */
  readonly accepted?: string | undefined
}

/** When the store was made: a new store, unlike a restored one, has another time. */
export async function timeOfStore(queries: Queries): Promise<string | undefined> {
  const row = await queries.get<{ created: number }>(
    sql`SELECT created FROM entries WHERE context = '_contexts' AND id = '_contexts'`,
  )
  return row && new Date(row.created).toISOString()
}

/** What the later backup has lost since the earlier one, for people; `undefined` if it has lost little, and no bytes of a file. */
export function lossSince(earlier: Extent, later: Extent): string | undefined {
  if (later.accepted !== undefined && earlier.created < later.accepted) return undefined
  if (earlier.store !== undefined && later.store !== undefined && earlier.store !== later.store)
    return `is of another store than the backup of ${earlier.created}: one made on ${later.store}`
  const entries = [entriesIn(earlier), entriesIn(later)] as const
  const files = [earlier.files.count, later.files.count] as const
  if ([entries, files].some(([before, now]) => now < before / 2))
    return (
      `is much smaller than the backup of ${earlier.created}: ` +
      `${entries[1]} instead of ${entries[0]} entries, ${files[1]} instead of ${files[0]} files`
    )
  const lackedBefore = new Set(earlier.damaged)
  const lost = later.damaged?.filter(key => !lackedBefore.has(key)).length ?? 0
  if (lost === 0) return undefined
  return `lacks ${lost === 1 ? 'a file' : `${lost} files`} whose bytes the store has lost since the backup of ${earlier.created}`
}

export const entriesIn = ({ tables }: Extent): number => tables.find(({ name }) => name === 'entries')?.rows ?? 0

export interface Loss<T> {
  /** The last backup before the loss. */
  readonly before: T
  readonly text: string
}

/**
 * The backups that come after a loss, each with the last backup before the loss. A loss means that the backup is of another store, has lost
 * more than half of the entries or files, or lacks the bytes of a file, compared with the last backup that is not itself in the result. As
 * long as the newest backup is in the result, the store may have been lost or its disk may not be mounted.
 * @param extents the oldest first
 */
export function findLosses<T extends Extent>(extents: readonly T[]): ReadonlyMap<T, Loss<T>> {
  const losses = new Map<T, Loss<T>>()
  let before: T | undefined
  for (const one of extents) {
    const text = before && lossSince(before, one)
    if (before && text !== undefined) losses.set(one, { before, text })
    else before = one
  }
  return losses
}
