import { Button } from '../../components/button.tsx'
import { Choice, Field } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { dateTimeSeconds } from '../../lib/format.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { namesOf } from '../../lib/principals.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { audit as events } from '../../messages/en/audit.ts'
import { AdminPage } from './admin-page.tsx'

interface AuditEvent {
  readonly time: string
  readonly event: string
  readonly userId?: string
  readonly userName?: string
  readonly actorId?: string
  readonly address?: string
  readonly detail: Readonly<Record<string, string | number>>
}

interface Trail {
  readonly events: readonly AuditEvent[]
  readonly hasMore: boolean
  /** Names by id of those who did something. */
  readonly names: ReadonlyMap<string, string>
}

const PAGE = 50

const noFilter = { user: '', event: '', since: '', until: '', from: '0' }
type Filter = typeof noFilter

/** What has happened, the latest first. */
export function AdminAudit() {
  return (
    <AdminPage title={t('adminAudit')}>
      <Trail />
    </AdminPage>
  )
}

/** What a person typed as local date and time. */
const instant = (local: string): string | undefined => {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

async function loadTrail({ user, event, since, until, from }: Filter, signal: AbortSignal): Promise<Trail> {
  const filter = { user: user.trim(), event, since: instant(since), until: instant(until) }
  const parameters = new URLSearchParams({ offset: String(wholeNumber(from)), limit: String(PAGE + 1) })
  for (const [key, value] of Object.entries(filter)) if (value) parameters.set(key, value)
  const path = `management/audit?${parameters.toString()}`
  const { events } = await ask<{ readonly events: readonly AuditEvent[] }>(path, { signal })
  const shown = events.slice(0, PAGE)
  const names = await namesOf(
    shown.flatMap(({ actorId }) => actorId ?? []),
    signal,
  )
  return { events: shown, hasMore: events.length > PAGE, names }
}

function Trail() {
  const [filter, change] = useQuery(noFilter)
  const [loaded, again] = useLoaded(signal => loadTrail(filter, signal), Object.values(filter))
  const narrow = (part: Partial<Filter>): void => change({ ...part, from: '0' })
  return (
    <Card
      title={t('events')}
      aside={
        <Button kind="quiet" size="small" onPress={again}>
          {t('refresh')}
        </Button>
      }
    >
      <Filters filter={filter} narrow={narrow} />
      <Await loaded={loaded} again={again}>
        {({ events, hasMore, names }) => (
          <>
            {events.length === 0 ? (
              <p class="empty">{t('nothingFound')}</p>
            ) : (
              <Table
                caption={t('events')}
                columns={columns(names)}
                rows={events}
                keyOf={event => JSON.stringify(event)}
              />
            )}
            <Pager
              step={PAGE}
              offset={wholeNumber(filter.from)}
              shown={events.length}
              hasMore={hasMore}
              onOffset={from => change({ from: String(from) })}
            />
          </>
        )}
      </Await>
    </Card>
  )
}

const kinds = Object.keys(events)
  .filter(key => key.startsWith('event.'))
  .map(key => key.slice('event.'.length))

interface FiltersProps {
  readonly filter: Filter
  readonly narrow: (part: Partial<Filter>) => void
}

function Filters({ filter, narrow }: FiltersProps) {
  const options = kinds.map(kind => [kind, tellEvent(kind)] as const).sort(([, a], [, b]) => a.localeCompare(b))
  return (
    <div class="filters">
      <SearchField label={t('aboutUser')} value={filter.user} onValue={user => narrow({ user })} />
      <Choice
        label={t('eventKind')}
        value={filter.event}
        options={[['', t('allKinds')], ...options]}
        onValue={event => narrow({ event })}
      />
      <Field label={t('since')} type="datetime-local" value={filter.since} onValue={since => narrow({ since })} />
      <Field label={t('until')} type="datetime-local" value={filter.until} onValue={until => narrow({ until })} />
    </div>
  )
}

const tellEvent = (event: string): string => findMessage(`event.${event}`) ?? event

const columns = (names: ReadonlyMap<string, string>): ReadonlyArray<Column<AuditEvent>> => [
  { title: t('time'), cell: ({ time }) => <span class="time">{dateTimeSeconds(new Date(time))}</span> },
  {
    title: t('event'),
    cell: ({ event, detail }) => (
      <div>
        <strong>{tellEvent(event)}</strong>
        <Detail detail={detail} />
      </div>
    ),
  },
  {
    title: t('about'),
    cell: ({ userId, userName }) =>
      userId === undefined ? (userName ?? '–') : <Link to={`admin/users/${part(userId)}`}>{userName ?? userId}</Link>,
  },
  { title: t('by'), cell: ({ actorId }) => (actorId === undefined ? '–' : (names.get(actorId) ?? actorId)) },
  { title: t('address'), cell: ({ address = '–' }) => address },
]

function Detail({ detail }: Pick<AuditEvent, 'detail'>) {
  const parts = Object.entries(detail).map(([key, value]) => `${findMessage(`detail.${key}`) ?? key}: ${value}`)
  return parts.length === 0 ? null : <div class="muted small">{parts.join(', ')}</div>
}
