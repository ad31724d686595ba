import { useLayoutEffect, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt, tell, tellFailure } from '../../components/toast.tsx'
import { part } from '../../lib/base.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { folderPath } from '../../lib/files.ts'
import { ago, bytes, date, number } from '../../lib/format.ts'
import { showFooter } from '../../lib/footer.ts'
import { labelsOf } from '../../lib/labels.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { deleteFromTrash, emptyTrash, loadTrash, restore, TRASH_STEP, type TrashedItem } from '../../lib/trash.ts'
import { areMany, begin, namesOf, tellItems, workThrough } from './many-items.ts'
import { type TrashSelection, useTrashSelection } from './trash-selection.ts'
import { UploadTray } from './upload-tray.tsx'

/** The trash of a context, with buttons to restore items or delete them permanently. */
export function Trash({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const { context: key = '' } = parts
  const [{ search, from }, change] = useQuery({ search: '', from: '0' })
  const offset = wholeNumber(from)
  const setOffset = (offset: number): void => change({ from: String(offset) })
  useLayoutEffect(() => showFooter(UploadTray), [])
  const load = async (signal: AbortSignal) => {
    const [context, page] = await Promise.all([loadContext(key, signal), loadTrash(key, { offset, search }, signal)])
    const folders = page.items.flatMap(({ list }) => (list === undefined ? [] : [`${context.contextId}/${list}`]))
    const people = page.items.map(({ deletedBy }) => `_principals/${deletedBy.id}`)
    return { context, page, labels: await labelsOf([...folders, ...people], signal) }
  }
  const [loaded, again] = useLoaded(load, [key, offset, search])
  const [asked, setAsked] = useState<readonly TrashedItem[] | 'all'>()
  const { items = [], results = 0 } = loaded.state === 'ready' ? loaded.value.page : {}
  const selection = useTrashSelection({ context: key, query: search, items, results })
  const title = loaded.state === 'ready' ? contextTitle(loaded.value.context) : t('filesOf')
  const over = (count: number): void => {
    selection.clear()
    // What was on this page may have been all of it.
    if (count >= items.length) setOffset(0)
    again()
  }
  const operate = async (action: 'restore' | 'purge', items: readonly TrashedItem[]): Promise<void> => {
    await begin({
      context: key,
      action,
      chosen: { entries: items.map(({ entryId }) => entryId) },
      names: namesOf(items),
      onOver: ({ done }) => {
        if (done > 0) tell(t(action === 'purge' ? 'deletedMany' : 'restoredMany', { count: number(done) }))
        over(done)
      },
    })
  }
  const bring = async (items: readonly TrashedItem[]): Promise<void> => {
    if (areMany(items)) return await operate('restore', items)
    const done = await workThrough(items, ({ entryId }) => restore(key, entryId))
    if (done.length > 0) tell(tellItems(done, 'restoredOne', 'restoredMany'))
    over(done.length)
  }
  const confirm = async (): Promise<void> => {
    if (asked === undefined) return
    if (asked === 'all') {
      await attempt(() => emptyTrash(key), t('trashEmptied'))
      over(Number.POSITIVE_INFINITY)
      return
    }
    if (areMany(asked)) return await operate('purge', asked)
    const done = await workThrough(asked, ({ entryId }) => deleteFromTrash(key, entryId))
    if (done.length > 0) tell(tellItems(done, 'deleted', 'deletedMany'))
    over(done.length)
  }
  return (
    <Page title={t('trash')} lead={<Path context={key} title={title} />}>
      <Card
        title={t('trashed')}
        aside={
          <Tools
            selection={selection}
            results={results}
            isSearch={search !== ''}
            onRestore={bring}
            onDelete={setAsked}
            onEmpty={() => setAsked('all')}
          />
        }
      >
        <SearchField
          label={t('trashSearch')}
          value={search}
          onValue={search => change({ search: search.trim(), from: '0' })}
        />
        <Await loaded={loaded} again={again}>
          {({ context: { contextId }, page: { items, results, bytes: size }, labels }) =>
            results === 0 ? (
              <p class="empty">{t(search === '' ? 'trashNone' : 'nothingFound')}</p>
            ) : (
              <>
                <p>{t('trashCounts', { size: bytes(size) })}</p>
                <Table
                  caption={t('trashed')}
                  columns={columnsFor({ selection, context: contextId, labels, bring, ask: setAsked })}
                  rows={items}
                  keyOf={({ entryId }) => entryId}
                />
                <Pager step={TRASH_STEP} offset={offset} shown={items.length} results={results} onOffset={setOffset} />
              </>
            )
          }
        </Await>
      </Card>
      {asked !== undefined && (
        <Confirm
          title={
            asked === 'all' ? t('emptyTrashTitle') : tellItems(asked, 'deletePermanently', 'deletePermanentlyMany')
          }
          text={t(
            asked === 'all' || asked.some(({ graphType }) => graphType === 'List') ? 'deleteFolderText' : 'deleteText',
          )}
          action={t(asked === 'all' ? 'emptyTrash' : 'deleteForEver')}
          onConfirm={confirm}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Page>
  )
}

const Path = ({ context, title }: { readonly context: string; readonly title: string }) => (
  <nav class="crumbs" aria-label={t('breadcrumbs')}>
    <ol>
      <li>
        <Link to={`contexts/${part(context)}/files`}>
          <Name>{title}</Name>
        </Link>
      </li>
      <li>
        <Link to={`contexts/${part(context)}/trash`} current="page">
          {t('trash')}
        </Link>
      </li>
    </ol>
  </nav>
)

interface ToolsProps {
  readonly selection: TrashSelection
  readonly results: number
  readonly isSearch: boolean
  readonly onRestore: (items: readonly TrashedItem[]) => Promise<void>
  readonly onDelete: (items: readonly TrashedItem[]) => void
  readonly onEmpty: () => void
}

/** What one can do with the selected items; without any, with the whole trash. */
function Tools({ selection, results, isSearch, onRestore, onDelete, onEmpty }: ToolsProps) {
  if (results === 0) return null
  if (selection.count === 0) {
    return isSearch ? null : (
      <Button kind="quiet danger" size="small" onPress={onEmpty}>
        {t('emptyTrash')}
      </Button>
    )
  }
  const withItems = (work: (items: readonly TrashedItem[]) => unknown) => async (): Promise<void> => {
    try {
      await work(await selection.resolve())
    } catch (error) {
      tellFailure(error)
    }
  }
  return (
    <div class="buttons" role="group" aria-label={t('selection')}>
      <strong role="status">{t('selected', { count: number(selection.count) })}</strong>
      <Button kind="quiet" size="small" onPress={withItems(onRestore)}>
        {t('restore')}
      </Button>
      <Button kind="quiet danger" size="small" onPress={withItems(onDelete)}>
        {t('deleteForEver')}
      </Button>
      {selection.count < results && (
        <Button kind="quiet" size="small" onPress={selection.all}>
          {t('selectAllOf', { count: number(results) })}
        </Button>
      )}
      <Button kind="quiet" size="small" onPress={selection.clear}>
        {t('clearSelection')}
      </Button>
    </div>
  )
}

interface Columns {
  readonly selection: TrashSelection
  readonly context: string
  /** What folders and users are called, by their place. */
  readonly labels: ReadonlyMap<string, string>
  readonly bring: (items: readonly TrashedItem[]) => Promise<void>
  readonly ask: (items: readonly TrashedItem[]) => void
}

function columnsFor({ selection, context, labels, bring, ask }: Columns): ReadonlyArray<Column<TrashedItem>> {
  return [
    {
      title: t('fileName'),
      head: (
        <label class="check">
          <input
            type="checkbox"
            aria-label={t('selectAll')}
            checked={selection.isAll}
            onChange={event => (event.currentTarget.checked ? selection.all() : selection.clear())}
          />
          {t('fileName')}
        </label>
      ),
      kind: 'wide',
      cell: item => (
        <span class="item-name">
          <label class="check">
            <input
              type="checkbox"
              aria-label={t('selectItem', { name: visible(item.name) })}
              checked={selection.has(item)}
              onClick={event => selection.pick(item, event.shiftKey)}
            />
          </label>
          <Icon name={item.graphType === 'List' ? 'folder' : 'file'} />
          <span>
            <Name>{item.name}</Name>
            <FromFolder context={context} folder={item.list} labels={labels} />
          </span>
        </span>
      ),
    },
    { title: t('fileSize'), kind: 'number', cell: item => bytes(item.bytes) },
    {
      title: t('trashedWhen'),
      kind: 'whole',
      cell: ({ deleted, deletedBy }) => (
        <div>
          {ago(new Date(deleted))}
          <div class="muted small">
            {t('sharedBy', {
              name: visible(labels.get(`_principals/${deletedBy.id}`) ?? deletedBy.name ?? deletedBy.id),
            })}
          </div>
        </div>
      ),
    },
    {
      title: t('trashExpires'),
      kind: 'whole',
      cell: ({ expires }) => (expires === undefined ? '–' : date(new Date(expires))),
    },
    {
      title: t('actions'),
      kind: 'actions',
      cell: item => (
        <div class="buttons">
          <Button
            kind="quiet"
            size="small"
            label={t('restoreItem', { name: visible(item.name) })}
            onPress={() => bring([item])}
          >
            {t('restore')}
          </Button>
          <Button
            kind="quiet danger"
            size="small"
            label={t('deleteItem', { name: visible(item.name) })}
            onPress={() => ask([item])}
          >
            {t('deleteForEver')}
          </Button>
        </div>
      ),
    },
  ]
}

interface FromFolderProps {
  readonly context: string
  readonly folder: string | undefined
  readonly labels: ReadonlyMap<string, string>
}

/** The folder that an item was in, and comes back to; nothing for one that was in none, or whose folder is gone. */
function FromFolder({ context, folder, labels }: FromFolderProps) {
  const name = labels.get(`${context}/${folder}`)
  if (name === undefined) return null
  return (
    <span class="from muted small">
      {t('trashedFrom')} <Link to={folderPath({ context, folder })}>{visible(name)}</Link>
    </span>
  )
}
