import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import { OtherQuotas } from '../../components/my-quotas.tsx'
import { Await, failureTitle, Page } from '../../components/page.tsx'
import { QuotaBar } from '../../components/quota-bar.tsx'
import { Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { type Context, contextTitle, loadContext } from '../../lib/contexts.ts'
import {
  columns,
  folderOf,
  type Item,
  itemPath,
  type Listing,
  loadItem,
  loadItems,
  searchFeed,
  type SortColumn,
} from '../../lib/files.ts'
import { showFooter } from '../../lib/footer.ts'
import { useChange } from '../../lib/items.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useQuery } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { checkSession, useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { loadTrash } from '../../lib/trash.ts'
import type { Target } from '../../lib/uploads.ts'
import { AddFiles } from './add-files.tsx'
import { Breadcrumbs, type Crumb } from './breadcrumbs.tsx'
import { FileList, ItemPanel } from './file-list.tsx'
import { addressOf, itemAt } from './item-address.ts'
import { SearchLine } from './search-line.tsx'
import { UploadRows } from './upload-rows.tsx'
import { UploadTray, useUploads } from './upload-tray.tsx'

interface Place {
  readonly context: Context
  /** The folders from the outermost one to this one. */
  readonly folders: readonly Crumb[]
  /** Whether there is nothing that the person may read. */
  readonly isClosed?: boolean
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
    const shared = await sharedFolder(context, folder, signal)
    const isClosed = shared.folders.length === 0 && (await countReadable(me.baseUri + context.contextId, signal)) === 0
    return { ...shared, isClosed }
  }
  const [loaded, again] = useLoaded(load, [key, folder])
  const [moves, setMoves] = useState(0)
  const place = loaded.state === 'ready' ? loaded.value : undefined
  const without = loaded.state === 'failed' ? t(failureTitle(loaded.error)) : t('filesOf')
  const name = place?.folders.at(-1)?.name ?? (place ? contextTitle(place.context) : without)
  const title = place?.isClosed === true ? t('noAccessTitle') : name
  return (
    <Page
      title={visible(title)}
      class="files-page"
      content={heading => {
        if (!place) {
          return (
            <>
              <header>{heading}</header>
              <Await loaded={loaded} again={again}>
                {() => null}
              </Await>
            </>
          )
        }
        const { context, folders, isClosed } = place
        if (isClosed === true) return <NoAccess heading={heading} context={context.contextId} />
        const path = (
          <Breadcrumbs
            context={context}
            folders={folders}
            heading={heading}
            onMoved={() => setMoves(moves => moves + 1)}
          />
        )
        return <FilesOf context={context} folder={folder} name={title} path={path} moves={moves} reload={again} />
      }}
    />
  )
}

/** Why there is no list, and one way on. An address may lead to a single file that is shared. */
function NoAccess({ heading, context }: { readonly heading: ComponentChildren; readonly context: string }) {
  const [{ item, tab }, change] = useQuery({ item: '', tab: '' })
  const { context: place, entryId } = itemAt(item, context)
  // Only what the person may read is shown over this page, which has said already that they may read nothing else.
  const [loaded] = useLoaded(async signal => item !== '' && (await loadItem(place, entryId, signal)), [item])
  return (
    <>
      <header>{heading}</header>
      <div class="notice warn stack">
        <p>{t('noAccess')}</p>
        <p>
          <Link to="">{t('toMyFiles')}</Link>
        </p>
      </div>
      {item !== '' && loaded.state === 'ready' && (
        <ItemPanel
          {...itemAt(item, context)}
          tab={tab}
          onTab={tab => change({ tab })}
          onClose={() => change({ item: '', tab: '' })}
          onChanged={() => undefined}
        />
      )}
    </>
  )
}

/** Number of items outside of folders that the person may read. @throws {Problem} */
async function countReadable(contextUri: string, signal: AbortSignal): Promise<number> {
  const listing = {
    contextUri,
    folder: undefined,
    search: '',
    isEverywhere: false,
    sort: 'name',
    descends: false,
  } as const
  return (await loadItems(listing, 0, signal)).results
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

const usual = { search: '', in: '', sort: 'name', order: 'asc', item: '', tab: '' }

interface FilesOfProps {
  readonly context: Context
  readonly folder: string | undefined
  /** Of the context or folder. */
  readonly name: string
  readonly path: ComponentChildren
  /** Increases when an item has been moved out of the list. */
  readonly moves: number
  readonly reload: () => void
}

function FilesOf({ context, folder, name, path, moves, reload }: FilesOfProps) {
  const { me } = useSession()
  const [{ search, in: where, sort, order, item, tab }, change] = useQuery(usual)
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
  const isEverywhere = where !== 'here'
  const listing: Listing = { contextUri, folder, search, isEverywhere, sort: column, descends: order === 'desc' }
  const onSort = (next: SortColumn): void =>
    change({ sort: next, order: next === column && order === 'asc' ? 'desc' : 'asc' })
  const none =
    search === ''
      ? t(canWrite ? 'filesNone' : canRead ? 'filesNoneToRead' : 'nothingFound')
      : t('searchNone', { search })
  const here = { context: contextId, entryId: folder ?? '' }
  const open = (found: Pick<Item, 'context' | 'entryId'>, tab = ''): void =>
    change({ item: addressOf(found, contextId), tab }, item === '')
  return (
    <FileList
      listing={listing}
      target={target}
      round={round + moves}
      none={none}
      opened={{ context: contextId, item, tab }}
      onSort={onSort}
      onOpen={open}
      onTab={tab => change({ tab })}
      onClose={() => change({ item: '', tab: '' })}
      onChanged={refresh}
      below={
        quota && <QuotaBar name={contextTitle(context)} quota={{ ...quota, fillLevel: quota.fillLevel + under }} />
      }
      above={search === '' && <UploadRows target={target} />}
      head={
        <>
          {path}
          <SearchLine
            search={search}
            feed={searchFeed(listing)}
            isHere={!isEverywhere}
            onHere={isHere => change({ in: isHere ? 'here' : '' })}
          />
        </>
      }
    >
      {canWrite && <AddFiles target={target} name={name} onCreated={refresh} />}
      {isOwner && (
        <Link
          class="button quiet small share"
          to={folder === undefined ? `contexts/${part(contextId)}/sharing` : itemPath(here, 'access')}
          {...(folder === undefined ? {} : { onFollow: () => open(here, 'access') })}
        >
          <Icon name="people" />
          {t('share')}
        </Link>
      )}
      {canRead && !canWrite && <span class="muted small">{t('readOnly')}</span>}
      {quota && <QuotaBar name={contextTitle(context)} quota={{ ...quota, fillLevel: quota.fillLevel + under }} />}
      {quota && <OtherQuotas context={contextId} round={round} />}
      {canWrite ? (
        <TrashLink context={contextId} />
      ) : (
        canRead && <TrashLinkOfReader context={contextId} round={round} />
      )}
    </FileList>
  )
}

const TrashLink = ({ context }: { readonly context: string }) => (
  <Link class="button quiet small trash" label={t('trash')} to={`contexts/${part(context)}/trash`}>
    <Icon name="trash" />
    <span class="text">{t('trash')}</span>
  </Link>
)

/** Owners of single files restore these without writing to the context: the link is there when the trash has something for them. */
function TrashLinkOfReader({ context, round }: { readonly context: string; readonly round: number }) {
  const [loaded] = useLoaded(signal => loadTrash(context, { offset: 0, search: '' }, signal), [context, round])
  return loaded.state === 'ready' && loaded.value.results > 0 ? <TrashLink context={context} /> : null
}
