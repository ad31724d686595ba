import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Choice } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { attempt, tell } from '../../components/toast.tsx'
import { type Access, type Role, roles } from '../../lib/access.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { findPrincipal } from '../../lib/principals.ts'
import { GUEST, roleOptions } from './access-rows.tsx'

/** Gives a user or group access. Asks for a confirmation if this makes the item public. */
export function AddAccess({ onAdd }: { readonly onAdd: (access: Access) => Promise<void> }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('reader')
  const [isPublic, setPublic] = useState(false)
  const grant = async (): Promise<void> => {
    await onAdd({ role, principal: await findPrincipal(name) })
    tell(t('saved'))
    setName('')
  }
  const add = async (): Promise<void> => {
    if ((await findPrincipal(name)) === GUEST) setPublic(true)
    else await grant()
  }
  return (
    <>
      <Form work={add}>
        {problem => (
          <div class="line">
            <PrincipalField
              label={t('userOrGroup')}
              value={name}
              onValue={setName}
              among="all"
              required
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <Choice
              label={t('may')}
              value={role}
              options={roleOptions()}
              onValue={text => setRole(roles.find(role => role === text) ?? role)}
            />
            <Button type="submit">{t('allow')}</Button>
          </div>
        )}
      </Form>
      {isPublic && (
        <Confirm
          title={t('everyoneConfirm')}
          text={t('everyoneConfirmText')}
          action={t('allow')}
          onConfirm={async () => void (await attempt(grant, t('saved')))}
          onClose={() => setPublic(false)}
        />
      )}
    </>
  )
}
