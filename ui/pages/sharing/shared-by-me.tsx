import { useState } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { type Item, itemPath, WINDOW } from '../../lib/files.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { accessNames, namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { loadSharedByMe, type SharedItem } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'
import { FilesHome } from '../files-home.tsx'
import { tellRole } from './access-rows.tsx'
import { Links } from './my-links.tsx'
import { ItemLink, useItemPanel } from './shared-entries.tsx'

/** Items that the user shares with others, and with whom. */
export function SharedByMe() {
  const { me } = useSession()
  const [offset, setOffset] = useState(0)
  const load = async (signal: AbortSignal) => {
    const { items, ...page } = await loadSharedByMe(me, offset, signal)
    const names = await namesOf(items.flatMap(principalsOf), signal)
    // Whoever administers an item may read the names of those with access to it, even if they are hidden elsewhere.
    const unnamed = items.filter(one => one.item.isOwner && !principalsOf(one).every(id => names.has(id)))
    const others = await Promise.all(unnamed.map(({ item }) => accessNames(item.context, item.entryId, signal)))
    return { ...page, items, names: new Map([names, ...others].flatMap(some => [...some])) }
  }
  const [loaded, again] = useLoaded(load, [me.id, offset])
  const { panel, open } = useItemPanel(again)
  return (
    <FilesHome title={t('sharedByMe')}>
      <Card title={t('sharedByMe')}>
        <Await loaded={loaded} again={again}>
          {({ items, shown, results, names }) => (
            <>
              <Table
                none={t('sharedByMeNone')}
                caption={t('sharedByMe')}
                columns={columns(names, open)}
                rows={items}
                keyOf={({ item: { context, entryId } }) => `${context}/${entryId}`}
              />
              {results > WINDOW && (
                <Pager step={WINDOW} offset={offset} shown={shown} results={results} onOffset={setOffset} />
              )}
            </>
          )}
        </Await>
        {panel}
      </Card>
      {/* After the list above, which would move it. */}
      {loaded.state !== 'loading' && <Links title={t('myPublicLinks')} isAll={false} />}
    </FilesHome>
  )
}

const principalsOf = ({ access }: SharedItem): string[] => access.map(({ principal }) => principal)

const columns = (
  names: ReadonlyMap<string, string>,
  onShow: (item: Item, tab?: string) => void,
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
        to={isContext ? `contexts/${part(item.entryId)}/sharing` : itemPath(item, 'access')}
        {...(isContext ? {} : { onFollow: () => onShow(item, 'access') })}
      >
        {t('changeAccess')}
      </Link>
    ),
  },
]
