import { ask } from './api.ts'
import { address, part } from './base.ts'
import type { Item } from './files.ts'

/** A file or folder in the trash. */
export interface TrashedItem {
  readonly entryId: string
  readonly name: string
  readonly graphType: string
  /** 1, and what is in the folder. */
  readonly entries: number
  readonly bytes: number
  readonly deleted: string
  readonly deletedBy: { readonly id: string; readonly name?: string }
  /** When it is deleted permanently; absent if it stays. */
  readonly expires?: string
}

interface TrashPage {
  readonly items: readonly TrashedItem[]
  readonly results: number
  /** Of all that is in the trash. */
  readonly bytes: number
}

export const TRASH_STEP = 50

const trashPath = (context: string, entry: string): string => `${part(context)}/trash/${part(entry)}`

/** @throws {Problem} */
export const loadTrash = (context: string, offset: number, signal: AbortSignal): Promise<TrashPage> =>
  ask<TrashPage>(`${part(context)}/trash?limit=${TRASH_STEP}&offset=${offset}`, { signal })

/** Moves to the trash, a folder with all that is in it. @throws {Problem} */
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

/** The service accepts this many at a time. */
export const MAX_ZIP = 500

/** Where files and folders of one context are downloaded as one zip. */
export const zipAddress = (context: string, ids: readonly string[]): string =>
  address(`${part(context)}/zip?entries=${ids.map(part).join(',')}`)
