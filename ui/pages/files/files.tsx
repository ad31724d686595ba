import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Await, Page } from '../../components/page.tsx'
import { QuotaBar } from '../../components/quota-bar.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { type Context, contextTitle, loadContext } from '../../lib/contexts.ts'
import { columns, folderOf, type Listing, loadItem, type SortColumn } from '../../lib/files.ts'
import { useChange } from '../../lib/items.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useQuery } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { checkSession, useSession } from '../../lib/session.ts'
import { showFooter } from '../../lib/footer.ts'
import { visible } from '../../lib/text.ts'
import { loadTrash } from '../../lib/trash.ts'
import type { Target } from '../../lib/uploads.ts'
import { Breadcrumbs, type Crumb } from './breadcrumbs.tsx'
import { FileList } from './file-list.tsx'
import { UploadTray, useUploads } from './upload-tray.tsx'
import { UploadZone } from './upload-zone.tsx'

interface Place {
  readonly context: Context
  /** The folders from the outermost one to this one. */
  readonly folders: readonly Crumb[]
}

const MAX_DEPTH = 32

/** The files of one context, or of a folder in it. */
export function Files({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const { me } = useSession()
  const { context: key = '', folder } = parts
  useLayoutEffect(() => showFooter(UploadTray), [])
  const load = async (signal: AbortSignal): Promise<Place> => {
    const context = await loadContext(key, signal)
    // A user who may read nothing here may no longer be signed in. After a new sign-in this is loaded again.
    if (!context.canRead) await checkSession(me)
    if (context.canRead) return { context, folders: await pathTo(context.contextId, folder, signal) }
    return await sharedFolder(context, folder, signal)
  }
  const [loaded, again] = useLoaded(load, [key, folder])
  const [moves, setMoves] = useState(0)
  const onMoved = (): void => setMoves(moves => moves + 1)
  const place = loaded.state === 'ready' ? loaded.value : undefined
  const title = place?.folders.at(-1)?.name ?? (place ? contextTitle(place.context) : t('filesOf'))
  return (
    <Page
      title={visible(title)}
      lead={place ? <Breadcrumbs context={place.context} folders={place.folders} onMoved={onMoved} /> : undefined}
    >
      <Await loaded={loaded} again={again}>
        {({ context }) => <FilesOf context={context} folder={folder} moves={moves} reload={again} />}
      </Await>
    </Page>
  )
}

/** A folder that is shared by itself, in a context that is not. @throws {Problem} */
async function sharedFolder(context: Context, folder: string | undefined, signal: AbortSignal): Promise<Place> {
  if (folder === undefined) return { context, folders: [] }
  try {
    const { name, canWrite, isOwner } = await loadItem(context.contextId, folder, signal)
    return { context: { ...context, canRead: true, canWrite, isOwner }, folders: [{ id: folder, name }] }
  } catch (error) {
    if (error instanceof Problem && error.status === 403) return { context, folders: [] }
    throw error
  }
}

/** The folders above an item, found through the lists that contain it. @throws {Problem} */
async function pathTo(context: string, folder: string | undefined, signal: AbortSignal): Promise<Crumb[]> {
  const path: Crumb[] = []
  for (let id = folder; id !== undefined && path.length < MAX_DEPTH; ) {
    const { name } = await loadItem(context, id, signal)
    path.unshift({ id, name })
    const above = await folderOf({ context, entryId: id }, signal)
    id = path.some(crumb => crumb.id === above) ? undefined : above
  }
  return path
}

const usual = { search: '', sort: 'name', order: 'asc' }

interface FilesOfProps {
  readonly context: Context
  readonly folder: string | undefined
  /** Increases when an item has been moved out of the list. */
  readonly moves: number
  readonly reload: () => void
}

function FilesOf({ context, folder, moves, reload }: FilesOfProps) {
  const { me } = useSession()
  const [{ search, sort, order }, change] = useQuery(usual)
  const [round, setRound] = useState(0)
  const { contextId, quota, canWrite, canRead, isOwner } = context
  const contextUri = me.baseUri + contextId
  const target: Target = { context: contextId, contextUri, folder }
  const uploads = useUploads().filter(upload => upload.target.context === contextId)
  const done = uploads.filter(({ state }) => state === 'done').length
  const under = uploads.filter(({ state }) => state === 'sending').reduce((sum, { sent }) => sum + sent, 0)
  const pause = useRef(0)
  const refresh = (): void => {
    setRound(round => round + 1)
    reload()
  }
  // Many small files finish close together, so the list is fetched once they are all uploaded.
  useChange(done, () => {
    clearTimeout(pause.current)
    pause.current = setTimeout(refresh, 250)
  })
  const column: SortColumn = columns.find(column => column === sort) ?? 'name'
  const listing: Listing = { contextUri, folder, search, sort: column, descends: order === 'desc' }
  const onSort = (next: SortColumn): void =>
    change({ sort: next, order: next === column && order === 'asc' ? 'desc' : 'asc' })
  return (
    <>
      {quota && <QuotaBar name={contextTitle(context)} quota={{ ...quota, fillLevel: quota.fillLevel + under }} />}
      <UploadZone target={target} canWrite={canWrite} isOwner={isOwner} onCreated={refresh}>
        <SearchField label={t('searchFiles')} value={search} onValue={search => change({ search })} />
      </UploadZone>
      {!canRead && <p class="notice warn">{t('noAccess')}</p>}
      {canRead && !canWrite && <p class="notice">{t('readOnly')}</p>}
      <FileList
        listing={listing}
        target={target}
        round={round + moves}
        isEmptyForAReason={!canRead}
        onSort={onSort}
        onChanged={refresh}
      />
      {canWrite ? (
        <TrashLink context={contextId} />
      ) : (
        canRead && <TrashLinkOfReader context={contextId} round={round} />
      )}
      {!canRead && (
        <p>
          <Link to="">{t('toMyFiles')}</Link>
        </p>
      )}
    </>
  )
}

const TrashLink = ({ context }: { readonly context: string }) => (
  <p>
    <Link to={`contexts/${part(context)}/trash`}>{t('trash')}</Link>
  </p>
)

/** Owners of single files restore these without writing to the context: the link is there when the trash has something for them. */
function TrashLinkOfReader({ context, round }: { readonly context: string; readonly round: number }) {
  const [loaded] = useLoaded(signal => loadTrash(context, 0, signal), [context, round])
  return loaded.state === 'ready' && loaded.value.results > 0 ? <TrashLink context={context} /> : null
}
