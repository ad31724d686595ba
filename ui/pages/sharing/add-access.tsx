import { useState } from 'preact/hooks'
import { AddForm } from '../../components/add-form.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { type Access, type Role } from '../../lib/access.ts'
import { t } from '../../lib/language.ts'
import { findPrincipal } from '../../lib/principals.ts'
import { GUEST, RoleChoice } from './access-rows.tsx'

/** Gives a user or group access. Asks for a confirmation if this makes the item public. */
export function AddAccess({ onAdd }: { readonly onAdd: (access: Access) => Promise<void> }) {
  const [role, setRole] = useState<Role>('reader')
  // Set while the person is asked.
  const [answer, setAnswer] = useState<(isSure: boolean) => void>()
  const isConfirmed = async (): Promise<boolean> => {
    const isSure = await new Promise<boolean>(resolve => setAnswer(() => resolve))
    setAnswer(undefined)
    return isSure
  }
  const add = async (name: string): Promise<string | undefined> => {
    const principal = await findPrincipal(name)
    if (principal === GUEST && !(await isConfirmed())) return undefined
    await onAdd({ role, principal })
    return t('saved')
  }
  return (
    <>
      <AddForm
        add={add}
        action={t('allow')}
        field={field => <PrincipalField {...field} label={t('userOrGroup')} among="all" />}
      >
        <RoleChoice value={role} onValue={setRole} />
      </AddForm>
      {answer && (
        <Confirm
          title={t('everyoneConfirm')}
          text={t('everyoneConfirmText')}
          action={t('allow')}
          onConfirm={async () => answer(true)}
          onClose={() => answer(false)}
        />
      )}
    </>
  )
}
