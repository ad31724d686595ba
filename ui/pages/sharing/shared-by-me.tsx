import { useState } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import type { Item } from '../../lib/files.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { loadSharedByMe, type SharedItem } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'
import { Preview } from '../files/preview.tsx'
import { FilesHome } from '../files-home.tsx'
import { tellRole } from './access-rows.tsx'
import { Links } from './my-links.tsx'
import { ItemLink } from './shared-entries.tsx'

/** Items that the user shares with others, and with whom. */
export function SharedByMe() {
  const { me } = useSession()
  const load = async (signal: AbortSignal) => {
    const items = await loadSharedByMe(me, signal)
    const ids = items.flatMap(({ access }) => access.map(({ principal }) => principal))
    return { items, names: await namesOf(ids, signal) }
  }
  const [loaded, again] = useLoaded(load, [me.id])
  const [shown, setShown] = useState<Item>()
  return (
    <FilesHome title={t('sharedByMe')}>
      <Card title={t('sharedByMe')}>
        <Await loaded={loaded} again={again}>
          {({ items, names }) =>
            items.length === 0 ? (
              <p class="empty">{t('sharedByMeNone')}</p>
            ) : (
              <Table
                caption={t('sharedByMe')}
                columns={columns(names, setShown)}
                rows={items}
                keyOf={({ item: { context, entryId } }) => `${context}/${entryId}`}
              />
            )
          }
        </Await>
        {shown && <Preview item={shown} onClose={() => setShown(undefined)} />}
      </Card>
      <Links title={t('myPublicLinks')} isAll={false} />
    </FilesHome>
  )
}

const columns = (
  names: ReadonlyMap<string, string>,
  onShow: (item: Item) => void,
): ReadonlyArray<Column<SharedItem>> => [
  {
    title: t('item'),
    kind: 'wide',
    cell: ({ item, isContext }) =>
      isContext ? (
        <span class="item-name">
          <Icon name="folder" />
          <Link class="strong" to={`contexts/${part(item.entryId)}/files`}>
            <Name>{item.name}</Name>
          </Link>
          <span class="badge plain">{t('context')}</span>
        </span>
      ) : (
        <ItemLink item={item} onShow={onShow} />
      ),
  },
  {
    title: t('sharedTo'),
    kind: 'wide',
    cell: ({ access }) => (
      <ul class="plain-list">
        {access.map(({ role, principal }) => (
          <li key={`${role} ${principal}`}>
            {visible(findMessage(`principal.${principal}`) ?? names.get(principal) ?? principal)}: {tellRole(role)}
          </li>
        ))}
      </ul>
    ),
  },
  {
    title: t('actions'),
    kind: 'actions',
    cell: ({ item, isContext }) => (
      <Link
        class="button quiet small"
        label={`${t('changeAccess')}: ${visible(item.name)}`}
        to={
          isContext
            ? `contexts/${part(item.entryId)}/sharing`
            : `contexts/${part(item.context)}/sharing/${part(item.entryId)}`
        }
      >
        {t('changeAccess')}
      </Link>
    ),
  },
]
