import { keyOf } from '../../lib/everything.ts'
import type { Item } from '../../lib/files.ts'

/** An item in the address of a page: its id, of another context than that of the page both ids. */
export const addressOf = (item: Pick<Item, 'context' | 'entryId'>, context?: string): string =>
  item.context === context ? item.entryId : keyOf(item)

/** @param context of the page, if it has one */
export function itemAt(address: string, context = ''): Pick<Item, 'context' | 'entryId'> {
  const slash = address.indexOf('/')
  return slash < 0
    ? { context, entryId: address }
    : { context: address.slice(0, slash), entryId: address.slice(slash + 1) }
}
