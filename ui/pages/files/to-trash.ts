import { tell, type ToastAction } from '../../components/toast.tsx'
import type { Item } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { byContext } from '../../lib/operations.ts'
import { moveToTrash, restore } from '../../lib/trash.ts'
import { areMany, begin, beginFor, changedBy, namesOf, type Picked, tellItems, workThrough } from './many-items.ts'

/** Moves files and folders to the trash without a confirmation: the message offers to undo it. */
export async function trashItems(items: readonly Item[], onChanged: () => void): Promise<void> {
  if (areMany(items)) return await trashMany(items, onChanged)
  const trashed = await workThrough(items, moveToTrash)
  const undo = async (): Promise<void> => {
    const restored = await workThrough(trashed, ({ context, entryId }) => restore(context, entryId))
    if (restored.length > 0) tell(tellItems(restored, 'restoredOne', 'restoredMany'))
    onChanged()
  }
  if (trashed.length > 0) tell(tellItems(trashed, 'trashedOne', 'trashedMany'), undoing(undo))
  onChanged()
}

const undoing = (work: () => Promise<void>): ToastAction => ({ text: t('undo'), isUndo: true, work })

/** The service does it, one operation for each context. */
async function trashMany(items: readonly Item[], onChanged: () => void): Promise<void> {
  for (const [context, some] of byContext(items)) {
    const names = namesOf(some)
    const bringBack = async (trashed: readonly Item[]): Promise<void> => {
      await begin({
        context,
        action: 'restore',
        chosen: { entries: trashed.map(({ entryId }) => entryId) },
        names,
        onOver: ({ done }) => {
          if (done > 0) tell(t('restoredMany', { count: number(done) }))
          onChanged()
        },
      })
    }
    await begin({
      context,
      action: 'trash',
      chosen: { entries: some.map(({ entryId }) => entryId) },
      names,
      onOver: operation => {
        const trashed = changedBy(operation, some)
        onChanged()
        // Of one that was stopped nobody knows which items are in the trash.
        if (operation.state === 'done' && trashed.length > 0)
          tell(
            tellItems(trashed, 'trashedOne', 'trashedMany'),
            undoing(() => bringBack(trashed)),
          )
      },
    })
  }
}

/** Moves what a query finds to the trash. */
export const trashChosen = (picked: Picked, onChanged: () => void): Promise<boolean> =>
  beginFor(picked, {
    action: 'trash',
    onOver: ({ done }) => {
      if (done > 0) tell(t('trashedMany', { count: number(done) }))
      onChanged()
    },
  })
