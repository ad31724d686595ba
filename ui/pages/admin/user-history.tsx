import { Await, Card } from '../../components/page.tsx'
import { Table } from '../../components/table.tsx'
import { labelsOfEvents, loadEvents } from '../../lib/audit.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { auditColumns } from './audit.tsx'

const LATEST = 25

/** The latest events about a user, or caused by them. */
export function UserHistory({ id }: { readonly id: string }) {
  const load = async (signal: AbortSignal) => {
    const events = await loadEvents({ userId: id }, { offset: 0, limit: LATEST }, signal)
    return { events, labels: await labelsOfEvents(events, signal) }
  }
  const [loaded, again] = useLoaded(load, [id])
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
        {({ events, labels }) => (
          <Table
            none={t('historyNone')}
            caption={t('historyOf')}
            columns={auditColumns(labels)}
            rows={events}
            keyOf={event => JSON.stringify(event)}
          />
        )}
      </Await>
    </Card>
  )
}
