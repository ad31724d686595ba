import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Name } from '../components/name.tsx'
import { Await, Card } from '../components/page.tsx'
import { QuotaBar } from '../components/quota-bar.tsx'
import { part } from '../lib/base.ts'
import { contextTitle, type ListedContext } from '../lib/contexts.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { loadMyContexts, type MyAccess } from '../lib/my-contexts.ts'
import { Link } from '../lib/router.tsx'
import { useSession } from '../lib/session.ts'
import { Files } from './files/lazy.ts'

interface ContextsProps {
  readonly title: string
  readonly access: MyAccess
  /** Said where there are none; without it, there is no card then. */
  readonly none?: ComponentChildren
  /** Shown below the card from the moment that the contexts are there, so that they move nothing. */
  readonly after?: ComponentChildren
  /** What else is said of a context. */
  readonly about?: (id: string) => ComponentChildren
}

/** Contexts that the user has access to, and how full they are. */
export function Contexts({ title, access, none, after, about }: ContextsProps) {
  const { me } = useSession()
  const [loaded, again] = useLoaded(signal => loadMyContexts(access, 0, signal), [access])
  const [more, setMore] = useState<readonly ListedContext[]>([])
  if (none === undefined && loaded.state === 'ready' && loaded.value.contexts.length === 0) return <>{after}</>
  return (
    <>
      <Card
        title={title}
        aside={
          access === 'write' &&
          me.isAdmin && (
            <Link class="button small" to="admin/contexts?create=yes">
              <Icon name="plus" />
              {t('newContext')}
            </Link>
          )
        }
      >
        <Await loaded={loaded} again={again}>
          {({ contexts, results }) => {
            const shown = [...contexts, ...more]
            const showMore = async (): Promise<void> => {
              const portion = await loadMyContexts(access, shown.length)
              setMore([...more, ...portion.contexts])
            }
            return (
              <>
                {shown.length === 0 && <p class="empty">{none}</p>}
                {/* Who is at a space may open it next; the first load stays small. */}
                <ul class="items tiles" onPointerEnter={Files.prefetch} onFocusIn={Files.prefetch}>
                  {shown.map(context => (
                    <Tile key={context.contextId} context={context} about={about?.(context.contextId)} />
                  ))}
                </ul>
                {shown.length < results && (
                  <div class="buttons">
                    <Button kind="quiet" onPress={showMore}>
                      {t('showMore', { count: number(results - shown.length) })}
                    </Button>
                  </div>
                )}
              </>
            )
          }}
        </Await>
      </Card>
      {loaded.state !== 'loading' && after}
    </>
  )
}

function Tile({ context, about }: { readonly context: ListedContext; readonly about: ComponentChildren }) {
  const title = contextTitle(context)
  const { contextId, quota, rights = [] } = context
  const canWrite = rights.includes('administer') || rights.includes('writeresource')
  return (
    <li class="tile">
      <div>
        <Icon name="folder" />
        <Link to={`contexts/${part(contextId)}/files`}>
          <Name>{title}</Name>
        </Link>
        {!canWrite && <span class="badge plain">{t('canRead')}</span>}
      </div>
      {about}
      {quota && <QuotaBar name={title} quota={quota} />}
    </li>
  )
}
