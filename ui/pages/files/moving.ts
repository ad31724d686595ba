import { attempt, undoBy } from '../../components/toast.tsx'
import { folderOf, type Item, move } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import type { Target } from '../../lib/uploads.ts'

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

/** Moves all items, reports the result and offers to undo it. */
export async function moveAll(items: readonly Item[], to: Target, onMoved: () => void): Promise<boolean> {
  const movable = items.filter(({ entryId }) => entryId !== to.folder)
  // The items that a search has found can be in different folders.
  const before: Array<readonly [Item, string | undefined]> = []
  const work = async (): Promise<void> => {
    for (const item of movable) {
      const from = await folderOf(item)
      if (from === to.folder) continue
      await move(item, to, from)
      before.push([item, from])
    }
  }
  const back = async (): Promise<void> => {
    for (const [item, from] of before) await move(item, { ...to, folder: from }, to.folder)
  }
  const isDone = await attempt(work, t('moved', { count: number(movable.length) }), undoBy(back, onMoved))
  onMoved()
  return isDone
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
