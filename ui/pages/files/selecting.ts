import { useRef, useState } from 'preact/hooks'
import { tellFailure } from '../../components/toast.tsx'
import { keyOf, loadEverything } from '../../lib/everything.ts'
import { isAcrossContexts, type Item, type Listing, loadItems, queryOf, WINDOW } from '../../lib/files.ts'
import { type Items, useChange } from '../../lib/items.ts'
import type { Chosen } from '../../lib/operations.ts'

/** Either some items, or all of the list but some. */
interface Choice {
  readonly isAll: boolean
  readonly items: ReadonlyMap<string, Item>
}

export interface Selection {
  readonly count: number
  readonly isAll: boolean
  readonly has: (item: Item | undefined) => boolean
  /** Those whose rows are loaded. */
  readonly known: readonly Item[]
  readonly toggle: (index: number) => void
  /** Selects everything between the last chosen row and this one. @param from chosen instead if nothing is selected yet */
  readonly extendTo: (index: number, from?: number) => void
  /** Selects this row alone. */
  readonly only: (index: number) => void
  readonly all: () => void
  readonly clear: () => void
  /** All selected items, also those whose rows are not loaded. */
  readonly resolve: () => Promise<readonly Item[]>
  /** What finds all selected items, where there are too many to load them; `undefined` otherwise. */
  readonly chosen: Chosen | undefined
}

/** From this number of items on, the service finds them again by the query of the list. */
const MAX_RESOLVED = 1000

const nothing: Choice = { isAll: false, items: new Map() }

/** What is selected in a list; nothing after the list has become another one. */
export function useSelection(listing: Listing, { at, results = 0 }: Items): Selection {
  const [choice, setChoice] = useState(nothing)
  const anchor = useRef(0)
  useChange(JSON.stringify(listing), () => setChoice(nothing))
  const has = (item: Item | undefined): boolean => item !== undefined && choice.items.has(keyOf(item)) !== choice.isAll
  const indexes = Array.from({ length: results }, (_, index) => index)
  const known = indexes.flatMap(index => at(index) ?? []).filter(has)
  return {
    count: choice.isAll ? Math.max(0, results - choice.items.size) : choice.items.size,
    isAll: results > 0 && choice.isAll && choice.items.size === 0,
    has,
    known: choice.isAll ? known : [...choice.items.values()],
    toggle: index => {
      const item = at(index)
      anchor.current = index
      if (item) setChoice(before => withItems(before, [item], !has(item)))
    },
    extendTo: (index, from) => {
      if (from !== undefined && choice.items.size === 0 && !choice.isAll) anchor.current = from
      const [first, last] = [Math.min(anchor.current, index), Math.max(anchor.current, index)]
      loadRange(listing, at, first, last).then(
        items => setChoice(before => withItems(before, items, true)),
        tellFailure,
      )
    },
    only: index => {
      const item = at(index)
      anchor.current = index
      if (item) setChoice({ isAll: false, items: new Map([[keyOf(item), item]]) })
    },
    all: () => setChoice({ isAll: true, items: new Map() }),
    clear: () => setChoice(nothing),
    chosen:
      choice.isAll && results > MAX_RESOLVED && !isAcrossContexts(listing)
        ? { query: queryOf(listing), except: [...choice.items.values()].map(({ entryId }) => entryId) }
        : undefined,
    resolve: async () => {
      if (!choice.isAll) return [...choice.items.values()]
      const all = await loadEverything(listing, new AbortController().signal)
      return all.filter(item => !choice.items.has(keyOf(item)))
    },
  }
}

function withItems(choice: Choice, items: readonly Item[], isSelected: boolean): Choice {
  const next = new Map(choice.items)
  for (const item of items) {
    if (isSelected === choice.isAll) next.delete(keyOf(item))
    else next.set(keyOf(item), item)
  }
  return { ...choice, items: next }
}

/** The items of these rows; those that are not loaded are fetched. @throws {Problem} */
async function loadRange(listing: Listing, at: Items['at'], first: number, last: number): Promise<readonly Item[]> {
  const found: Item[] = []
  for (let index = first; index <= last; index++) {
    const item = at(index)
    if (item) {
      found.push(item)
      continue
    }
    const { items } = await loadItems(listing, index, new AbortController().signal)
    found.push(...items.slice(0, last - index + 1))
    index += WINDOW - 1
  }
  return found
}
