import { useLayoutEffect, useState } from 'preact/hooks'
import { type DroppedFile, droppedFiles } from '../../lib/dropped.ts'
import { isDragging } from './moving.ts'

const isFromOutside = ({ dataTransfer }: DragEvent): boolean =>
  !isDragging() && (dataTransfer?.types.includes('Files') ?? false)

/** A folder in the list under the pointer takes the files itself. */
export const FOLDER_ROW = 'tr[data-folder]'

/**
 * Lets the whole window take files from outside. Resolves what is dropped where it cannot be taken to nothing: otherwise the browser
 * would leave the page for the file.
 * @param onDrop absent if nothing can be uploaded here; gets the id of the folder under the pointer
 * @returns whether files are over the window now
 */
export function usePageDrop(
  onDrop: ((files: Promise<readonly DroppedFile[]>, folder: string | undefined) => void) | undefined,
): boolean {
  const [isOver, setOver] = useState(false)
  useLayoutEffect(() => {
    const over = (event: DragEvent): void => {
      if (!isFromOutside(event)) return
      event.preventDefault()
      if (event.dataTransfer) event.dataTransfer.dropEffect = onDrop ? 'copy' : 'none'
      setOver(onDrop !== undefined)
    }
    const leave = ({ relatedTarget }: DragEvent): void => {
      if (relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent): void => {
      setOver(false)
      if (!isFromOutside(event) || !event.dataTransfer) return
      event.preventDefault()
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>(FOLDER_ROW) : null
      onDrop?.(droppedFiles(event.dataTransfer), row?.dataset['folder'])
    }
    document.addEventListener('dragover', over)
    document.addEventListener('dragleave', leave)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', over)
      document.removeEventListener('dragleave', leave)
      document.removeEventListener('drop', drop)
    }
  })
  return isOver
}
