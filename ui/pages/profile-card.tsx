import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { Await, Card } from '../components/page.tsx'
import { tell } from '../components/toast.tsx'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { loadProfile, type Profile, saveProfile } from '../lib/profile.ts'
import { useSession } from '../lib/session.ts'

/** Full name and e-mail address of the user, or for administrators those of another user. */
export function ProfileCard({ id }: { readonly id: string }) {
  const [loaded, again] = useLoaded(signal => loadProfile(id, signal), [id])
  return (
    <Card title={t('profile')}>
      <Await loaded={loaded} again={again}>
        {profile => <ProfileForm key={JSON.stringify(profile)} id={id} profile={profile} again={again} />}
      </Await>
    </Card>
  )
}

interface ProfileFormProps {
  readonly id: string
  readonly profile: Profile
  readonly again: () => void
}

function ProfileForm({ id, profile, again }: ProfileFormProps) {
  const { me } = useSession()
  const [typed, setTyped] = useState(profile)
  const save = async (): Promise<void> => {
    await saveProfile(id, me.baseUri, typed)
    tell(t('saved'))
    again()
  }
  return (
    <Form work={save}>
      {problem => (
        <>
          <Field
            label={t('fullName')}
            value={typed.fullName}
            onValue={fullName => setTyped({ ...typed, fullName })}
            autocomplete={id === me.id ? 'name' : 'off'}
          />
          <Field
            label={t('email')}
            type="email"
            value={typed.email}
            onValue={email => setTyped({ ...typed, email })}
            autocomplete={id === me.id ? 'email' : 'off'}
            hint={t('emailHint')}
            error={problem === undefined ? undefined : tellProblem(problem)}
          />
          <div class="buttons">
            <Button type="submit">{t('profileSave')}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
