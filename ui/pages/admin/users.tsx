import type { Column } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { t } from '../../lib/language.ts'
import type { User } from '../../lib/portions.ts'
import { Link } from '../../lib/router.tsx'
import { AdminPage } from './admin-page.tsx'
import { Directory } from './directory.tsx'
import { NewUser } from './new-user.tsx'

/** All users. */
export function AdminUsers() {
  return (
    <AdminPage title={t('adminUsers')}>
      <Directory
        title={t('allUsers')}
        kind="users"
        columns={columns()}
        keyOf={({ id }) => id}
        make={t('newUser')}
        Maker={NewUser}
      />
    </AdminPage>
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

/** Why a user cannot sign in: disabled or locked out. */
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
