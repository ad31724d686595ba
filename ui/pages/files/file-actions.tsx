import { Confirm } from '../../components/dialog.tsx'
import { attempt } from '../../components/toast.tsx'
import { type Item, remove } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import type { Target } from '../../lib/uploads.ts'
import { EditDetails } from './edit-details.tsx'
import { MoveTo } from './move-to.tsx'
import { Preview } from './preview.tsx'
import { NameDialog } from './name-dialog.tsx'
import { ReplaceFile } from './replace-file.tsx'

/** What the user wants to do, and with what. */
export interface Action {
  readonly kind: 'preview' | 'rename' | 'details' | 'replace' | 'move' | 'delete'
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
    case 'preview':
      return <Preview item={item} onClose={onClose} />
    case 'rename':
      return <NameDialog item={item} onClose={onClose} onChanged={onChanged} />
    case 'details':
      return <EditDetails item={item} onClose={onClose} onChanged={onChanged} />
    case 'replace':
      return <ReplaceFile item={item} target={target} onClose={onClose} />
    case 'move':
      return <MoveTo items={items} target={target} onClose={onClose} onChanged={onChanged} />
    case 'delete':
      return <Delete items={items} onClose={onClose} onChanged={onChanged} />
  }
}

type DeleteProps = Omit<FileActionsProps, 'action' | 'target'> & Pick<Action, 'items'>

function Delete({ items, onClose, onChanged }: DeleteProps) {
  const names = { name: visible(items[0]?.name ?? ''), count: number(items.length) }
  const isOne = items.length === 1
  const removeAll = async (): Promise<void> => {
    for (const item of items) await remove(item)
  }
  const confirm = async (): Promise<void> => {
    await attempt(removeAll, t(isOne ? 'deleted' : 'deletedMany', names))
    onChanged()
  }
  const holdsFolder = items.some(({ isFolder }) => isFolder)
  return (
    <Confirm
      title={t(isOne ? 'deletePermanently' : 'deleteManyPermanently', names)}
      text={t(holdsFolder ? 'deleteFolderText' : 'deleteText')}
      action={t('delete')}
      onConfirm={confirm}
      onClose={onClose}
    />
  )
}
