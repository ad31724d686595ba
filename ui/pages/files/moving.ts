import { attempt } from '../../components/toast.tsx'
import { type Item, move } from '../../lib/files.ts'
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

/** Moves all items and reports the result. @param from the folder that they are in now */
export async function moveAll(
  items: readonly Item[],
  to: Target,
  from: string | undefined,
  onMoved: () => void,
): Promise<boolean> {
  const movable = items.filter(({ entryId }) => entryId !== to.folder)
  const work = async (): Promise<void> => {
    for (const item of movable) await move(item, to, from)
  }
  const isDone = await attempt(work, t('moved', { count: number(movable.length) }))
  onMoved()
  return isDone
}

/** Attributes of an element that accepts dropped files. */
export const dropTarget = (to: Target, from: string | undefined, onMoved: () => void) => ({
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
    void moveAll(items, to, from, onMoved)
  },
})
