import { useEffect } from 'preact/hooks'
import type { Item } from '../../lib/files.ts'
import type { Target } from '../../lib/uploads.ts'
import { MoveTo } from './move-to.tsx'
import { NameDialog } from './name-dialog.tsx'
import { ReplaceFile } from './replace-file.tsx'
import { trashItems } from './to-trash.ts'

/** The chosen action and its items. */
export interface Action {
  readonly kind: 'details' | 'share' | 'rename' | 'replace' | 'move' | 'delete'
  readonly items: readonly Item[]
}

interface FileActionsProps {
  readonly action: Action
  readonly target: Target
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** The dialog of an action. */
export function FileActions({ action, target, onClose, onChanged }: FileActionsProps) {
  const { kind, items } = action
  const [item] = items
  if (!item) return null
  switch (kind) {
    case 'rename':
      return <NameDialog item={item} target={target} onClose={onClose} onChanged={onChanged} />
    case 'replace':
      return <ReplaceFile item={item} target={target} onClose={onClose} />
    case 'move':
      return <MoveTo items={items} target={target} onClose={onClose} onChanged={onChanged} />
    case 'delete':
      return <ToTrash items={items} onClose={onClose} onChanged={onChanged} />
    // These open the details of the item.
    case 'details':
    case 'share':
      return null
  }
}

/** Needs no dialog, because it can be undone. */
function ToTrash({ items, onClose, onChanged }: Omit<FileActionsProps, 'action' | 'target'> & Pick<Action, 'items'>) {
  useEffect(() => {
    onClose()
    void trashItems(items, onChanged)
  }, [])
  return null
}
