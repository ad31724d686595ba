import { useState } from 'preact/hooks'
import { AddForm } from '../../components/add-form.tsx'
import { Area, Check } from '../../components/field.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { type Access, type Place, type Role } from '../../lib/access.ts'
import { t } from '../../lib/language.ts'
import { findPrincipal } from '../../lib/principals.ts'
import { hasMails, MAX_MESSAGE, sendMessage } from '../../lib/share-messages.ts'
import { visible } from '../../lib/text.ts'
import { everybody, RoleChoice } from './access-rows.tsx'
import { usePublicQuestion } from './public-question.tsx'

interface AddAccessProps {
  readonly place: Place
  readonly onAdd: (access: Access) => Promise<void>
}

/** Gives a user or group access, and tells them if wanted. Asks for a confirmation if this makes the item public. */
export function AddAccess({ place, onAdd }: AddAccessProps) {
  const [role, setRole] = useState<Role>('reader')
  const [isTold, setTold] = useState(false)
  const [text, setText] = useState('')
  const { isConfirmed, question } = usePublicQuestion()
  const inform = async (principal: string, name: string): Promise<string> => {
    const isSent = await sendMessage(place, { principal, text })
    setText('')
    return t(isSent ? 'messageSent' : 'messageNoAddress', { name: visible(name) })
  }
  const add = async (name: string): Promise<string | undefined> => {
    const principal = await findPrincipal(name)
    if (!(await isConfirmed(principal))) return undefined
    await onAdd({ role, principal })
    if (!isTold || everybody.includes(principal)) return t('saved')
    // They have access from here on, whether or not the message can be sent.
    return await inform(principal, name).catch((error: unknown) => {
      tellFailure(error)
      return t('saved')
    })
  }
  return (
    <>
      <AddForm
        add={add}
        action={t('allow')}
        field={field => <PrincipalField {...field} label={t('userOrGroup')} among="all" />}
        below={
          hasMails && (
            <>
              <Check label={t('messageSend')} isOn={isTold} onChange={setTold} />
              {isTold && <Area label={t('messageText')} value={text} onValue={setText} maxLength={MAX_MESSAGE} />}
            </>
          )
        }
      >
        <RoleChoice value={role} onValue={setRole} />
      </AddForm>
      {question}
    </>
  )
}
