import { tell, tellFailure, undoBy } from '../../components/toast.tsx'
import { folderOf, folderPath, type Item, moveInto, takeOut } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { type AccessChange, previewMove, tellMovedChange } from '../../lib/move-preview.ts'
import { navigate } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import type { Target } from '../../lib/uploads.ts'
import { areMany, begin, beginFor, changedBy, namesOf, type Picked, tellItems, workThrough } from './many-items.ts'

/**
 * The items that are being dragged within the page. Kept here, because the browser's data transfer carries
 * text only.
 */
let dragged: readonly Item[] = []

export const startDrag = (event: DragEvent, items: readonly Item[]): void => {
  dragged = items
  event.dataTransfer?.setData('text/plain', items.map(({ name }) => name).join('\n'))
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move'
}

export const endDrag = (): void => {
  dragged = []
}

export const isDragging = (): boolean => dragged.length > 0

type Moved = readonly [item: Item, from: string | undefined]

/** Moves all items, reports the result and offers to undo it. Resolves to whether anything was moved. */
export async function moveAll(items: readonly Item[], to: Target, onMoved: () => void): Promise<boolean> {
  // What a search has found in another context stays there.
  const movable = items.filter(({ context, entryId }) => context === to.context && entryId !== to.folder)
  // Whom it concerns is known only before. A move need not wait for it if it fails.
  const change = await previewMove(movable, to).catch(() => undefined)
  if (areMany(movable)) return await moveMany(movable, to, onMoved, change)
  // The items that a search has found can be in different folders.
  const before: Moved[] = []
  const moved = await workThrough(movable, async item => {
    const from = await folderOf(item)
    if (from === to.folder) return
    if (to.folder !== undefined) await moveInto(item, to.context, to.contextUri, to.folder)
    before.push([item, from])
  })
  try {
    if (to.folder === undefined) await takeAllOut(before, to.context)
  } catch (error) {
    tellFailure(error)
    return false
  }
  if (moved.length > 0)
    tell(
      [tellItems(moved, 'movedOne', 'moved'), change ? tellMovedChange(change) : ''].join(' ').trim(),
      undoBy(() => moveBack(before, to), onMoved),
    )
  onMoved()
  return moved.length > 0
}

/** The service moves them; the message at the end offers to undo it. Resolves when it has begun. */
async function moveMany(
  items: readonly Item[],
  to: Target,
  onMoved: () => void,
  change?: AccessChange,
): Promise<boolean> {
  const { context } = to
  const back = async (moved: readonly Item[]): Promise<void> => {
    for (const folder of new Set(moved.map(({ folder }) => folder))) {
      const entries = moved.filter(item => item.folder === folder).map(({ entryId }) => entryId)
      const names = namesOf(moved)
      const undone = { context, action: 'move', chosen: { entries }, to: { context, list: folder }, names } as const
      await begin({ ...undone, onOver: onMoved })
    }
  }
  return await begin({
    context,
    action: 'move',
    chosen: { entries: items.map(({ entryId }) => entryId) },
    to: { context, list: to.folder },
    names: namesOf(items),
    onOver: operation => {
      const moved = changedBy(operation, items)
      onMoved()
      // Of one that was stopped nobody knows which items it has moved.
      if (operation.state !== 'done' || moved.length === 0) return
      const text = [tellItems(moved, 'movedOne', 'moved'), change ? tellMovedChange(change) : ''].join(' ').trim()
      tell(
        text,
        undoBy(() => back(moved), onMoved),
      )
    },
  })
}

/** The service moves what a query finds. Resolves when it has begun. */
export const moveChosen = (picked: Picked, to: Target, onMoved: () => void): Promise<boolean> =>
  beginFor(withoutTarget(picked, to), {
    action: 'move',
    to: { context: to.context, list: to.folder },
    onOver: ({ done }) => {
      if (done > 0) tell(t('moved', { count: number(done) }))
      onMoved()
    },
  })

/** The folder that the items go to is left out of what a query finds. */
function withoutTarget({ items, chosen }: Picked, { context, folder }: Target): Picked {
  const isFound = chosen !== undefined && 'query' in chosen && folder !== undefined && items[0]?.context === context
  return { items, chosen: isFound ? { ...chosen, except: [...chosen.except, folder] } : chosen }
}

/** Where items go, and how people call it. */
export interface Destination extends Target {
  readonly name: string
}

/** The service copies items, or moves them into another space. The message at the end leads there. Resolves to whether it has begun. */
export async function sendTo(action: 'copy' | 'move', picked: Picked, to: Destination): Promise<boolean> {
  // Whom it concerns is known only before. A move need not wait for it if it fails.
  const change = action === 'move' ? await previewMove(picked.items, to).catch(() => undefined) : undefined
  return await beginFor(withoutTarget(picked, to), {
    action,
    to: { context: to.context, list: to.folder },
    onOver: ({ done }) => {
      if (done === 0) return
      const text = t(action === 'copy' ? 'copiedTo' : 'movedTo', { count: number(done), name: visible(to.name) })
      tell([text, change ? tellMovedChange(change) : ''].join(' ').trim(), {
        text: t('open'),
        work: () => navigate(folderPath(to)),
      })
    },
  })
}

/** One request for each folder, because each needs the whole list of its members. */
async function takeAllOut(moved: readonly Moved[], context: string): Promise<void> {
  for (const folder of new Set(moved.map(([, from]) => from))) {
    const items = moved.filter(([, from]) => from === folder).map(([item]) => item)
    if (folder !== undefined) await takeOut(items, context, folder)
  }
}

async function moveBack(moved: readonly Moved[], to: Target): Promise<void> {
  const { context, contextUri } = to
  await workThrough(moved, async ([item, from]) => {
    if (from !== undefined) await moveInto(item, context, contextUri, from)
  })
  const loose = moved.filter(([, from]) => from === undefined).map(([item]) => [item, to.folder] as const)
  await takeAllOut(loose, context)
}

/** Attributes of an element that accepts dropped files. */
export const dropTarget = (to: Target, onMoved: () => void) => ({
  onDragOver: (event: DragEvent) => {
    if (!isDragging()) return
    event.preventDefault()
    ;(event.currentTarget as HTMLElement).classList.add('over')
  },
  onDragLeave: (event: DragEvent) => (event.currentTarget as HTMLElement).classList.remove('over'),
  onDrop: (event: DragEvent) => {
    ;(event.currentTarget as HTMLElement).classList.remove('over')
    if (!isDragging()) return
    event.preventDefault()
    event.stopPropagation()
    const items = dragged
    endDrag()
    void moveAll(items, to, onMoved)
  },
})
