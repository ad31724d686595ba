import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Await, Card } from '../components/page.tsx'
import { type Column, Table } from '../components/table.tsx'
import { attempt } from '../components/toast.tsx'
import { ask } from '../lib/api.ts'
import { address, part } from '../lib/base.ts'
import { loadFiles, type StoredFile } from '../lib/files.ts'
import { bytes, dateTime } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { useSession } from '../lib/session.ts'

interface FileListProps {
  readonly contextId: string
  /** Another number loads the list again. */
  readonly round: number
  readonly onDeleted: () => void
}

const STEP = 50

export function FileList({ contextId, round, onDeleted }: FileListProps) {
  const { me } = useSession()
  const [wanted, setWanted] = useState(STEP)
  const [doomed, setDoomed] = useState<StoredFile>()
  const [loaded, again] = useLoaded(
    signal => loadFiles(me.baseUri + contextId, wanted, signal),
    [contextId, wanted, round],
  )
  const remove = async ({ entryId, name }: StoredFile): Promise<void> => {
    const path = `${part(contextId)}/entry/${part(entryId)}`
    const isGone = await attempt(() => ask(path, { method: 'DELETE' }), t('deleted', { name }))
    if (!isGone) return
    again()
    onDeleted()
  }
  return (
    <Card title={t('filesOf')}>
      <Await loaded={loaded} again={again}>
        {({ files, results }) => (
          <>
            {files.length === 0 ? (
              <p class="empty">{t('filesNone')}</p>
            ) : (
              <Table
                caption={t('filesOf')}
                columns={columns(contextId, setDoomed)}
                rows={files}
                keyOf={({ entryId }) => entryId}
              />
            )}
            {files.length < results && (
              <div class="buttons">
                <Button kind="quiet" onPress={() => setWanted(wanted + STEP)}>
                  {t('filesMore')}
                </Button>
              </div>
            )}
          </>
        )}
      </Await>
      {doomed && (
        <Confirm
          title={t('deleteFile', { name: doomed.name })}
          text={t('deleteText', { name: doomed.name })}
          action={t('delete')}
          onConfirm={() => remove(doomed)}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </Card>
  )
}

const columns = (contextId: string, onDelete: (file: StoredFile) => void): ReadonlyArray<Column<StoredFile>> => [
  { title: t('fileName'), cell: ({ name }) => <strong>{name}</strong> },
  { title: t('fileType'), cell: ({ mediaType = '–' }) => <span class="muted">{mediaType}</span> },
  { title: t('fileSize'), kind: 'number', cell: ({ size }) => (size === undefined ? '–' : bytes(size)) },
  { title: t('changed'), cell: ({ modified }) => (modified ? dateTime(modified) : '–') },
  {
    title: t('actions'),
    kind: 'actions',
    cell: file => <Actions contextId={contextId} file={file} onDelete={onDelete} />,
  },
]

interface ActionsProps {
  readonly contextId: string
  readonly file: StoredFile
  readonly onDelete: (file: StoredFile) => void
}

function Actions({ contextId, file, onDelete }: ActionsProps) {
  const { entryId, name, size, mayDelete } = file
  return (
    <div class="buttons">
      {size !== undefined && (
        <a
          class="button quiet small"
          href={address(`${part(contextId)}/resource/${part(entryId)}?download`)}
          download
          aria-label={t('downloadFile', { name })}
        >
          {t('download')}
        </a>
      )}
      {mayDelete && (
        <Button kind="quiet danger" size="small" label={t('deleteFile', { name })} onPress={() => onDelete(file)}>
          {t('delete')}
        </Button>
      )}
    </div>
  )
}
