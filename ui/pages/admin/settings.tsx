import { Choice } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { ask } from '../../lib/api.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useQuery } from '../../lib/query.ts'
import { visible } from '../../lib/text.ts'
import { AdminPage } from './admin-page.tsx'

interface Setting {
  readonly key: string
  readonly value: string
  readonly isSet: boolean
  readonly origin: string
}

const loadSettings = async (signal: AbortSignal): Promise<readonly Setting[]> =>
  (await ask<{ readonly settings: readonly Setting[] }>('management/settings', { signal })).settings

/** The settings in effect. */
export function AdminSettings() {
  return (
    <AdminPage title={t('adminSettings')}>
      <Settings />
    </AdminPage>
  )
}

function Settings() {
  const [{ query, show }, change] = useQuery({ query: '', show: 'all' })
  const [loaded, again] = useLoaded(loadSettings, [])
  const words = query.trim().toLowerCase()
  return (
    <Card title={t('settingsInEffect')}>
      <p class="muted">{t('settingsHint')}</p>
      <div class="filters">
        <SearchField label={t('settingsSearch')} value={query} onValue={query => change({ query })} />
        <Choice
          label={t('settingsShow')}
          value={show}
          options={[
            ['all', t('settingsAll')],
            ['changed', t('settingsChanged')],
          ]}
          onValue={show => change({ show })}
        />
      </div>
      <Await loaded={loaded} again={again}>
        {settings => {
          const shown = settings
            .filter(({ origin }) => show !== 'changed' || origin !== 'default')
            .filter(({ key, value }) => `${key}=${value}`.toLowerCase().includes(words))
          if (shown.length === 0) return <p class="empty">{t(words === '' ? 'settingsNone' : 'nothingFound')}</p>
          return <Table caption={t('settingsInEffect')} columns={columns()} rows={shown} keyOf={({ key }) => key} />
        }}
      </Await>
    </Card>
  )
}

const columns = (): ReadonlyArray<Column<Setting>> => [
  { title: t('setting'), cell: ({ key }) => <code class="long">{key}</code> },
  {
    title: t('value'),
    kind: 'wide',
    cell: ({ value, isSet }) =>
      isSet ? <code class="long">{visible(value)}</code> : <span class="muted">{t('notSet')}</span>,
  },
  { title: t('origin'), cell: ({ origin }) => findMessage(`origin.${origin}`) ?? origin },
]
