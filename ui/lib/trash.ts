import { ask } from './api.ts'
import { address, part } from './base.ts'
import type { Item } from './files.ts'

/** A file or folder in the trash. */
export interface TrashedItem {
  readonly entryId: string
  readonly name: string
  readonly graphType: string
  /** Number of entries: 1, plus those in the folder. */
  readonly entries: number
  readonly bytes: number
  readonly deleted: string
  /** Id of the folder that it was in. */
  readonly list?: string
  readonly deletedBy: { readonly id: string; readonly name?: string }
  /** When it is deleted permanently; absent if that never happens. */
  readonly expires?: string
}

interface TrashPage {
  readonly items: readonly TrashedItem[]
  readonly results: number
  /** Total size of everything in the trash. */
  readonly bytes: number
}

export const TRASH_STEP = 50

const trashPath = (context: string, entry: string): string => `${part(context)}/trash/${part(entry)}`

/** @throws {Problem} */
export const loadTrash = (
  context: string,
  { offset, search }: { readonly offset: number; readonly search: string },
  signal: AbortSignal,
): Promise<TrashPage> => ask<TrashPage>(pagePath(context, { limit: TRASH_STEP, offset, search }), { signal })

/** The largest part that the service returns at once. */
const MAX_STEP = 100

/** Everything in the trash that has a text in its name. @throws {Problem} */
export async function loadWholeTrash(context: string, search: string): Promise<readonly TrashedItem[]> {
  const all: TrashedItem[] = []
  for (let results = 1; all.length < results; ) {
    const page = await ask<TrashPage>(pagePath(context, { limit: MAX_STEP, offset: all.length, search }))
    all.push(...page.items)
    results = page.items.length === 0 ? 0 : page.results
  }
  return all
}

interface Part {
  readonly limit: number
  readonly offset: number
  readonly search: string
}

function pagePath(context: string, { limit, offset, search }: Part): string {
  const query = new URLSearchParams({ limit: String(limit), offset: String(offset) })
  if (search !== '') query.set('query', search)
  return `${part(context)}/trash?${query.toString()}`
}

/** Moves an item to the trash, a folder together with its content. @throws {Problem} */
export const moveToTrash = ({ context, entryId }: Item): Promise<undefined> =>
  ask(trashPath(context, entryId), { method: 'POST' })

/** @throws {Problem} */
export async function restore(context: string, entryId: string): Promise<void> {
  await ask<unknown>(`${trashPath(context, entryId)}/restore`, { method: 'POST' })
}

/** @throws {Problem} */
export const deleteFromTrash = (context: string, entryId: string): Promise<undefined> =>
  ask(trashPath(context, entryId), { method: 'DELETE' })

/** @throws {Problem} */
export async function emptyTrash(context: string): Promise<void> {
  await ask<unknown>(`${part(context)}/trash`, { method: 'DELETE' })
}

/** Maximum number of items that the service accepts in one request. */
export const MAX_ZIP = 500

/** The address of a zip with these files and folders of one context. */
export const zipAddress = (context: string, ids: readonly string[]): string =>
  address(`${part(context)}/zip?entries=${ids.map(part).join(',')}`)
