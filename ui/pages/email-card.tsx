import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { Await, Card } from '../components/page.tsx'
import { tell } from '../components/toast.tsx'
import { loadEmail, saveEmail } from '../lib/email.ts'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { useSession } from '../lib/session.ts'

/** The e-mail address of the user, or for administrators that of another user. */
export function EmailCard({ id }: { readonly id: string }) {
  const [loaded, again] = useLoaded(signal => loadEmail(id, signal), [id])
  return (
    <Card title={t('email')}>
      <Await loaded={loaded} again={again}>
        {email => <EmailForm key={email} id={id} email={email} again={again} />}
      </Await>
    </Card>
  )
}

interface EmailFormProps {
  readonly id: string
  readonly email: string
  readonly again: () => void
}

function EmailForm({ id, email, again }: EmailFormProps) {
  const { me } = useSession()
  const [typed, setTyped] = useState(email)
  const save = async (): Promise<void> => {
    await saveEmail(id, me.baseUri, typed)
    tell(t('saved'))
    again()
  }
  return (
    <Form work={save}>
      {problem => (
        <>
          <Field
            label={t('email')}
            type="email"
            value={typed}
            onValue={setTyped}
            autocomplete="email"
            hint={t('emailHint')}
            error={problem === undefined ? undefined : tellProblem(problem)}
          />
          <div class="buttons">
            <Button type="submit">{t('emailSave')}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
