import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadPortion, PAGE, type User } from '../../lib/portions.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'
import { Link } from '../../lib/router.tsx'
import { AdminPage } from './admin-page.tsx'
import { NewUser } from './new-user.tsx'

/** All users. */
export function AdminUsers() {
  return (
    <AdminPage title={t('adminUsers')}>
      <Users />
    </AdminPage>
  )
}

function Users() {
  const [{ query, from }, change] = useQuery({ query: '', from: '0' })
  const [isMaking, setMaking] = useState(false)
  const offset = wholeNumber(from)
  const [loaded, again] = useLoaded(
    signal => loadPortion<'users', User>('users', { query, offset }, signal),
    [query, offset],
  )
  return (
    <Card
      title={t('allUsers')}
      aside={
        <Button size="small" onPress={() => setMaking(true)}>
          {t('newUser')}
        </Button>
      }
    >
      <SearchField label={t('searchName')} value={query} onValue={query => change({ query, from: '0' })} />
      <Await loaded={loaded} again={again}>
        {({ items, results }) => (
          <>
            {items.length === 0 ? (
              <p class="empty">{t('nothingFound')}</p>
            ) : (
              <Table caption={t('allUsers')} columns={columns()} rows={items} keyOf={({ id }) => id} />
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
      {isMaking && <NewUser onClose={() => setMaking(false)} />}
    </Card>
  )
}

const columns = (): ReadonlyArray<Column<User>> => [
  {
    title: t('userName'),
    cell: ({ id, name }) => (
      <Link class="strong" to={`admin/users/${part(id)}`}>
        {name ?? t('withoutName')}
      </Link>
    ),
  },
  { title: t('userId'), cell: ({ id }) => <code>{id}</code> },
  { title: t('state'), cell: user => <UserState {...user} /> },
]

interface State {
  readonly disabled: boolean
  readonly lockedUntil?: string | undefined
  readonly hasPassword?: boolean
}

/** What keeps somebody from signing in. */
export function UserState({ disabled, lockedUntil, hasPassword }: State) {
  return (
    <span class="badges">
      {disabled && <span class="badge bad">{t('disabled')}</span>}
      {lockedUntil !== undefined && <span class="badge warn">{t('lockedOut')}</span>}
      {hasPassword === false && <span class="badge plain">{t('withoutPassword')}</span>}
      {!disabled && lockedUntil === undefined && hasPassword !== false && <span class="badge">{t('active')}</span>}
    </span>
  )
}
