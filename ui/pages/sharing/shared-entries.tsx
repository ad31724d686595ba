import { useState } from 'preact/hooks'
import { Icon, iconOfItem } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { type Item, itemPath, WINDOW } from '../../lib/files.ts'
import { ago, bytes } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useQuery } from '../../lib/query.ts'
import { namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { creatorOf, loadSharedEntries } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'
import { addressOf, itemAt } from '../files/item-address.ts'
import { ItemPanel } from '../files/item-panel.tsx'

interface SharedEntry {
  readonly item: Item
  /** Name of the user who created it. */
  readonly by: string | undefined
}

/** Single files and folders that others have shared with the user. */
export function SharedEntries() {
  const { me } = useSession()
  const [offset, setOffset] = useState(0)
  const load = async (signal: AbortSignal) => {
    const { items, results } = await loadSharedEntries(me, offset, signal)
    const creators = items.flatMap(item => creatorOf(item, me) ?? [])
    const names = await namesOf(creators, signal)
    return { items: items.map((item): SharedEntry => ({ item, by: names.get(creatorOf(item, me) ?? '') })), results }
  }
  const [loaded, again] = useLoaded(load, [me.id, offset])
  const { panel, open } = useItemPanel(again)
  return (
    <Card title={t('sharedItems')}>
      <Await loaded={loaded} again={again}>
        {({ items, results }) => (
          <>
            <Table
              none={t('sharedItemsNone')}
              caption={t('sharedItems')}
              columns={columns(open)}
              rows={items}
              keyOf={({ item: { context, entryId } }) => `${context}/${entryId}`}
            />
            {results > WINDOW && (
              <Pager step={WINDOW} offset={offset} shown={items.length} results={results} onOffset={setOffset} />
            )}
          </>
        )}
      </Await>
      {panel}
    </Card>
  )
}

/** The panel of the item in the address of the page, and a way to open it. */
export function useItemPanel(onChanged: () => void) {
  const [{ item, tab }, change] = useQuery({ item: '', tab: '' })
  const panel = item !== '' && (
    <ItemPanel
      {...itemAt(item)}
      tab={tab}
      onTab={tab => change({ tab })}
      onClose={() => change({ item: '', tab: '' })}
      onChanged={onChanged}
    />
  )
  const open = (item: Item, tab = ''): void => change({ item: addressOf(item), tab }, true)
  return { panel, open }
}

/** A link to a folder, or to the details of a file. */
export function ItemLink({ item, onShow }: { readonly item: Item; readonly onShow: (item: Item) => void }) {
  const { isFolder, name, context, entryId } = item
  return (
    <span class="item-name">
      <Icon name={iconOfItem(item)} />
      {isFolder ? (
        <Link class="strong" to={`contexts/${part(context)}/files/${part(entryId)}`}>
          <Name>{name}</Name>
        </Link>
      ) : (
        <Link class="strong" to={itemPath(item)} onFollow={() => onShow(item)}>
          <Name>{name}</Name>
        </Link>
      )}
    </span>
  )
}

const columns = (onShow: (item: Item) => void): ReadonlyArray<Column<SharedEntry>> => [
  { title: t('fileName'), kind: 'wide', cell: ({ item }) => <ItemLink item={item} onShow={onShow} /> },
  { title: t('by'), cell: ({ by }) => (by === undefined ? '–' : visible(by)) },
  {
    title: t('may'),
    cell: ({ item: { isOwner, canWrite } }) => t(isOwner ? 'role.owner' : canWrite ? 'role.writer' : 'role.reader'),
  },
  { title: t('fileSize'), kind: 'number', cell: ({ item: { size } }) => (size === undefined ? '–' : bytes(size)) },
  { title: t('changed'), kind: 'whole', cell: ({ item: { modified } }) => (modified ? ago(modified) : '–') },
]
