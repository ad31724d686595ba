import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Fact } from '../../components/fact.tsx'
import { Await, Card } from '../../components/page.tsx'
import { attempt } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { dateTime, utc } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { AccessTokens } from '../access-tokens.tsx'
import { SecondFactorsOf } from '../account-factors.tsx'
import { AdminPage, ForAdmins } from './admin-page.tsx'
import { DeletePrincipal, RenamePrincipal } from './principal.tsx'
import { ProfileCard } from '../profile-card.tsx'
import { UserContexts } from './user-contexts.tsx'
import { UserGroups } from './user-groups.tsx'
import { UserHistory } from './user-history.tsx'
import { ResetPassword } from './user-password.tsx'
import { UserLogins } from './user-logins.tsx'
import { UserState } from './users.tsx'

export interface UserResource {
  readonly name?: string
  readonly homecontext?: string
  readonly language?: string
  readonly disabled?: true
  readonly disabledUntil?: string
  /** The user must choose a new password at the next sign-in. */
  readonly temporaryPassword?: true
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

function UserOf({ id }: { readonly id: string }) {
  const { me } = useSession()
  const [loaded, again] = useLoaded(signal => ask<UserResource>(`_principals/resource/${part(id)}`, { signal }), [id])
  const name = loaded.state === 'ready' ? (loaded.value.name ?? id) : id
  return (
    <AdminPage title={name}>
      <Await loaded={loaded} again={again}>
        {user => (
          <>
            <div class="columns">
              <About id={id} user={user} again={again} />
              {id === me.id ? <p class="notice">{t('thatIsYou')}</p> : <ResetPassword id={id} again={again} />}
            </div>
            <div class="columns">
              <UserGroups id={id} />
              {!id.startsWith('_') && <ProfileCard id={id} />}
            </div>
            <UserContexts id={id} />
            {id !== me.id && user.name !== undefined && <UserLogins name={user.name} round={user} />}
            {id !== me.id && user.name !== undefined && <SecondFactorsOf user={user.name} />}
            {id !== me.id && user.name !== undefined && <AccessTokens user={user.name} />}
            <UserHistory id={id} round={user} />
            {!id.startsWith('_') && (
              <div class="columns">
                <RenamePrincipal id={id} name={name} again={again} />
                {id !== me.id && (
                  <DeletePrincipal
                    id={id}
                    name={name}
                    kind="user"
                    text={t('deleteUserText')}
                    onDeleted={() => navigate('admin/users')}
                  />
                )}
              </div>
            )}
          </>
        )}
      </Await>
    </AdminPage>
  )
}

interface AboutProps {
  readonly id: string
  readonly user: UserResource
  readonly again: () => void
}

function About({ id, user, again }: AboutProps) {
  const { name = t('withoutName'), homecontext, language, disabled = false, disabledUntil, temporaryPassword } = user
  const { me } = useSession()
  const [isAsking, setAsking] = useState(false)
  const switchTo = async (disabled: boolean): Promise<void> => {
    const change = (): Promise<unknown> =>
      ask(`_principals/resource/${part(id)}`, { method: 'PUT', json: { disabled } })
    await attempt(change, t(disabled ? 'userDisabled' : 'userEnabled', { name }))
    again()
  }
  const unlock = async (): Promise<void> => {
    const query = new URLSearchParams({ user: name })
    await attempt(
      () => ask(`management/lockouts?${query.toString()}`, { method: 'DELETE' }),
      t('lockoutLifted', { name }),
    )
    again()
  }
  return (
    <Card title={t('userAbout')}>
      <dl class="facts">
        <Fact name={t('userId')}>
          <code>{id}</code>
        </Fact>
        <Fact name={t('state')}>
          <UserState disabled={disabled} lockedUntil={disabledUntil} />
        </Fact>
        {disabledUntil !== undefined && <Fact name={t('lockedUntil')}>{dateTime(utc(disabledUntil))}</Fact>}
        {temporaryPassword && <Fact name={t('password')}>{t('temporaryPasswordState')}</Fact>}
        <Fact name={t('homeContext')}>
          {homecontext === undefined ? (
            t('none')
          ) : (
            <Link to={`admin/contexts/${part(homecontext)}`}>{homecontext}</Link>
          )}
        </Fact>
        <Fact name={t('language')}>{language ?? t('languageOfBrowser')}</Fact>
      </dl>
      <div class="buttons">
        {disabledUntil !== undefined && <Button onPress={unlock}>{t('unlock')}</Button>}
        {id !== me.id && !id.startsWith('_') && (
          <Button
            kind={disabled ? 'quiet' : 'quiet danger'}
            onPress={() => (disabled ? switchTo(false) : setAsking(true))}
          >
            {t(disabled ? 'enable' : 'disable')}
          </Button>
        )}
      </div>
      {isAsking && (
        <Confirm
          title={t('disable')}
          text={t('disableText', { name })}
          action={t('disable')}
          onConfirm={() => switchTo(true)}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  )
}
