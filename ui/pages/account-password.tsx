import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { Await, Card } from '../components/page.tsx'
import { tell } from '../components/toast.tsx'
import { ask, Problem } from '../lib/api.ts'
import { part } from '../lib/base.ts'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { type Me, useSession } from '../lib/session.ts'
import { loadRules, NewPassword, type Rules } from './password-field.tsx'

/** Changes the user's password; rules are checked while the user types. */
export function ChangePassword() {
  const [loaded, again] = useLoaded(loadRules, [])
  return (
    <Card title={t('changePassword')}>
      <div class="password-card">
        <Await loaded={loaded} again={again}>
          {rules => <PasswordForm {...rules} />}
        </Await>
      </div>
    </Card>
  )
}

const REPEAT_WRONG = 'repeat-wrong'
const nothing = { current: '', next: '', repeated: '' }

function PasswordForm({ rules, maxLength }: Rules) {
  const { me } = useSession()
  const [typed, setTyped] = useState(nothing)
  const change = (part: Partial<typeof nothing>): void => setTyped(typed => ({ ...typed, ...part }))
  const save = async (): Promise<void> => {
    if (typed.next !== typed.repeated) throw new Problem(400, { code: REPEAT_WRONG })
    const json = { password: typed.next, currentPassword: typed.current }
    await ask(`_principals/resource/${part(me.id)}`, { method: 'PUT', json })
    setTyped(nothing)
    tell(t('passwordChanged'))
  }
  return <Form work={save}>{problem => <PasswordFields {...{ me, rules, maxLength, typed, change, problem }} />}</Form>
}

interface PasswordFieldsProps extends Rules {
  readonly me: Me
  readonly typed: typeof nothing
  readonly change: (part: Partial<typeof nothing>) => void
  readonly problem: unknown
}

function PasswordFields({ me, rules, maxLength, typed, change, problem }: PasswordFieldsProps) {
  const code = problem instanceof Problem ? problem.code : undefined
  const isAboutCurrent = code?.startsWith('current-password') === true
  return (
    <>
      {/* Lets a password manager know whose passwords these are. */}
      <input class="hidden" tabIndex={-1} aria-hidden="true" autocomplete="username" value={me.name} readOnly />
      <Field
        label={t('currentPassword')}
        type="password"
        autocomplete="current-password"
        required
        value={typed.current}
        onValue={current => change({ current })}
        error={isAboutCurrent ? tellProblem(problem) : undefined}
      />
      <NewPassword
        rules={rules}
        maxLength={maxLength}
        value={typed.next}
        onValue={next => change({ next })}
        error={problem !== undefined && !isAboutCurrent && code !== REPEAT_WRONG ? tellProblem(problem) : undefined}
        problem={problem}
      />
      <Field
        label={t('repeatPassword')}
        type="password"
        autocomplete="new-password"
        required
        value={typed.repeated}
        onValue={repeated => change({ repeated })}
        error={code === REPEAT_WRONG ? t('repeatWrong') : undefined}
      />
      <div class="buttons">
        <Button type="submit">{t('changePassword')}</Button>
      </div>
    </>
  )
}
