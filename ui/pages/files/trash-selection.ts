import { useRef, useState } from 'preact/hooks'
import { useChange } from '../../lib/items.ts'
import { loadWholeTrash, type TrashedItem } from '../../lib/trash.ts'

export interface TrashSelection {
  readonly count: number
  readonly isAll: boolean
  readonly has: (item: TrashedItem) => boolean
  /** Selects or deselects an item, with Shift everything from the last one. */
  readonly pick: (item: TrashedItem, isRange: boolean) => void
  readonly all: () => void
  readonly clear: () => void
  /** All selected items, also those of other pages. @throws {Problem} */
  readonly resolve: () => Promise<readonly TrashedItem[]>
}

interface Shown {
  readonly context: string
  readonly query: string
  /** Those of the page. */
  readonly items: readonly TrashedItem[]
  /** Number of items on all pages. */
  readonly results: number
}

/** What is selected in the trash: single items of any page, or everything that was found. */
export function useTrashSelection({ context, query, items, results }: Shown): TrashSelection {
  const [picked, setPicked] = useState<ReadonlyMap<string, TrashedItem> | 'all'>(new Map())
  const anchor = useRef<string | undefined>(undefined)
  const clear = (): void => setPicked(new Map())
  useChange(query, clear)
  const isAll = picked === 'all'
  const pick = (item: TrashedItem, isRange: boolean): void => {
    // Everything but this one is everything on this page but this one: nobody looks through the others.
    const next = new Map(isAll ? items.map(one => [one.entryId, one] as const) : picked)
    const from = items.findIndex(({ entryId }) => entryId === anchor.current)
    const to = items.findIndex(({ entryId }) => entryId === item.entryId)
    if (isRange && from >= 0) {
      for (const one of items.slice(Math.min(from, to), Math.max(from, to) + 1)) next.set(one.entryId, one)
    } else if (!next.delete(item.entryId)) next.set(item.entryId, item)
    anchor.current = item.entryId
    setPicked(next)
  }
  return {
    count: isAll ? results : picked.size,
    isAll,
    has: ({ entryId }) => isAll || picked.has(entryId),
    pick,
    all: () => setPicked('all'),
    clear,
    resolve: async () => (isAll ? await loadWholeTrash(context, query) : [...picked.values()]),
  }
}
