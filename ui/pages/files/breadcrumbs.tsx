import { Name } from '../../components/name.tsx'
import { part } from '../../lib/base.ts'
import { type Context, contextTitle } from '../../lib/contexts.ts'
import { t } from '../../lib/language.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { dropTarget } from './moving.ts'

export interface Crumb {
  readonly id: string
  readonly name: string
}

interface BreadcrumbsProps {
  readonly context: Context
  readonly folders: readonly Crumb[]
  readonly onMoved: () => void
}

/** Links from the home page down to a folder. Files can be dropped on them. */
export function Breadcrumbs({ context, folders, onMoved }: BreadcrumbsProps) {
  const { me } = useSession()
  const { contextId } = context
  const root = `contexts/${part(contextId)}/files`
  const place = { context: contextId, contextUri: me.baseUri + contextId }
  const inside = folders.at(-1)?.id
  return (
    <nav class="crumbs" aria-label={t('breadcrumbs')}>
      <ol>
        <li>
          <Link to="">{t('myFiles')}</Link>
        </li>
        <li {...(inside === undefined ? {} : dropTarget({ ...place, folder: undefined }, onMoved))}>
          <Link to={root} current={folders.length === 0 ? 'page' : undefined}>
            <Name>{contextTitle(context)}</Name>
          </Link>
        </li>
        {folders.map(({ id, name }) => (
          <li key={id} {...(id === inside ? {} : dropTarget({ ...place, folder: id }, onMoved))}>
            <Link to={`${root}/${part(id)}`} current={id === inside ? 'page' : undefined}>
              <Name>{name}</Name>
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}
