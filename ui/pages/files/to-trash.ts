import { tell, tellFailure } from '../../components/toast.tsx'
import type { Item } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import { moveToTrash, restore } from '../../lib/trash.ts'

/** Moves files and folders to the trash without a confirmation: the message offers to undo it. */
export async function trashItems(items: readonly Item[], onChanged: () => void): Promise<void> {
  const moved: Item[] = []
  try {
    for (const item of items) {
      await moveToTrash(item)
      moved.push(item)
    }
  } catch (error) {
    tellFailure(error)
  }
  if (moved.length > 0) tell(words('trashed', moved), { text: t('undo'), work: () => undo(moved, onChanged) })
  onChanged()
}

async function undo(items: readonly Item[], onChanged: () => void): Promise<void> {
  try {
    for (const { context, entryId } of items) await restore(context, entryId)
    tell(words('restored', items))
  } catch (error) {
    tellFailure(error)
  }
  onChanged()
}

function words(what: 'trashed' | 'restored', items: readonly Item[]): string {
  const [first] = items
  if (items.length === 1 && first) {
    return t(what === 'trashed' ? 'trashedOne' : 'restoredOne', { name: visible(first.name) })
  }
  return t(what === 'trashed' ? 'trashedMany' : 'restoredMany', { count: number(items.length) })
}
