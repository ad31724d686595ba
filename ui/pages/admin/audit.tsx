import { Button } from '../../components/button.tsx'
import { Choice, Field } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { dateTimeSeconds } from '../../lib/format.ts'
import { findMessage, messageKeys, t } from '../../lib/language.ts'
import { save } from '../../lib/save.ts'
import { useLoaded } from '../../lib/load.ts'
import { namesOf } from '../../lib/principals.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { AdminPage } from './admin-page.tsx'

export interface AuditEvent {
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
  /** Names of the acting users, by id. */
  readonly names: ReadonlyMap<string, string>
}

const PAGE = 50

const noFilter = { user: '', event: '', since: '', until: '', from: '0' }
type Filter = typeof noFilter

/** The audit log, the latest events first. */
export function AdminAudit() {
  return (
    <AdminPage title={t('adminAudit')}>
      <Trail />
    </AdminPage>
  )
}

/** Parses the local date and time that a user typed. */
const instant = (local: string): string | undefined => {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

async function loadEvents(
  { user, event, since, until }: Filter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly AuditEvent[]> {
  const filter = { user: user.trim(), event, since: instant(since), until: instant(until) }
  const parameters = new URLSearchParams({ offset: String(offset), limit: String(limit) })
  for (const [key, value] of Object.entries(filter)) if (value) parameters.set(key, value)
  const path = `management/audit?${parameters.toString()}`
  return (await ask<{ readonly events: readonly AuditEvent[] }>(path, signal ? { signal } : {})).events
}

async function loadTrail(filter: Filter, signal: AbortSignal): Promise<Trail> {
  const events = await loadEvents(filter, wholeNumber(filter.from), PAGE + 1, signal)
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
        <div class="buttons">
          <Button kind="quiet" size="small" onPress={() => exportTrail(filter, 'csv')}>
            {t('exportCsv')}
          </Button>
          <Button kind="quiet" size="small" onPress={() => exportTrail(filter, 'jsonl')}>
            {t('exportJson')}
          </Button>
          <Button kind="quiet" size="small" onPress={again}>
            {t('refresh')}
          </Button>
        </div>
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

const EXPORT_STEP = 1000

/** Saves all events that match the filter. */
async function exportTrail(filter: Filter, kind: 'csv' | 'jsonl'): Promise<void> {
  try {
    const events: AuditEvent[] = []
    for (;;) {
      const some = await loadEvents(filter, events.length, EXPORT_STEP)
      events.push(...some)
      if (some.length < EXPORT_STEP) break
    }
    const text = kind === 'csv' ? toCsv(events) : events.map(event => `${JSON.stringify(event)}\n`).join('')
    save(`audit.${kind}`, kind === 'csv' ? 'text/csv' : 'application/jsonl', text)
  } catch (error) {
    tellFailure(error)
  }
}

const csvColumns = ['time', 'event', 'userId', 'userName', 'actorId', 'address'] as const

/** CSV by RFC 4180. A leading quote keeps spreadsheets from running text as a formula. */
function toCsv(events: readonly AuditEvent[]): string {
  const cell = (text = ''): string => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
    return `"${safe.replaceAll('"', '""')}"`
  }
  const rows = events.map(event => [...csvColumns.map(column => event[column]), JSON.stringify(event.detail)])
  return [[...csvColumns, 'detail'], ...rows].map(row => `${row.map(cell).join(',')}\r\n`).join('')
}

const EVENT = 'event.'

interface FiltersProps {
  readonly filter: Filter
  readonly narrow: (part: Partial<Filter>) => void
}

function Filters({ filter, narrow }: FiltersProps) {
  const kinds = messageKeys().flatMap(key => (key.startsWith(EVENT) ? [key.slice(EVENT.length)] : []))
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

export const tellEvent = (event: string): string => findMessage(`event.${event}`) ?? event

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

export function Detail({ detail }: Pick<AuditEvent, 'detail'>) {
  const parts = Object.entries(detail).map(([key, value]) => `${findMessage(`detail.${key}`) ?? key}: ${value}`)
  return parts.length === 0 ? null : <div class="muted small">{parts.join(', ')}</div>
}
