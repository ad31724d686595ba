import { QuotaBar } from '../../components/quota-bar.tsx'
import type { Column } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { ago } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import type { User } from '../../lib/portions.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { AdminPage } from './admin-page.tsx'
import { Directory } from './directory.tsx'
import { NewUserDialog } from './new-user.tsx'

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
        Maker={NewUserDialog}
      />
    </AdminPage>
  )
}

const columns = (): ReadonlyArray<Column<User>> => [
  { title: t('userName'), kind: 'wide', cell: user => <Who {...user} /> },
  { title: t('state'), cell: user => <UserState {...user} /> },
  {
    title: t('lastSignIn'),
    kind: 'whole',
    cell: ({ lastSignIn }) => (lastSignIn === undefined ? t('never') : ago(new Date(lastSignIn))),
  },
  {
    title: t('homeContext'),
    cell: ({ name, id, quota }) => (quota ? <QuotaBar name={visible(name ?? id)} quota={quota} /> : '–'),
  },
]

function Who({ id, name, fullName, email }: User) {
  const shown = fullName ?? name ?? t('withoutName')
  const others = [name, email].filter(
    (text, index, all) => text !== undefined && text !== shown.toLowerCase() && all.indexOf(text) === index,
  )
  return (
    <div>
      <Link class="strong" to={`admin/users/${part(id)}`}>
        {visible(shown)}
      </Link>
      {others.length > 0 && <div class="muted small">{others.map(text => visible(text ?? '')).join(' · ')}</div>}
    </div>
  )
}

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
