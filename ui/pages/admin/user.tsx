import { Await } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Together } from '../../components/together.tsx'
import { ask } from '../../lib/api.ts'
import { loadEvents } from '../../lib/audit.ts'
import { part } from '../../lib/base.ts'
import { ago } from '../../lib/format.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { profileIn } from '../../lib/profile.ts'
import { useQuery } from '../../lib/query.ts'
import { hasQuotas } from '../../lib/quotas.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import type { MessageKey } from '../../messages/en.ts'
import { AccessTokens } from '../access-tokens.tsx'
import { SecondFactorsOf } from '../account-factors.tsx'
import { ProfileCard } from '../profile-card.tsx'
import { AdminPage, ForAdmins } from './admin-page.tsx'
import { MailNotice } from './mail-notice.tsx'
import { OwnerQuotaCard } from './owner-quota.tsx'
import { RenamePrincipal } from './principal.tsx'
import { UserActions } from './user-actions.tsx'
import { UserContexts } from './user-contexts.tsx'
import { UserFacts } from './user-facts.tsx'
import { UserGroups } from './user-groups.tsx'
import { UserHistory } from './user-history.tsx'
import { UserLogins } from './user-logins.tsx'
import { ResetPassword } from './user-password.tsx'
import { UserSpace } from './user-space.tsx'
import { UserState } from './users.tsx'

/** A user as the service describes them. */
export interface UserResource {
  readonly name?: string
  readonly homecontext?: string
  readonly language?: string
  readonly disabled?: true
  readonly disabledUntil?: string
  /** The user must choose a new password at the next sign-in. */
  readonly temporaryPassword?: true
}

interface Shown extends UserResource {
  readonly fullName: string
  readonly email: string
  readonly lastSignIn: string | undefined
}

async function loadUser(id: string, signal: AbortSignal): Promise<Shown> {
  const [user, metadata, [lastSignIn]] = await Promise.all([
    ask<UserResource>(`_principals/resource/${part(id)}`, { signal }),
    ask<Graph>(`_principals/metadata/${part(id)}`, { signal }),
    loadEvents({ userId: id, event: 'login' }, { offset: 0, limit: 1 }, signal),
  ])
  return { ...user, ...profileIn(metadata), lastSignIn: lastSignIn?.time }
}

/** One user. */
export function AdminUser({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const id = parts['user'] ?? ''
  return (
    <ForAdmins title={t('adminUsers')}>
      <UserOf id={id} />
    </ForAdmins>
  )
}

const tabs = [
  ['profile', 'tabProfile'],
  ['access', 'tabAccess'],
  ['sign-in', 'tabSignIn'],
  ['activity', 'tabActivity'],
] as const satisfies ReadonlyArray<readonly [string, MessageKey]>

function UserOf({ id }: { readonly id: string }) {
  const [{ tab }] = useQuery({ tab: 'profile' })
  const [loaded, again] = useLoaded(signal => loadUser(id, signal), [id])
  const user = loaded.state === 'ready' ? loaded.value : undefined
  const title = user?.fullName || user?.name || id
  return (
    <AdminPage
      title={visible(title)}
      within={{ to: 'admin/users', name: t('adminUsers') }}
      lead={user && <Head id={id} user={user} title={title} again={again} />}
    >
      <Await loaded={loaded} again={again}>
        {user => (
          <>
            <Tabs
              label={visible(title)}
              path={`admin/users/${part(id)}`}
              tabs={tabs.map(([key, name]) => [key, t(name)])}
              current={tab}
            />
            {user.name !== undefined && <MailNotice id={id} name={user.name} />}
            <Together key={tab}>
              <TabOf tab={tab} id={id} user={user} again={again} />
            </Together>
          </>
        )}
      </Await>
    </AdminPage>
  )
}

interface PartProps {
  readonly id: string
  readonly user: Shown
  readonly again: () => void
}

function Head({ id, user, title, again }: PartProps & { readonly title: string }) {
  const { name = t('withoutName'), email, disabled = false, disabledUntil, lastSignIn } = user
  const names = [name, email].filter((text, at, all) => text !== '' && text !== title && all.indexOf(text) === at)
  return (
    <div class="head">
      <div>
        <UserState disabled={disabled} lockedUntil={disabledUntil} />
        {names.map(text => (
          <span key={text}>{visible(text)}</span>
        ))}
        <span>
          {lastSignIn === undefined ? t('neverSignedIn') : t('lastSignedIn', { time: ago(new Date(lastSignIn)) })}
        </span>
      </div>
      <UserActions id={id} user={user} again={again} />
    </div>
  )
}

function TabOf({ tab, id, user, again }: PartProps & { readonly tab: string }) {
  const { me } = useSession()
  const { name = id } = user
  const isSystem = id.startsWith('_')
  if (tab === 'activity') return <UserHistory id={id} />
  if (tab === 'access') {
    return (
      <>
        <UserGroups id={id} />
        <UserSpace id={id} name={user.fullName || name} space={user.homecontext} again={again} />
        <UserContexts id={id} />
        {hasQuotas && (
          <OwnerQuotaCard title={t('quota')} name={user.fullName || name} path={`quota/users/${part(id)}`} hasDefault />
        )}
      </>
    )
  }
  if (tab === 'sign-in') {
    if (id === me.id) return <p class="notice">{t('thatIsYou')}</p>
    return (
      <>
        <ResetPassword id={id} again={again} />
        <UserLogins name={name} round={user} />
        <SecondFactorsOf user={name} />
        <AccessTokens user={name} />
      </>
    )
  }
  return (
    <div class="columns">
      {!isSystem && <ProfileCard id={id} onSaved={again} />}
      <UserFacts id={id} user={user} />
      {!isSystem && <RenamePrincipal id={id} name={name} again={again} />}
    </div>
  )
}
