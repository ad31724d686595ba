import { useRef, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { Await, Card } from '../components/page.tsx'
import { tell } from '../components/toast.tsx'
import { ask, Problem } from '../lib/api.ts'
import { part } from '../lib/base.ts'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { useSession } from '../lib/session.ts'
import { loadRules, NewPassword, type Rules } from './password-field.tsx'

/** Changes the user's password; rules are checked while the user types. */
export function ChangePassword() {
  const [loaded, again] = useLoaded(loadRules, [])
  return (
    <Card title={t('changePassword')}>
      <Await loaded={loaded} again={again}>
        {rules => <PasswordForm {...rules} />}
      </Await>
    </Card>
  )
}

const nothing = { current: '', next: '', repeated: '' }

function PasswordForm({ rules, maxLength }: Rules) {
  const { me } = useSession()
  const [typed, setTyped] = useState(nothing)
  const [problem, setProblem] = useState<unknown>()
  const form = useRef<HTMLFormElement>(null)
  const code = problem instanceof Problem ? problem.code : undefined
  const [repeatIsWrong, setRepeatIsWrong] = useState(false)
  const change = (part: Partial<typeof nothing>): void => {
    setTyped(typed => ({ ...typed, ...part }))
    setProblem(undefined)
    setRepeatIsWrong(false)
  }

  const save = async (): Promise<void> => {
    if (form.current?.reportValidity() !== true) return
    const differs = typed.next !== typed.repeated
    setRepeatIsWrong(differs)
    if (differs) return
    const json = { password: typed.next, currentPassword: typed.current }
    try {
      await ask(`_principals/resource/${part(me.id)}`, { method: 'PUT', json })
      setTyped(nothing)
      tell(t('passwordChanged'))
    } catch (error) {
      setProblem(error)
    }
  }
  const isAboutCurrent = code?.startsWith('current-password') === true
  return (
    <form
      class="stack"
      ref={form}
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
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
        error={problem !== undefined && !isAboutCurrent ? tellProblem(problem) : undefined}
        problem={problem}
      />
      <Field
        label={t('repeatPassword')}
        type="password"
        autocomplete="new-password"
        required
        value={typed.repeated}
        onValue={repeated => change({ repeated })}
        error={repeatIsWrong ? t('repeatWrong') : undefined}
      />
      <div class="buttons">
        <Button type="submit">{t('changePassword')}</Button>
      </div>
    </form>
  )
}
