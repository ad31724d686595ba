import { tell } from '../../components/toast.tsx'
import type { Item } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { moveToTrash, restore } from '../../lib/trash.ts'
import { tellItems, workThrough } from './many-items.ts'

/** Moves files and folders to the trash without a confirmation: the message offers to undo it. */
export async function trashItems(items: readonly Item[], onChanged: () => void): Promise<void> {
  const trashed = await workThrough(items, moveToTrash)
  const undo = async (): Promise<void> => {
    const restored = await workThrough(trashed, ({ context, entryId }) => restore(context, entryId))
    if (restored.length > 0) tell(tellItems(restored, 'restoredOne', 'restoredMany'))
    onChanged()
  }
  if (trashed.length > 0) tell(tellItems(trashed, 'trashedOne', 'trashedMany'), { text: t('undo'), work: undo })
  onChanged()
}
