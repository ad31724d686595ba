import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt } from '../../components/toast.tsx'
import { part } from '../../lib/base.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { ago, bytes, date } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { deleteFromTrash, emptyTrash, loadTrash, restore, TRASH_STEP, type TrashedItem } from '../../lib/trash.ts'

/** The trash of a context, with buttons to restore items or delete them permanently. */
export function Trash({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const { context: key = '' } = parts
  const [offset, setOffset] = useState(0)
  const load = async (signal: AbortSignal) => {
    const [context, page] = await Promise.all([loadContext(key, signal), loadTrash(key, offset, signal)])
    return { context, page }
  }
  const [loaded, again] = useLoaded(load, [key, offset])
  const [asked, setAsked] = useState<TrashedItem | 'all'>()
  const files = `contexts/${part(key)}/files`
  const title = loaded.state === 'ready' ? contextTitle(loaded.value.context) : t('filesOf')
  const confirm = async (): Promise<void> => {
    if (asked === undefined) return
    const isAll = asked === 'all'
    const work = () => (isAll ? emptyTrash(key) : deleteFromTrash(key, asked.entryId))
    await attempt(work, isAll ? t('trashEmptied') : t('deleted', { name: visible(asked.name) }))
    setOffset(0)
    again()
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
          loaded.value.page.results > 0 && (
            <Button kind="quiet danger" size="small" onPress={() => setAsked('all')}>
              {t('emptyTrash')}
            </Button>
          )
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
                  columns={columnsFor(key, again, setAsked)}
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
          title={asked === 'all' ? t('emptyTrashTitle') : t('deletePermanently', { name: visible(asked.name) })}
          text={t(asked === 'all' || asked.graphType === 'List' ? 'deleteFolderText' : 'deleteText')}
          action={t(asked === 'all' ? 'emptyTrash' : 'deleteForEver')}
          onConfirm={confirm}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Page>
  )
}

function columnsFor(
  context: string,
  again: () => void,
  ask: (item: TrashedItem) => void,
): ReadonlyArray<Column<TrashedItem>> {
  const bring = async ({ entryId, name }: TrashedItem): Promise<void> => {
    await attempt(() => restore(context, entryId), t('restoredOne', { name: visible(name) }))
    again()
  }
  return [
    {
      title: t('fileName'),
      kind: 'wide',
      cell: ({ name, graphType }) => (
        <span class="item-name">
          <Icon name={graphType === 'List' ? 'folder' : 'file'} />
          <Name>{name}</Name>
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
            onPress={() => bring(item)}
          >
            {t('restore')}
          </Button>
          <Button
            kind="quiet danger"
            size="small"
            label={t('deleteItem', { name: visible(item.name) })}
            onPress={() => ask(item)}
          >
            {t('deleteForEver')}
          </Button>
        </div>
      ),
    },
  ]
}
