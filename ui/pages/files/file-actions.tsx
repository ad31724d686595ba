import { useEffect } from 'preact/hooks'
import type { Item } from '../../lib/files.ts'
import { lazy } from '../../lib/lazy.tsx'
import type { Target } from '../../lib/uploads.ts'
import type { ChosenItems } from './many-items.ts'
import { trashChosen, trashItems } from './to-trash.ts'

/** Their code is not needed for the list. */
const NameDialog = lazy(async () => (await import('./name-dialog.tsx')).NameDialog, { isPart: true })
const MoveTo = lazy(async () => (await import('./move-to.tsx')).MoveTo, { isPart: true })
const ReplaceFile = lazy(async () => (await import('./replace-file.tsx')).ReplaceFile, { isPart: true })

/** Loads what somebody who is at a row may need next. */
export function prefetchActions(): void {
  for (const dialog of [NameDialog, MoveTo]) dialog.prefetch()
}

/** The chosen action and its items. */
export interface Action {
  readonly kind: 'details' | 'share' | 'rename' | 'replace' | 'move' | 'delete'
  readonly items: readonly Item[]
  /** There are more items than those: the service finds them. */
  readonly chosen?: ChosenItems | undefined
}

interface FileActionsProps {
  readonly action: Action
  readonly target: Target
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** The dialog of an action. */
export function FileActions({ action, target, onClose, onChanged }: FileActionsProps) {
  const { kind, items, chosen } = action
  const [item] = items
  if (!item) return null
  switch (kind) {
    case 'rename':
      return <NameDialog item={item} target={target} onClose={onClose} onChanged={onChanged} />
    case 'replace':
      return <ReplaceFile item={item} target={target} onClose={onClose} />
    case 'move':
      return <MoveTo items={items} chosen={chosen} target={target} onClose={onClose} onChanged={onChanged} />
    case 'delete':
      return <ToTrash items={items} chosen={chosen} context={target.context} onClose={onClose} onChanged={onChanged} />
    // These open the details of the item.
    case 'details':
    case 'share':
      return null
  }
}

interface ToTrashProps extends Omit<FileActionsProps, 'action' | 'target'>, Pick<Action, 'items' | 'chosen'> {
  readonly context: string
}

/** Needs no dialog, because it can be undone. */
function ToTrash({ items, chosen, context, onClose, onChanged }: ToTrashProps) {
  useEffect(() => {
    onClose()
    void (chosen ? trashChosen(context, chosen, onChanged) : trashItems(items, onChanged))
  }, [])
  return null
}
