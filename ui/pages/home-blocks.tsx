import type { ComponentChildren } from 'preact'
import { Button } from '../components/button.tsx'
import { Icon, type IconName, iconOfItem } from '../components/icon.tsx'
import { Name } from '../components/name.tsx'
import { Card, ProblemNotice } from '../components/page.tsx'
import { tellFailure } from '../components/toast.tsx'
import { part } from '../lib/base.ts'
import { keyOf } from '../lib/everything.ts'
import { loadFavourites, toggleFavourite } from '../lib/favourites.ts'
import { type Item, itemPath } from '../lib/files.ts'
import { ago } from '../lib/format.ts'
import { loadRecent, loadShared, type RecentItem, type SharedThing } from '../lib/home.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { Link } from '../lib/router.tsx'
import { useSession } from '../lib/session.ts'
import { visible } from '../lib/text.ts'

interface RowProps {
  readonly icon: IconName
  readonly to: string
  readonly name: string
  /** A button beside the name. */
  readonly aside?: ComponentChildren
  readonly children?: ComponentChildren
}

const Row = ({ icon, to, name, aside, children }: RowProps) => (
  <li>
    <Icon name={icon} />
    <Link to={to}>
      <Name>{name}</Name>
    </Link>
    {aside}
    {children !== undefined && <span class="muted small">{children}</span>}
  </li>
)

/** What the user has marked, what they worked on last, and what others have shared with them: at once, so that none moves another. */
export function HomeBlocks() {
  const { me } = useSession()
  const load = (signal: AbortSignal) =>
    Promise.all([loadFavourites(me, signal), loadRecent(me, signal), loadShared(me, signal)])
  const [loaded, again] = useLoaded(load, [me.id])
  if (loaded.state === 'failed') return <ProblemNotice error={loaded.error} again={again} />
  if (loaded.state === 'loading') return null
  const [favourites, recent, shared] = loaded.value
  return (
    <>
      {favourites.length > 0 && <FavouritesBlock items={favourites} onChanged={again} />}
      <div class="columns">
        {recent.length > 0 && <Continue items={recent} />}
        {shared.length > 0 && <SharedWithMeBlock things={shared} />}
      </div>
    </>
  )
}

interface FavouritesProps {
  readonly items: readonly Item[]
  readonly onChanged: () => void
}

/** What the user has marked to find it again. */
function FavouritesBlock({ items, onChanged }: FavouritesProps) {
  const { me } = useSession()
  const remove = async (item: Item): Promise<void> => {
    await toggleFavourite(me, item).catch(tellFailure)
    onChanged()
  }
  return (
    <Card title={t('favourites')}>
      <ul class="things">
        {items.map(item => (
          <Row
            key={keyOf(item)}
            icon={iconOfItem(item)}
            to={item.isFolder ? `contexts/${part(item.context)}/files/${part(item.entryId)}` : itemPath(item)}
            name={item.name}
            aside={
              <Button
                kind="quiet"
                size="small"
                label={`${t('favouriteRemove')}: ${visible(item.name)}`}
                onPress={() => remove(item)}
              >
                <Icon name="close" />
              </Button>
            }
          />
        ))}
      </ul>
    </Card>
  )
}

/** The files, links and texts that the user worked on last. */
const Continue = ({ items }: { readonly items: readonly RecentItem[] }) => (
  <Card title={t('continueWork')}>
    <ul class="things">
      {items.map(({ item, place }) => (
        <Row key={keyOf(item)} icon={iconOfItem(item)} to={itemPath(item)} name={item.name}>
          {visible(place)}
          {item.modified && ` · ${ago(item.modified)}`}
        </Row>
      ))}
    </ul>
  </Card>
)

/** What others have shared with the user, and who. */
const SharedWithMeBlock = ({ things }: { readonly things: readonly SharedThing[] }) => (
  <Card
    title={t('sharedWithMe')}
    aside={
      <Link class="button quiet small" to="shared" label={`${t('showAll')}: ${t('sharedWithMe')}`}>
        {t('showAll')}
      </Link>
    }
  >
    <ul class="things">
      {things.map(({ key, name, to, kind, mediaType, by }) => (
        <Row key={key} icon={iconOfItem({ kind, mediaType })} to={to} name={name}>
          {by.length > 0 && t('sharedBy', { name: by.map(visible).join(', ') })}
        </Row>
      ))}
    </ul>
  </Card>
)
