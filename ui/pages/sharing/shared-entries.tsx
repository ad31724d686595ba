import { useState } from 'preact/hooks'
import { Icon, iconOf } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import type { Item } from '../../lib/files.ts'
import { ago, bytes } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { loadSharedEntries } from '../../lib/shared.ts'
import { Preview } from '../files/preview.tsx'

/** Single files and folders that others have shared with the user. */
export function SharedEntries() {
  const { me } = useSession()
  const [loaded, again] = useLoaded(signal => loadSharedEntries(me, signal), [me.id])
  const [shown, setShown] = useState<Item>()
  return (
    <Card title={t('sharedItems')}>
      <Await loaded={loaded} again={again}>
        {items =>
          items.length === 0 ? (
            <p class="empty">{t('sharedItemsNone')}</p>
          ) : (
            <Table
              caption={t('sharedItems')}
              columns={columns(setShown)}
              rows={items}
              keyOf={({ context, entryId }) => `${context}/${entryId}`}
            />
          )
        }
      </Await>
      {shown && <Preview item={shown} onClose={() => setShown(undefined)} />}
    </Card>
  )
}

/** A link to a folder; a button that shows a file. */
export function ItemLink({ item, onShow }: { readonly item: Item; readonly onShow: (item: Item) => void }) {
  const { isFolder, mediaType, name, context, entryId } = item
  return (
    <span class="item-name">
      <Icon name={isFolder ? 'folder' : iconOf(mediaType)} />
      {isFolder ? (
        <Link class="strong" to={`contexts/${part(context)}/files/${part(entryId)}`}>
          <Name>{name}</Name>
        </Link>
      ) : (
        <button type="button" class="link" onClick={() => onShow(item)}>
          <Name>{name}</Name>
        </button>
      )}
    </span>
  )
}

const columns = (onShow: (item: Item) => void): ReadonlyArray<Column<Item>> => [
  { title: t('fileName'), kind: 'wide', cell: item => <ItemLink item={item} onShow={onShow} /> },
  {
    title: t('may'),
    cell: ({ isOwner, canWrite }) => t(isOwner ? 'role.owner' : canWrite ? 'role.writer' : 'role.reader'),
  },
  { title: t('fileSize'), kind: 'number', cell: ({ size }) => (size === undefined ? '–' : bytes(size)) },
  { title: t('changed'), kind: 'whole', cell: ({ modified }) => (modified ? ago(modified) : '–') },
]
