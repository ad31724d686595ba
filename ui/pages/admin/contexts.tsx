import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Choice } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { QuotaBar } from '../../components/quota-bar.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { contextTitle, type WritableContext } from '../../lib/contexts.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadPortion, PAGE } from '../../lib/portions.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { AdminPage } from './admin-page.tsx'
import { NewContext } from './new-context.tsx'

/** All contexts. */
export function AdminContexts() {
  return (
    <AdminPage title={t('adminContexts')}>
      <Contexts />
    </AdminPage>
  )
}

function Contexts() {
  const [{ query, sort, from }, change] = useQuery({ query: '', sort: 'name', from: '0' })
  const [isMaking, setMaking] = useState(false)
  const offset = wholeNumber(from)
  const [loaded, again] = useLoaded(
    signal => loadPortion<'contexts', WritableContext>('contexts', { query, offset, sort }, signal),
    [query, sort, offset],
  )
  return (
    <Card
      title={t('allContexts')}
      aside={
        <Button size="small" onPress={() => setMaking(true)}>
          {t('newContext')}
        </Button>
      }
    >
      <div class="filters">
        <SearchField label={t('searchName')} value={query} onValue={query => change({ query, from: '0' })} />
        <Choice
          label={t('order')}
          value={sort}
          options={[
            ['name', t('orderName')],
            ['fullness', t('orderFullness')],
            ['used', t('orderUsed')],
          ]}
          onValue={sort => change({ sort, from: '0' })}
        />
      </div>
      <Await loaded={loaded} again={again}>
        {({ items, results }) => (
          <>
            {items.length === 0 ? (
              <p class="empty">{t('nothingFound')}</p>
            ) : (
              <Table caption={t('allContexts')} columns={columns()} rows={items} keyOf={({ contextId }) => contextId} />
            )}
            <Pager
              step={PAGE}
              offset={offset}
              shown={items.length}
              results={results}
              onOffset={next => change({ from: String(next) })}
            />
          </>
        )}
      </Await>
      {isMaking && <NewContext onClose={() => setMaking(false)} />}
    </Card>
  )
}

const columns = (): ReadonlyArray<Column<WritableContext>> => [
  { title: t('context'), cell: context => <Name {...context} /> },
  { title: t('quota'), kind: 'wide', cell: context => <Level {...context} /> },
  {
    title: t('actions'),
    kind: 'actions',
    cell: context => (
      <Link
        class="button quiet small"
        to={`contexts/${part(context.contextId)}/files`}
        label={t('files', { name: contextTitle(context) })}
      >
        {t('filesOf')}
      </Link>
    ),
  },
]

function Name(context: WritableContext) {
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

function Level(context: WritableContext) {
  return context.quota ? <QuotaBar name={contextTitle(context)} quota={context.quota} /> : <>–</>
}
