import { Button } from '../../components/button.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { dateTime, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { AdminPage } from './admin-page.tsx'

export interface Lockout {
  readonly id: string
  readonly user: string
  readonly failures: number
  readonly lockedUntil: string
}

/** Users who are locked out after too many wrong passwords. */
export function AdminLockouts() {
  return (
    <AdminPage title={t('adminLockouts')}>
      <Lockouts />
    </AdminPage>
  )
}

function Lockouts() {
  const [loaded, again] = useLoaded(
    signal => ask<{ readonly lockouts: readonly Lockout[] }>('management/lockouts', { signal }),
    [],
  )
  const lift = async (name: string): Promise<void> => {
    const query = new URLSearchParams({ user: name })
    await attempt(
      () => ask(`management/lockouts?${query.toString()}`, { method: 'DELETE' }),
      t('lockoutLifted', { name }),
    )
    again()
  }
  return (
    <Card
      title={t('lockedOutNow')}
      aside={
        <Button kind="quiet" size="small" onPress={again}>
          {t('refresh')}
        </Button>
      }
    >
      <Await loaded={loaded} again={again}>
        {({ lockouts }) => (
          <Table
            none={t('lockoutsNone')}
            caption={t('lockedOutNow')}
            columns={columns(lift)}
            rows={lockouts}
            keyOf={({ id }) => id}
          />
        )}
      </Await>
    </Card>
  )
}

const columns = (lift: (name: string) => Promise<void>): ReadonlyArray<Column<Lockout>> => [
  {
    title: t('userName'),
    cell: ({ id, user }) => (
      <Link class="strong" to={`admin/users/${part(id)}`}>
        {user}
      </Link>
    ),
  },
  { title: t('wrongPasswords'), kind: 'number', cell: ({ failures }) => number(failures) },
  { title: t('lockedUntil'), kind: 'whole', cell: ({ lockedUntil }) => dateTime(new Date(lockedUntil)) },
  {
    title: t('actions'),
    kind: 'actions',
    cell: ({ user }) => (
      <Button size="small" label={t('unlockUser', { name: user })} onPress={() => lift(user)}>
        {t('unlock')}
      </Button>
    ),
  },
]
