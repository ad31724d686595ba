import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { chosenFiles, type DroppedFile, droppedFiles } from '../../lib/dropped.ts'
import { part } from '../../lib/base.ts'
import { t } from '../../lib/language.ts'
import { Link } from '../../lib/router.tsx'
import { addUploads, type NewUpload, type Target } from '../../lib/uploads.ts'
import { type Conflict, Conflicts } from './conflicts.tsx'
import { isDragging } from './moving.ts'
import { NewFolder } from './name-dialog.tsx'
import { type Planned, planUploads } from './plan-uploads.ts'

interface UploadZoneProps {
  readonly target: Target
  readonly canWrite: boolean
  readonly isOwner: boolean
  readonly onCreated: () => void
  readonly children: ComponentChildren
}

/** Accepts dropped or chosen files and folders, creates folders, and has the search field. */
export function UploadZone({ target, canWrite, isOwner, onCreated, children }: UploadZoneProps) {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const [isMaking, setMaking] = useState(false)
  const [planned, setPlanned] = useState<Planned>()
  const add = async (dropped: readonly DroppedFile[] | Promise<readonly DroppedFile[]>): Promise<void> => {
    try {
      const plan = await planUploads(await dropped, target)
      if (plan.madeFolders) onCreated()
      addUploads(plan.uploads)
      if (plan.conflicts.length > 0) setPlanned(plan)
    } catch (error) {
      tellFailure(error)
    }
  }
  const resolve = (uploads: readonly NewUpload[]): void => {
    setPlanned(undefined)
    addUploads(uploads)
  }
  const choose = (input: HTMLInputElement): void => {
    void add(chosenFiles(input.files ?? []))
    // Reset, so that choosing the same file again is a change.
    input.value = ''
  }
  if (!canWrite) return <div class="toolbar">{children}</div>
  const conflicts: readonly Conflict[] = planned?.conflicts ?? []
  return (
    <section
      class={isOver ? 'zone over' : 'zone'}
      aria-label={t('addFiles')}
      onDragOver={event => {
        if (isDragging()) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={event => {
        const { relatedTarget } = event
        if (!(relatedTarget instanceof Node && event.currentTarget.contains(relatedTarget))) setOver(false)
      }}
      onDrop={event => {
        setOver(false)
        if (isDragging() || !event.dataTransfer) return
        event.preventDefault()
        void add(droppedFiles(event.dataTransfer))
      }}
    >
      <div class="toolbar">
        {children}
        <div class="buttons">
          <Button onPress={() => files.current?.click()}>
            <Icon name="upload" />
            {t('uploadFiles')}
          </Button>
          <Button kind="quiet" onPress={() => folder.current?.click()}>
            {t('uploadFolder')}
          </Button>
          <Button kind="quiet" onPress={() => setMaking(true)}>
            <Icon name="plus" />
            {t('newFolder')}
          </Button>
          {isOwner && (
            <Link class="button quiet" to={`contexts/${part(target.context)}/sharing`}>
              <Icon name="people" />
              {t('share')}
            </Link>
          )}
        </div>
      </div>
      <p class="drop muted small">{isOver ? t('dropNow') : t('dropHere')}</p>
      <input ref={files} type="file" multiple hidden onChange={event => choose(event.currentTarget)} />
      <input
        ref={folder}
        type="file"
        multiple
        hidden
        {...{ webkitdirectory: true }}
        onChange={event => choose(event.currentTarget)}
      />
      {isMaking && <NewFolder target={target} onClose={() => setMaking(false)} onCreated={onCreated} />}
      {planned && <Conflicts conflicts={conflicts} taken={planned.taken} onResolved={resolve} />}
    </section>
  )
}
