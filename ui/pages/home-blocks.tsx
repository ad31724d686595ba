import type { ComponentChildren } from 'preact'
import { Icon, type IconName, iconOf } from '../components/icon.tsx'
import { Name } from '../components/name.tsx'
import { Card, ProblemNotice } from '../components/page.tsx'
import { part } from '../lib/base.ts'
import { ago } from '../lib/format.ts'
import { loadRecent, loadShared } from '../lib/home.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { Link } from '../lib/router.tsx'
import { useSession } from '../lib/session.ts'
import { visible } from '../lib/text.ts'

interface RowProps {
  readonly icon: IconName
  readonly to: string
  readonly name: string
  readonly children: ComponentChildren
}

const Row = ({ icon, to, name, children }: RowProps) => (
  <li>
    <Icon name={icon} />
    <Link to={to}>
      <Name>{name}</Name>
    </Link>
    <span class="muted small">{children}</span>
  </li>
)

/** What the user worked on last, and what others have shared with them. */
export const HomeBlocks = () => (
  <div class="columns">
    <Continue />
    <SharedWithMeBlock />
  </div>
)

/** The files that the user worked on last. Nothing before there are any. */
function Continue() {
  const { me } = useSession()
  const [loaded, again] = useLoaded(signal => loadRecent(me, signal), [me.id])
  if (loaded.state === 'failed') return <ProblemNotice error={loaded.error} again={again} />
  if (loaded.state === 'loading' || loaded.value.length === 0) return null
  return (
    <Card title={t('continueWork')}>
      <ul class="things">
        {loaded.value.map(({ item: { context, entryId, name, mediaType, modified }, place }) => (
          <Row
            key={`${context}/${entryId}`}
            icon={iconOf(mediaType)}
            to={`contexts/${part(context)}/files?item=${part(entryId)}`}
            name={name}
          >
            {visible(place)}
            {modified && ` · ${ago(modified)}`}
          </Row>
        ))}
      </ul>
    </Card>
  )
}

/** What others have shared with the user, and who. Nothing before there is any. */
function SharedWithMeBlock() {
  const { me } = useSession()
  const [loaded, again] = useLoaded(signal => loadShared(me, signal), [me.id])
  if (loaded.state === 'failed') return <ProblemNotice error={loaded.error} again={again} />
  if (loaded.state === 'loading' || loaded.value.length === 0) return null
  return (
    <Card
      title={t('sharedWithMe')}
      aside={
        <Link class="button quiet small" to="shared" label={`${t('showAll')}: ${t('sharedWithMe')}`}>
          {t('showAll')}
        </Link>
      }
    >
      <ul class="things">
        {loaded.value.map(({ key, name, to, isFolder, mediaType, by }) => (
          <Row key={key} icon={isFolder ? 'folder' : iconOf(mediaType)} to={to} name={name}>
            {by.length > 0 && t('sharedBy', { name: by.map(visible).join(', ') })}
          </Row>
        ))}
      </ul>
    </Card>
  )
}
