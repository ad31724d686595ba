import { Button } from '../../components/button.tsx'
import type { Item } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { MAX_ZIP, zipAddress } from '../../lib/trash.ts'
import type { Action } from './file-actions.tsx'

interface SelectionProps {
  readonly items: readonly Item[]
  readonly onAction: (action: Action) => void
  readonly onClear: () => void
}

/** Actions for all selected items. */
export function Selection({ items, onAction, onClear }: SelectionProps) {
  const ids = items.map(({ entryId }) => entryId)
  const context = items[0]?.context ?? ''
  const pick = (kind: Action['kind']) => () => onAction({ kind, items })
  return (
    <div class="selection" role="region" aria-label={t('selection')}>
      <strong role="status">{t('selected', { count: number(items.length) })}</strong>
      <div class="buttons">
        {items.every(({ canWrite }) => canWrite) && (
          <Button kind="quiet" size="small" onPress={pick('move')}>
            {t('move')}
          </Button>
        )}
        {items.length <= MAX_ZIP && (
          <a class="button quiet small" href={zipAddress(context, ids)} download>
            {t('downloadZip')}
          </a>
        )}
        {items.every(({ isOwner }) => isOwner) && (
          <Button kind="quiet danger" size="small" onPress={pick('delete')}>
            {t('delete')}
          </Button>
        )}
        <Button kind="quiet" size="small" onPress={onClear}>
          {t('clearSelection')}
        </Button>
      </div>
    </div>
  )
}
