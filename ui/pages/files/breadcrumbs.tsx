import type { ComponentChildren } from 'preact'
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
  /** The heading of the page, which is the last part of the path. */
  readonly heading: ComponentChildren
  readonly onMoved: () => void
}

/** Links from the home page down to a folder. Files can be dropped on them. */
export function Breadcrumbs({ context, folders, heading, onMoved }: BreadcrumbsProps) {
  const { me } = useSession()
  const { contextId, canWrite } = context
  const root = `contexts/${part(contextId)}/files`
  const place = { context: contextId, contextUri: me.baseUri + contextId }
  // A folder may be shared by itself, in a context that has no name for the person.
  const isOpen = context.rights === undefined || context.rights.length > 0
  const above = [...(isOpen ? [{ id: undefined, name: contextTitle(context) }] : []), ...folders].slice(0, -1)
  return (
    <nav class="crumbs" aria-label={t('breadcrumbs')}>
      <ol>
        <li>
          <Link to={canWrite ? '' : 'shared'}>{t(canWrite ? 'myFiles' : 'sharedWithMe')}</Link>
        </li>
        {above.map(({ id, name }) => (
          <li key={id} {...dropTarget({ ...place, folder: id }, onMoved)}>
            <Link to={id === undefined ? root : `${root}/${part(id)}`}>
              <Name>{name}</Name>
            </Link>
          </li>
        ))}
        <li aria-current="page">{heading}</li>
      </ol>
    </nav>
  )
}
