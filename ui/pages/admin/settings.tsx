import { Choice } from '../../components/field.tsx'
import { Markup } from '../../components/markup.tsx'
import { Await, Card } from '../../components/page.tsx'
import { SearchField } from '../../components/search-field.tsx'
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
  /** Heading and meaning in the documents, which are in English. */
  readonly area: string
  readonly meaning: string
}

const loadSettings = async (signal: AbortSignal): Promise<readonly Setting[]> =>
  (await ask<{ readonly settings: readonly Setting[] }>('management/settings', { signal })).settings

/** The settings in effect: those that were changed, and all of them by area. */
export function AdminSettings() {
  return (
    <AdminPage title={t('adminSettings')} lead={t('settingsHint')}>
      <Settings />
    </AdminPage>
  )
}

function Settings() {
  const [{ query, show }, change] = useQuery({ query: '', show: 'all' })
  const [loaded, again] = useLoaded(loadSettings, [])
  const words = query.trim().toLowerCase()
  const matches = ({ key, value, meaning }: Setting): boolean =>
    [key, value, meaning].some(text => text.toLowerCase().includes(words))
  return (
    <>
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
        {settings => <Found settings={settings.filter(matches)} isSearch={words !== ''} hasAll={show === 'all'} />}
      </Await>
    </>
  )
}

interface FoundProps {
  readonly settings: readonly Setting[]
  readonly isSearch: boolean
  readonly hasAll: boolean
}

function Found({ settings, isSearch, hasAll }: FoundProps) {
  const changed = settings.filter(({ origin }) => origin !== 'default')
  const areas = hasAll ? [...new Set(settings.map(({ area }) => area))] : []
  if (changed.length === 0 && areas.length === 0)
    return <p class="empty">{t(isSearch ? 'nothingFound' : 'settingsNone')}</p>
  return (
    <>
      {changed.length > 0 && (
        <Card title={t('settingsDiffering')}>
          <List settings={changed} />
        </Card>
      )}
      {areas.map(area => {
        const inArea = settings.filter(setting => setting.area === area)
        return (
          <details key={area} class="card area" open={isSearch}>
            <summary>
              <span lang="en">{area}</span> <span class="muted small">{inArea.length}</span>
            </summary>
            <List settings={inArea} />
          </details>
        )
      })}
    </>
  )
}

const List = ({ settings }: { readonly settings: readonly Setting[] }) => (
  <dl class="settings">
    {settings.map(({ key, value, isSet, origin, meaning }) => (
      <div key={key}>
        <dt>
          <code class="long">{key}</code>
        </dt>
        <dd>
          {isSet ? <code class="long value">{visible(value)}</code> : <span class="muted">{t('notSet')}</span>}{' '}
          <span class={origin === 'default' ? 'badge plain' : 'badge'}>
            {findMessage(`origin.${origin}`) ?? origin}
          </span>
        </dd>
        <dd class="muted small" lang="en">
          <Markup>{meaning}</Markup>
        </dd>
      </div>
    ))}
  </dl>
)
