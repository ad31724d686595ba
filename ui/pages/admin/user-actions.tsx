import { useState } from 'preact/hooks'
import { Confirm } from '../../components/dialog.tsx'
import { Menu } from '../../components/menu.tsx'
import { attempt } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { t } from '../../lib/language.ts'
import { navigate } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { DeleteUser } from './delete-user.tsx'
import type { UserResource } from './user.tsx'

interface UserActionsProps {
  readonly id: string
  readonly user: UserResource
  /** Called when the data of the user have changed. */
  readonly again: () => void
}

/** What an administrator can do with a user as a whole. */
export function UserActions({ id, user, again }: UserActionsProps) {
  const { me } = useSession()
  const [asking, setAsking] = useState<'disable' | 'delete'>()
  const { name = id, disabled = false, disabledUntil } = user
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
  const isOther = id !== me.id && !id.startsWith('_')
  const items = [
    ...(disabledUntil === undefined ? [] : [{ text: t('unlock'), onPick: () => void unlock() }]),
    ...(isOther && disabled ? [{ text: t('enable'), onPick: () => void switchTo(false) }] : []),
    ...(isOther && !disabled ? [{ text: t('disable'), onPick: () => setAsking('disable') }] : []),
    ...(isOther ? [{ text: t('deleteUser'), onPick: () => setAsking('delete'), isDangerous: true }] : []),
  ]
  return (
    <>
      {items.length > 0 && <Menu label={t('actionsOn', { name: visible(name) })} items={items} />}
      {asking === 'disable' && (
        <Confirm
          title={t('disable')}
          text={t('disableText', { name })}
          action={t('disable')}
          onConfirm={() => switchTo(true)}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking === 'delete' && (
        <DeleteUser
          id={id}
          name={name}
          onDeleted={() => navigate('admin/users')}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  )
}
