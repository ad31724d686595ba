import { useEffect } from 'preact/hooks'
import { lazy } from '../../lib/lazy.tsx'
import type { Target } from '../../lib/uploads.ts'
import type { Picked } from './many-items.ts'
import { trashChosen, trashItems } from './to-trash.ts'

/** Their code is not needed for the list. */
const NameDialog = lazy(async () => (await import('./name-dialog.tsx')).NameDialog, 'dialog')
const ChoosePlace = lazy(async () => (await import('./choose-place.tsx')).ChoosePlace, 'dialog')
const ShareMany = lazy(async () => (await import('./about-items.ts')).ShareMany, 'dialog')
const TagMany = lazy(async () => (await import('./about-items.ts')).TagMany, 'dialog')
const ReplaceFile = lazy(async () => (await import('./replace-file.tsx')).ReplaceFile, 'dialog')

/** Loads what somebody who is at a row may need next. */
export function prefetchActions(): void {
  for (const dialog of [NameDialog, ChoosePlace]) dialog.prefetch()
}

/** The chosen action and its items. */
export interface Action extends Picked {
  readonly kind: 'details' | 'share' | 'rename' | 'replace' | 'move' | 'copy' | 'tag' | 'delete'
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
    case 'copy':
      return <ChoosePlace kind={kind} picked={action} target={target} onClose={onClose} onChanged={onChanged} />
    case 'delete':
      return <ToTrash picked={action} onClose={onClose} onChanged={onChanged} />
    // For a single item, its details are opened.
    case 'share':
      return <ShareMany picked={action} onClose={onClose} onChanged={onChanged} />
    case 'tag':
      return <TagMany picked={action} onClose={onClose} onChanged={onChanged} />
    case 'details':
      return null
  }
}

interface ToTrashProps extends Omit<FileActionsProps, 'action' | 'target'> {
  readonly picked: Picked
}

/** Needs no dialog, because it can be undone. */
function ToTrash({ picked, onClose, onChanged }: ToTrashProps) {
  useEffect(() => {
    onClose()
    void (picked.chosen ? trashChosen(picked, onChanged) : trashItems(picked.items, onChanged))
  }, [])
  return null
}
