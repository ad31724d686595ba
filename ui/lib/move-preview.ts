import { ask, Problem } from './api.ts'
import { part } from './base.ts'
import type { Item } from './files.ts'
import { number } from './format.ts'
import { t } from './language.ts'
import type { MessageKey } from '../messages/en.ts'

interface People {
  readonly users: number
  readonly isEverybody: boolean
}

/** Who gets or loses access when items move. */
export interface AccessChange {
  readonly losing: People
  readonly gaining: People
}

/** The service takes no more at once. Those in one folder share what they have of it. */
const MAX_ITEMS = 100

/**
 * What a move of items of one space changes for others; `undefined` for who may not know.
 * @param to its `folder` is `undefined` for a move out of all folders @throws {Problem}
 */
export async function previewMove(
  items: readonly Item[],
  to: { readonly context: string; readonly folder: string | undefined },
  signal?: AbortSignal,
): Promise<AccessChange | undefined> {
  const moved = items.filter(item => item.isOwner && !isFolder(item, to))
  const [first] = moved
  if (!first) return undefined
  const entries = moved.slice(0, MAX_ITEMS).map(({ entryId }) => entryId)
  const query = new URLSearchParams({
    entries: entries.join(','),
    ...(to.folder === undefined ? {} : { list: to.folder }),
    ...(to.context === first.context ? {} : { to: to.context }),
  })
  try {
    return await ask(`${part(first.context)}/access?${query.toString()}`, signal ? { signal } : {})
  } catch (error) {
    if (error instanceof Problem && [403, 404].includes(error.status)) return undefined
    throw error
  }
}

/** Whether it is the folder itself. */
const isFolder = (item: Item, to: { readonly context: string; readonly folder: string | undefined }): boolean =>
  item.context === to.context && item.entryId === to.folder

/** What is going to change, in sentences; empty where nothing does. */
export const tellMoveChange = ({ losing, gaining }: AccessChange): string =>
  [tellPeople(losing, 'moveLosesEverybody', 'moveLoses'), tellPeople(gaining, 'moveGainsEverybody', 'moveGains')]
    .filter(text => text !== '')
    .join(' ')

/** What has changed, after the move. */
export const tellMovedChange = ({ losing, gaining }: AccessChange): string =>
  [tellPeople(losing, 'movedLostEverybody', 'movedLost'), tellPeople(gaining, 'movedGainedEverybody', 'movedGained')]
    .filter(text => text !== '')
    .join(' ')

/** The text for everybody, or that for some users with their number; empty for nobody. */
function tellPeople({ isEverybody, users }: People, everybody: MessageKey, some: MessageKey): string {
  if (isEverybody) return t(everybody)
  return users > 0 ? t(some, { count: number(users) }) : ''
}
