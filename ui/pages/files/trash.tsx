import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt, tell } from '../../components/toast.tsx'
import { part } from '../../lib/base.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { ago, bytes, date, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { deleteFromTrash, emptyTrash, loadTrash, restore, TRASH_STEP, type TrashedItem } from '../../lib/trash.ts'
import { tellItems, workThrough } from './many-items.ts'

/** The trash of a context, with buttons to restore items or delete them permanently. */
export function Trash({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const { context: key = '' } = parts
  const [offset, setOffset] = useState(0)
  const load = async (signal: AbortSignal) => {
    const [context, page] = await Promise.all([loadContext(key, signal), loadTrash(key, offset, signal)])
    return { context, page }
  }
  const [loaded, again] = useLoaded(load, [key, offset])
  const [asked, setAsked] = useState<readonly TrashedItem[] | 'all'>()
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const files = `contexts/${part(key)}/files`
  const title = loaded.state === 'ready' ? contextTitle(loaded.value.context) : t('filesOf')
  const chosen = loaded.state === 'ready' ? loaded.value.page.items.filter(({ entryId }) => picked.has(entryId)) : []
  const over = (count: number): void => {
    setPicked(new Set())
    // What was on this page may have been all of it.
    if (loaded.state === 'ready' && count >= loaded.value.page.items.length) setOffset(0)
    again()
  }
  const bring = async (items: readonly TrashedItem[]): Promise<void> => {
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
    const done = await workThrough(asked, ({ entryId }) => deleteFromTrash(key, entryId))
    if (done.length > 0) tell(tellItems(done, 'deleted', 'deletedMany'))
    over(done.length)
  }
  const pick = ({ entryId }: TrashedItem, isPicked: boolean): void => {
    const others = [...picked].filter(id => id !== entryId)
    setPicked(new Set(isPicked ? [...others, entryId] : others))
  }
  return (
    <Page
      title={t('trash')}
      lead={
        <nav class="crumbs" aria-label={t('breadcrumbs')}>
          <ol>
            <li>
              <Link to={files}>
                <Name>{title}</Name>
              </Link>
            </li>
            <li>
              <Link to={`contexts/${part(key)}/trash`} current="page">
                {t('trash')}
              </Link>
            </li>
          </ol>
        </nav>
      }
    >
      <Card
        title={t('trashed')}
        aside={
          loaded.state === 'ready' &&
          loaded.value.page.results > 0 &&
          (chosen.length > 0 ? (
            <div class="buttons" role="group" aria-label={t('selection')}>
              <strong role="status">{t('selected', { count: number(chosen.length) })}</strong>
              <Button kind="quiet" size="small" onPress={() => bring(chosen)}>
                {t('restore')}
              </Button>
              <Button kind="quiet danger" size="small" onPress={() => setAsked(chosen)}>
                {t('deleteForEver')}
              </Button>
            </div>
          ) : (
            <Button kind="quiet danger" size="small" onPress={() => setAsked('all')}>
              {t('emptyTrash')}
            </Button>
          ))
        }
      >
        <Await loaded={loaded} again={again}>
          {({ page: { items, results, bytes: size } }) =>
            results === 0 ? (
              <p class="empty">{t('trashNone')}</p>
            ) : (
              <>
                <p>{t('trashCounts', { size: bytes(size) })}</p>
                <Table
                  caption={t('trashed')}
                  columns={columnsFor({ picked, pick, bring, ask: setAsked })}
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

interface Columns {
  readonly picked: ReadonlySet<string>
  readonly pick: (item: TrashedItem, isPicked: boolean) => void
  readonly bring: (items: readonly TrashedItem[]) => Promise<void>
  readonly ask: (items: readonly TrashedItem[]) => void
}

function columnsFor({ picked, pick, bring, ask }: Columns): ReadonlyArray<Column<TrashedItem>> {
  return [
    {
      title: t('fileName'),
      kind: 'wide',
      cell: item => (
        <span class="item-name">
          <label class="check">
            <input
              type="checkbox"
              aria-label={t('selectItem', { name: visible(item.name) })}
              checked={picked.has(item.entryId)}
              onInput={event => pick(item, event.currentTarget.checked)}
            />
          </label>
          <Icon name={item.graphType === 'List' ? 'folder' : 'file'} />
          <Name>{item.name}</Name>
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
          <div class="muted small">{t('sharedBy', { name: visible(deletedBy.name ?? deletedBy.id) })}</div>
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
