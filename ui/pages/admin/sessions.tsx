import { Button } from '../../components/button.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt } from '../../components/toast.tsx'
import { part } from '../../lib/base.ts'
import { deviceOf } from '../../lib/device.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { endLogins, loadAllLogins, type LoginOfUser } from '../../lib/logins.ts'
import { PAGE } from '../../lib/portions.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { loginColumns } from '../login-columns.tsx'
import { AdminPage } from './admin-page.tsx'

/** The sessions of all users. */
export function AdminSessions() {
  return (
    <AdminPage title={t('adminSessions')}>
      <Sessions />
    </AdminPage>
  )
}

function Sessions() {
  const [{ query, from }, change] = useQuery({ query: '', from: '0' })
  const offset = wholeNumber(from)
  const [loaded, again] = useLoaded(signal => loadAllLogins({ query, offset, limit: PAGE }, signal), [query, offset])
  const end = async (login: LoginOfUser): Promise<void> => {
    await attempt(() => endLogins([login]), t('ended'))
    again()
  }
  return (
    <Card
      title={t('sessionsOfAll')}
      aside={
        <Button kind="quiet" size="small" onPress={again}>
          {t('refresh')}
        </Button>
      }
    >
      <div class="filters">
        <SearchField label={t('searchSessions')} value={query} onValue={query => change({ query, from: '0' })} />
      </div>
      <Await loaded={loaded} again={again}>
        {({ logins, results }) => (
          <>
            <Table
              none={t('nothingFound')}
              caption={t('sessionsOfAll')}
              columns={columns(end)}
              rows={logins}
              keyOf={({ token }) => token}
            />
            <Pager
              step={PAGE}
              offset={offset}
              shown={logins.length}
              results={results}
              onOffset={from => change({ from: String(from) })}
            />
          </>
        )}
      </Await>
    </Card>
  )
}

const columns = (end: (login: LoginOfUser) => Promise<void>): ReadonlyArray<Column<LoginOfUser>> => [
  {
    title: t('userName'),
    cell: ({ userName, userId }) => (
      <Link class="strong" to={`admin/users/${part(userId)}`}>
        {visible(userName)}
      </Link>
    ),
  },
  ...loginColumns(),
  {
    title: t('endLogin'),
    kind: 'actions',
    cell: login => (
      <Button
        kind="quiet"
        size="small"
        label={`${t('endLogin')}: ${visible(login.userName)}, ${deviceOf(login.userAgent)}`}
        onPress={() => end(login)}
      >
        {t('endLogin')}
      </Button>
    ),
  },
]
