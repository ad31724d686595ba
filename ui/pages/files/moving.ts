import { tell, tellFailure, undoBy } from '../../components/toast.tsx'
import { folderOf, type Item, moveInto, takeOut } from '../../lib/files.ts'
import type { Target } from '../../lib/uploads.ts'
import { tellItems, workThrough } from './many-items.ts'

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
      tellItems(moved, 'movedOne', 'moved'),
      undoBy(() => moveBack(before, to), onMoved),
    )
  onMoved()
  return moved.length > 0
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
