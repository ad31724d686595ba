import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Choice } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { tell } from '../../components/toast.tsx'
import { type Role, roles } from '../../lib/access.ts'
import { number, tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { findPrincipal } from '../../lib/principals.ts'
import { visible } from '../../lib/text.ts'
import { tellRole } from '../sharing/access-rows.tsx'
import { usePublicQuestion } from '../sharing/public-question.tsx'
import { beginFor, countOf, type Picked } from './many-items.ts'

interface ShareManyProps {
  readonly picked: Picked
  readonly onClose: () => void
  readonly onChanged: () => void
}

const NONE = 'none'

/** Gives a user or group access to several items, or takes it from them. */
export function ShareMany({ picked, onClose, onChanged }: ShareManyProps) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role | typeof NONE>('reader')
  const { isConfirmed, question } = usePublicQuestion()
  const isGiven = role !== NONE
  const share = async (): Promise<void> => {
    const principal = await findPrincipal(name)
    if (isGiven && !(await isConfirmed(principal))) return
    const hasBegun = await beginFor(picked, {
      action: 'share',
      share: { principal, role },
      onOver: ({ done }) => {
        const values = { count: number(done), name: visible(name) }
        if (done > 0) tell(t(isGiven ? 'sharedWith' : 'unsharedWith', values))
      },
    })
    if (!hasBegun) return
    onChanged()
    onClose()
  }
  return (
    <Dialog title={t('shareMany', { count: number(countOf(picked)) })} onClose={onClose}>
      <Form work={share}>
        {problem => (
          <>
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
              options={[...roles.map(role => [role, tellRole(role)] as const), [NONE, t('roleNone')]]}
              onValue={text => setRole(roles.find(role => role === text) ?? NONE)}
            />
            <p class="muted" role="status">
              {t(isGiven ? 'shareManyText' : 'unshareManyText')}
            </p>
            <DialogButtons onClose={onClose}>
              <Button type="submit" {...(isGiven ? {} : { kind: 'danger' })}>
                {t(isGiven ? 'allow' : 'takeAccess')}
              </Button>
            </DialogButtons>
          </>
        )}
      </Form>
      {question}
    </Dialog>
  )
}
