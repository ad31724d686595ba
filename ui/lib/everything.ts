import { type Item, type Listing, loadItems, WINDOW } from './files.ts'

/** Maximum number of passes over a list that changes meanwhile. */
const MAX_PASSES = 3

/** All items of a list. What is added meanwhile may be missing. @throws {Problem} */
export async function loadEverything(listing: Listing, signal: AbortSignal): Promise<readonly Item[]> {
  const found = new Map<string, Item>()
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    let results = 1
    for (let offset = 0; offset < results; offset += WINDOW) {
      const window = await loadItems(listing, offset, signal)
      results = window.results
      for (const item of window.items) found.set(keyOf(item), item)
    }
    // What was moved within the list between two requests was passed over.
    if (found.size >= results) break
  }
  return [...found.values()]
}

/** Items of several contexts can have the same id. */
export const keyOf = ({ context, entryId }: Pick<Item, 'context' | 'entryId'>): string => `${context}/${entryId}`
