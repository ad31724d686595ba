import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { Card } from '../components/page.tsx'
import { SharedForm } from '../components/shared-form.tsx'
import { tell } from '../components/toast.tsx'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { loadProfile, profileIn, saveProfile } from '../lib/profile.ts'
import { useSession } from '../lib/session.ts'

/** Full name and e-mail address of the user, or for administrators those of another user. */
export function ProfileCard({ id, onSaved }: { readonly id: string; readonly onSaved?: () => void }) {
  const { me } = useSession()
  const user = { id, uri: `${me.baseUri}_principals/resource/${id}` }
  return (
    <Card title={t('profile')}>
      <SharedForm
        load={() => loadProfile(id)}
        inputs={[id]}
        fieldsOf={profileIn}
        labelOf={t}
        save={(metadata, changed, tag) => saveProfile(user, metadata, changed, tag)}
        onSaved={() => {
          tell(t('saved'))
          onSaved?.()
        }}
      >
        {({ fields: { fullName, email }, set, problem }) => (
          <>
            <Field
              label={t('fullName')}
              value={fullName}
              onValue={fullName => set({ fullName })}
              autocomplete={id === me.id ? 'name' : 'off'}
            />
            <Field
              label={t('email')}
              type="email"
              value={email}
              onValue={email => set({ email })}
              autocomplete={id === me.id ? 'email' : 'off'}
              hint={t('emailHint')}
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <div class="buttons">
              <Button type="submit">{t('profileSave')}</Button>
            </div>
          </>
        )}
      </SharedForm>
    </Card>
  )
}
