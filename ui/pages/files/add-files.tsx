import { useRef, useState } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import { Menu } from '../../components/menu.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { chosenFiles, type DroppedFile } from '../../lib/dropped.ts'
import { t } from '../../lib/language.ts'
import { lazy } from '../../lib/lazy.tsx'
import { visible } from '../../lib/text.ts'
import { addUploads, type NewUpload, type Target } from '../../lib/uploads.ts'
import { usePageDrop } from './dropping.ts'
import { type Planned, planUploads } from './plan-uploads.ts'

interface AddFilesProps {
  readonly target: Target
  /** Of the folder that is shown. */
  readonly name: string
  readonly onCreated: () => void
}

/** Its code is not needed for the list, nor is that of the dialogs below. */
const Conflicts = lazy(async () => (await import('./conflicts.tsx')).Conflicts, 'dialog')
const NewFolder = lazy(async () => (await import('./name-dialog.tsx')).NewFolder, 'dialog')
const NewLink = lazy(async () => (await import('./new-link-or-text.tsx')).NewLink, 'dialog')
const NewText = lazy(async () => (await import('./new-link-or-text.tsx')).NewText, 'dialog')

/** What the menu creates without an upload. */
const creators = { newFolder: NewFolder, newLink: NewLink, newText: NewText } as const

/** The menu *New*: uploads files and folders, and creates folders, links and texts. The whole window takes files that are dropped on it. */
export function AddFiles({ target, name, onCreated }: AddFilesProps) {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const [making, setMaking] = useState<keyof typeof creators>()
  const [planned, setPlanned] = useState<Planned>()
  const add = async (dropped: readonly DroppedFile[] | Promise<readonly DroppedFile[]>, to: Target): Promise<void> => {
    try {
      const plan = await planUploads(await dropped, to)
      if (plan.madeFolders) onCreated()
      addUploads(plan.uploads)
      if (plan.conflicts.length > 0) setPlanned(plan)
    } catch (error) {
      tellFailure(error)
    }
  }
  const isOver = usePageDrop(
    (dropped, folder) => void add(dropped, folder === undefined ? target : { ...target, folder }),
  )
  const resolve = (uploads: readonly NewUpload[]): void => {
    setPlanned(undefined)
    addUploads(uploads)
  }
  const choose = (input: HTMLInputElement): void => {
    void add(chosenFiles(input.files ?? []), target)
    // Reset, so that choosing the same file again is a change.
    input.value = ''
  }
  const Creator = making && creators[making]
  return (
    <div class="add-files">
      <Menu
        label={t('addNew')}
        class="button small new"
        items={[
          { text: t('uploadFiles'), onPick: () => files.current?.click() },
          { text: t('uploadFolder'), onPick: () => folder.current?.click() },
          ...(Object.keys(creators) as ReadonlyArray<keyof typeof creators>).map(kind => ({
            text: t(kind),
            onPick: () => setMaking(kind),
          })),
        ]}
      >
        <Icon name="plus" />
        <span class="text">{t('addNew')}</span>
      </Menu>
      <input ref={files} type="file" multiple hidden onChange={event => choose(event.currentTarget)} />
      <input
        ref={folder}
        type="file"
        multiple
        hidden
        {...{ webkitdirectory: true }}
        onChange={event => choose(event.currentTarget)}
      />
      {isOver && <p class="drop-here">{t('dropTo', { name: visible(name) })}</p>}
      {Creator && <Creator target={target} onClose={() => setMaking(undefined)} onCreated={onCreated} />}
      {planned && <Conflicts conflicts={planned.conflicts} taken={planned.taken} onResolved={resolve} />}
    </div>
  )
}
