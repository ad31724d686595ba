import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await } from '../../components/page.tsx'
import { type Item, loadFolders } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { previewMove, tellMoveChange } from '../../lib/move-preview.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import type { Target } from '../../lib/uploads.ts'
import type { ChosenItems } from './many-items.ts'
import { moveAll, moveChosen } from './moving.ts'
import { NewFolder } from './name-dialog.tsx'

interface MoveToProps {
  readonly items: readonly Item[]
  /** There are more items than those. */
  readonly chosen: ChosenItems | undefined
  readonly target: Target
  readonly onClose: () => void
  readonly onChanged: () => void
}

type Folder = Pick<Item, 'entryId' | 'name'>

/** Opens the folders of a space one after the other, until the person moves the items into one of them. */
export function MoveTo({ items, chosen, target, onClose, onChanged }: MoveToProps) {
  const [path, setPath] = useState<readonly Folder[]>([])
  const [isMaking, setMaking] = useState(false)
  const [first] = items
  const title =
    first && items.length === 1
      ? t('moveOne', { name: visible(first.name) })
      : t('moveMany', { count: number(chosen?.count ?? items.length) })
  // With the path that they belong to: until the next folders are there, these stay.
  const load = async (signal: AbortSignal) => ({
    path,
    folders: await loadFolders({ contextUri: target.contextUri, folder: path.at(-1)?.entryId }, signal),
  })
  const [loaded, again] = useLoaded(load, [target.contextUri, path])
  const folder = path.at(-1)?.entryId
  const [preview] = useLoaded(signal => previewMove(items, { context: target.context, folder }, signal), [folder])
  const changes = preview.state === 'ready' && preview.value ? tellMoveChange(preview.value) : ''
  const list = useRef<HTMLUListElement>(null)
  // Where there is no other folder to open, the Enter key moves.
  const isInnermost = loaded.state === 'ready' && loaded.value.path.length > 0 && loaded.value.folders.length === 0
  useLayoutEffect(() => {
    if (isInnermost) list.current?.closest('form')?.querySelector<HTMLElement>('[type=submit]')?.focus()
  }, [isInnermost, path])
  return (
    <Dialog title={title} onClose={onClose}>
      <Await loaded={loaded} again={again}>
        {({ path, folders }) => {
          const to = { ...target, folder: path.at(-1)?.entryId }
          const isMoved = ({ entryId }: Item): boolean => items.some(item => item.entryId === entryId)
          const possible = folders.filter(folder => !isMoved(folder))
          const move = async (): Promise<void> => {
            if (await (chosen ? moveChosen(chosen, to, onChanged) : moveAll(items, to, onChanged))) onClose()
          }
          return (
            <Form work={move}>
              {() => (
                <>
                  <nav class="crumbs" aria-label={t('breadcrumbs')}>
                    <ol>
                      {[{ entryId: '', name: t('topLevel') }, ...path].map(({ entryId, name }, at) => (
                        <li key={entryId} aria-current={at === path.length ? 'location' : undefined}>
                          {at === path.length ? (
                            <strong>
                              <Name>{name}</Name>
                            </strong>
                          ) : (
                            <button type="button" class="link" onClick={() => setPath(path.slice(0, at))}>
                              <Name>{name}</Name>
                            </button>
                          )}
                        </li>
                      ))}
                    </ol>
                  </nav>
                  <ul ref={list} class="things folders" aria-label={t('folders')}>
                    {possible.map(folder => (
                      <li key={folder.entryId}>
                        <Icon name="folder" />
                        <button
                          type="button"
                          class="link"
                          aria-label={t('openFolder', { name: visible(folder.name) })}
                          onClick={() => setPath([...path, folder])}
                        >
                          <Name>{folder.name}</Name>
                        </button>
                      </li>
                    ))}
                    {possible.length === 0 && <li class="none">{t('foldersNone')}</li>}
                  </ul>
                  <p role="status">{changes}</p>
                  <DialogButtons onClose={onClose}>
                    <Button kind="quiet" onPress={() => setMaking(true)}>
                      {t('newFolder')}
                    </Button>
                    <Button type="submit" disabled={items.every(({ folder }) => folder === to.folder)}>
                      {t('moveHere')}
                    </Button>
                  </DialogButtons>
                </>
              )}
            </Form>
          )
        }}
      </Await>
      {isMaking && (
        <NewFolder
          target={{ ...target, folder: path.at(-1)?.entryId }}
          onClose={() => setMaking(false)}
          onCreated={again}
        />
      )}
    </Dialog>
  )
}
