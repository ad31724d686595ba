import { ConfirmByName } from '../../components/confirm-by-name.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Await } from '../../components/page.tsx'
import { tell } from '../../components/toast.tsx'
import { accessIn } from '../../lib/access.ts'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { loadContextsOf } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'

interface DeleteUserProps {
  readonly id: string
  readonly name: string
  readonly onDeleted: () => void
  readonly onClose: () => void
}

/** Asks before a user is deleted, and names the spaces that lose their last owner. */
export function DeleteUser({ id, name, onDeleted, onClose }: DeleteUserProps) {
  const { me } = useSession()
  const load = async (signal: AbortSignal): Promise<readonly string[]> => {
    const { contexts } = await loadContextsOf(id, me, signal)
    const isLastOwner = (context: (typeof contexts)[number]): boolean => {
      const access = accessIn(context.info, { base: me.baseUri, context: context.entryId })
      const owners = access.filter(({ role }) => role === 'owner')
      return owners.length === 1 && owners[0]?.principal === id
    }
    return contexts.filter(isLastOwner).map(context => context.name)
  }
  const [loaded, again] = useLoaded(load, [id])
  const remove = async (): Promise<void> => {
    await ask(`_principals/entry/${part(id)}`, { method: 'DELETE' })
    tell(t('userDeleted', { name: visible(name) }))
    onDeleted()
  }
  if (loaded.state !== 'ready') {
    return (
      <Dialog title={t('deleteUser')} onClose={onClose}>
        <Await loaded={loaded} again={again}>
          {() => null}
        </Await>
      </Dialog>
    )
  }
  return (
    <ConfirmByName
      title={t('deleteUser')}
      text={t('deleteUserText')}
      lost={loaded.value.length === 0 ? undefined : { text: t('deleteUserOwner'), names: loaded.value }}
      name={name}
      onConfirm={remove}
      onClose={onClose}
    />
  )
}
