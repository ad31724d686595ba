import { QuotaBar } from '../../components/quota-bar.tsx'
import type { Column } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { contextTitle, type ListedContext } from '../../lib/contexts.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { Link } from '../../lib/router.tsx'
import { AdminPage } from './admin-page.tsx'
import { Directory } from './directory.tsx'
import { NewContext } from './new-context.tsx'

/** All contexts. */
export function AdminContexts() {
  return (
    <AdminPage title={t('adminContexts')}>
      <Directory
        title={t('allContexts')}
        kind="contexts"
        columns={columns()}
        keyOf={({ contextId }) => contextId}
        orders={[
          ['name', t('orderName')],
          ['fullness', t('orderFullness')],
          ['used', t('orderUsed')],
        ]}
        make={t('newContext')}
        Maker={NewContext}
      />
    </AdminPage>
  )
}

const columns = (): ReadonlyArray<Column<ListedContext>> => [
  { title: t('context'), cell: context => <Name {...context} /> },
  { title: t('quota'), kind: 'wide', cell: context => <Level {...context} /> },
  {
    title: t('actions'),
    kind: 'actions',
    cell: context => (
      <Link
        class="button quiet small"
        to={`contexts/${part(context.contextId)}/files`}
        label={t('toFiles', { name: contextTitle(context) })}
      >
        {t('filesOf')}
      </Link>
    ),
  },
]

function Name(context: ListedContext) {
  const { contextId, name } = context
  const title = contextTitle(context)
  const others = [name, contextId].filter(text => text !== undefined && text !== title)
  return (
    <div>
      <Link class="strong" to={`admin/contexts/${part(contextId)}`}>
        {title}
      </Link>
      {others.length > 0 && <div class="muted small">{others.join(' · ')}</div>}
    </div>
  )
}

function Level(context: ListedContext) {
  const { quota, files } = context
  if (!quota) return <>–</>
  return (
    <>
      <QuotaBar name={contextTitle(context)} quota={quota} />
      {files !== undefined && <p class="muted small">{t('countFiles', { count: number(files) })}</p>}
    </>
  )
}
