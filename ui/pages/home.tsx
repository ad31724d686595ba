import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Name } from '../components/name.tsx'
import { Await, Card, Page } from '../components/page.tsx'
import { QuotaBar } from '../components/quota-bar.tsx'
import { ask } from '../lib/api.ts'
import { part } from '../lib/base.ts'
import { contextTitle, type ListedContext } from '../lib/contexts.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { currentPath, Link } from '../lib/router.tsx'
import { useSession } from '../lib/session.ts'
import type { MessageKey } from '../messages/en.ts'
import { SharedEntries } from './sharing/shared-entries.tsx'

interface Portion {
  readonly contexts: readonly ListedContext[]
  readonly results: number
}

const STEP = 50

type Access = 'write' | 'shared'

const loadContexts = (access: Access, offset: number, signal?: AbortSignal): Promise<Portion> =>
  ask<Portion>(`auth/user/contexts?access=${access}&limit=${STEP}&offset=${offset}`, signal ? { signal } : {})

const tabs = [
  ['', 'myFiles'],
  ['shared', 'sharedWithMe'],
  ['shared-by-me', 'sharedByMe'],
] as const satisfies ReadonlyArray<readonly [string, MessageKey]>

interface FilesHomeProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** The frame of the file pages: the user's own contexts, and those shared with them. */
export function FilesHome({ title, children }: FilesHomeProps) {
  const path = currentPath()
  return (
    <Page title={title}>
      <nav class="tabs" aria-label={t('filesOf')}>
        <ul>
          {tabs.map(([to, name]) => (
            <li key={to}>
              <Link to={to} current={path === to ? 'page' : undefined}>
                {t(name)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {children}
    </Page>
  )
}

/** The contexts that the user can write to. */
export function MyFiles() {
  const { me } = useSession()
  return (
    <FilesHome title={t('myFiles')}>
      <Contexts title={t('contexts')} access="write" none={t(me.isAdmin ? 'contextsNoneAdmin' : 'contextsNone')} />
    </FilesHome>
  )
}

/** Contexts, single files and folders that others have shared with the user. */
export function SharedWithMe() {
  return (
    <FilesHome title={t('sharedWithMe')}>
      <Contexts title={t('contexts')} access="shared" none={t('sharedNone')} />
      <SharedEntries />
    </FilesHome>
  )
}

interface ContextsProps {
  readonly title: string
  readonly access: Access
  readonly none: string
}

function Contexts({ title, access, none }: ContextsProps) {
  const { me } = useSession()
  const [loaded, again] = useLoaded(signal => loadContexts(access, 0, signal), [access])
  const [more, setMore] = useState<readonly ListedContext[]>([])
  return (
    <Card
      title={title}
      aside={
        access === 'write' &&
        me.isAdmin && (
          <Link class="button small" to="admin/contexts?new">
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
            const portion = await loadContexts(access, shown.length)
            setMore([...more, ...portion.contexts])
          }
          return (
            <>
              {shown.length === 0 && <p class="empty">{none}</p>}
              <ul class="items tiles">
                {shown.map(context => (
                  <Tile key={context.contextId} context={context} />
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
  )
}

function Tile({ context }: { readonly context: ListedContext }) {
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
      {quota && <QuotaBar name={title} quota={quota} />}
    </li>
  )
}
