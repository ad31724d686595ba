import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Choice, Field } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { type AuditEvent, type AuditFilter, labelsOfEvents, loadEvents } from '../../lib/audit.ts'
import { dateTimeSeconds } from '../../lib/format.ts'
import { findMessage, messageKeys, t } from '../../lib/language.ts'
import { save } from '../../lib/save.ts'
import { useLoaded } from '../../lib/load.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'
import { AdminPage } from './admin-page.tsx'
import { AuditSentence } from './audit-sentence.tsx'

interface Trail {
  readonly events: readonly AuditEvent[]
  readonly hasMore: boolean
  readonly labels: ReadonlyMap<string, string>
}

const PAGE = 50

const noFilter = { user: '', item: '', place: '', event: '', since: '', until: '', from: '0' }
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

/** The rows show users as `Anna Andersson (anna)`. */
const userIn = (shown: string): string => /\(([^()]+)\)$/.exec(shown)?.[1] ?? shown

const wanted = ({ user, item, place, event, since, until }: Filter): AuditFilter => ({
  user: userIn(user.trim()),
  item: item.trim(),
  place: place.trim(),
  event,
  since: instant(since),
  until: instant(until),
})

async function loadTrail(filter: Filter, signal: AbortSignal): Promise<Trail> {
  const events = await loadEvents(wanted(filter), { offset: wholeNumber(filter.from), limit: PAGE + 1 }, signal)
  const shown = events.slice(0, PAGE)
  return { events: shown, hasMore: events.length > PAGE, labels: await labelsOfEvents(shown, signal) }
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
        {({ events, hasMore, labels }) => (
          <>
            <Table
              none={t('nothingFound')}
              caption={t('events')}
              columns={auditColumns(labels)}
              rows={events}
              keyOf={event => JSON.stringify(event)}
            />
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
      const some = await loadEvents(wanted(filter), { offset: events.length, limit: EXPORT_STEP })
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
    <FilterBox isUsed={Object.entries(filter).some(([part, value]) => part !== 'from' && value !== '')}>
      <SearchField label={t('person')} value={filter.user} onValue={user => narrow({ user })} />
      <SearchField label={t('eventItem')} value={filter.item} onValue={item => narrow({ item })} />
      <SearchField label={t('eventPlace')} value={filter.place} onValue={place => narrow({ place })} />
      <Choice
        label={t('eventKind')}
        value={filter.event}
        options={[['', t('allKinds')], ...options]}
        onValue={event => narrow({ event })}
      />
      <Field label={t('since')} type="datetime-local" value={filter.since} onValue={since => narrow({ since })} />
      <Field label={t('until')} type="datetime-local" value={filter.until} onValue={until => narrow({ until })} />
    </FilterBox>
  )
}

/** On a phone the fields are closed at first, as they would hide the events. */
function FilterBox({ isUsed, children }: { readonly isUsed: boolean; readonly children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(() => isUsed || !matchMedia('(max-width: 44rem)').matches)
  return (
    <details class="filter-box" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('filterEvents')}</summary>
      <div class="filters">{children}</div>
    </details>
  )
}

const tellEvent = (event: string): string => findMessage(`event.${event}`) ?? event

export const auditColumns = (labels: ReadonlyMap<string, string>): ReadonlyArray<Column<AuditEvent>> => [
  { title: t('event'), kind: 'wide', cell: event => <AuditSentence event={event} labels={labels} /> },
  { title: t('time'), kind: 'whole', cell: ({ time }) => <span class="time">{dateTimeSeconds(new Date(time))}</span> },
  { title: t('address'), kind: 'whole', cell: ({ address = '–' }) => address },
]
