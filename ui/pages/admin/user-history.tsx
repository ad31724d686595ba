import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { ask } from '../../lib/api.ts'
import { dateTimeSeconds } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { type AuditEvent, Detail, tellEvent } from './audit.tsx'

const LATEST = 10

/** The latest events about a user. @param round a new value loads them again */
export function UserHistory({ id, round }: { readonly id: string; readonly round: unknown }) {
  const query = new URLSearchParams({ userId: id, limit: String(LATEST) }).toString()
  const [loaded, again] = useLoaded(
    signal => ask<{ readonly events: readonly AuditEvent[] }>(`management/audit?${query}`, { signal }),
    [query, round],
  )
  return (
    <Card
      title={t('historyOf')}
      aside={
        <Link class="button quiet small" to={`admin/audit?${new URLSearchParams({ user: id }).toString()}`}>
          {t('whatHappened')}
        </Link>
      }
    >
      <Await loaded={loaded} again={again}>
        {({ events }) =>
          events.length === 0 ? (
            <p class="empty">{t('historyNone')}</p>
          ) : (
            <Table caption={t('historyOf')} columns={columns()} rows={events} keyOf={event => JSON.stringify(event)} />
          )
        }
      </Await>
    </Card>
  )
}

const columns = (): ReadonlyArray<Column<AuditEvent>> => [
  { title: t('time'), cell: ({ time }) => <span class="time">{dateTimeSeconds(new Date(time))}</span> },
  {
    title: t('event'),
    kind: 'wide',
    cell: ({ event, detail }) => (
      <div>
        <strong>{tellEvent(event)}</strong>
        <Detail detail={detail} />
      </div>
    ),
  },
  { title: t('address'), cell: ({ address = '–' }) => address },
]
