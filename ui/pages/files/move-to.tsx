import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Choice } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Await } from '../../components/page.tsx'
import { type Item, loadFolders } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import type { Target } from '../../lib/uploads.ts'
import { moveAll } from './moving.ts'

interface MoveToProps {
  readonly items: readonly Item[]
  readonly target: Target
  readonly onClose: () => void
  readonly onChanged: () => void
}

const NO_FOLDER = ''

/** Chooses the target folder for files and folders. */
export function MoveTo({ items, target, onClose, onChanged }: MoveToProps) {
  const [loaded, again] = useLoaded(signal => loadFolders(target.contextUri, signal), [target.contextUri])
  const [folder, setFolder] = useState<string>()
  return (
    <Dialog title={t('move')} onClose={onClose}>
      <Await loaded={loaded} again={again}>
        {folders => {
          const isMoved = (id: string): boolean => items.some(({ entryId }) => entryId === id)
          const possible = folders.items.filter(({ entryId }) => !isMoved(entryId) && entryId !== target.folder)
          const options: Array<readonly [string, string]> = [
            ...(target.folder === undefined ? [] : [[NO_FOLDER, t('noFolder')] as const]),
            ...possible.map(({ entryId, name }) => [entryId, visible(name)] as const),
          ]
          if (options.length === 0) return <p class="empty">{t('foldersNone')}</p>
          const chosen = folder ?? options[0]?.[0] ?? NO_FOLDER
          const move = async (): Promise<void> => {
            const to = { ...target, folder: chosen === NO_FOLDER ? undefined : chosen }
            if (await moveAll(items, to, onChanged)) onClose()
          }
          return (
            <Form work={move}>
              {() => (
                <>
                  <Choice label={t('folder')} value={chosen} options={options} onValue={setFolder} />
                  <DialogButtons onClose={onClose}>
                    <Button type="submit">{t('move')}</Button>
                  </DialogButtons>
                </>
              )}
            </Form>
          )
        }}
      </Await>
    </Dialog>
  )
}
