import { useRef, useState } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import { Menu } from '../../components/menu.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { chosenFiles, type DroppedFile } from '../../lib/dropped.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import { addUploads, type NewUpload, type Target } from '../../lib/uploads.ts'
import { Conflicts } from './conflicts.tsx'
import { usePageDrop } from './dropping.ts'
import { NewFolder } from './name-dialog.tsx'
import { type Planned, planUploads } from './plan-uploads.ts'

interface AddFilesProps {
  readonly target: Target
  /** Of the folder that is shown. */
  readonly name: string
  readonly onCreated: () => void
}

/** The menu *New*: uploads files and folders, and creates folders. The whole window takes files that are dropped on it. */
export function AddFiles({ target, name, onCreated }: AddFilesProps) {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const [isMaking, setMaking] = useState(false)
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
  return (
    <div class="add-files">
      <Menu
        label={t('addNew')}
        class="button small new"
        items={[
          { text: t('uploadFiles'), onPick: () => files.current?.click() },
          { text: t('uploadFolder'), onPick: () => folder.current?.click() },
          { text: t('newFolder'), onPick: () => setMaking(true) },
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
      {isMaking && <NewFolder target={target} onClose={() => setMaking(false)} onCreated={onCreated} />}
      {planned && <Conflicts conflicts={planned.conflicts} taken={planned.taken} onResolved={resolve} />}
    </div>
  )
}
