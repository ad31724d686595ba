import { useRef, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { Await, Card } from '../components/page.tsx'
import { tell } from '../components/toast.tsx'
import { ask, Problem } from '../lib/api.ts'
import { part } from '../lib/base.ts'
import { tellProblem } from '../lib/format.ts'
import { findMessage, t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { judge, type PasswordRule } from '../lib/password-rules.ts'
import { useSession } from '../lib/session.ts'

interface Rules {
  readonly maxLength: number
  readonly rules: readonly PasswordRule[]
}

/** A new password, judged while it is typed. */
export function ChangePassword() {
  const [loaded, again] = useLoaded(signal => ask<Rules>('auth/password-rules', { signal }), [])
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
      <Field
        label={t('newPassword')}
        type="password"
        autocomplete="new-password"
        required
        maxLength={maxLength}
        value={typed.next}
        onValue={next => change({ next })}
        error={problem !== undefined && !isAboutCurrent ? tellProblem(problem) : undefined}
        hint={<RuleList rules={rules} password={typed.next} refused={brokenBy(problem)} />}
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

/** The rules that a refusal names. */
function brokenBy(problem: unknown): readonly unknown[] {
  const rules = problem instanceof Problem ? problem.extra['rules'] : undefined
  return Array.isArray(rules) ? rules : []
}

interface RuleListProps {
  readonly rules: readonly PasswordRule[]
  readonly password: string
  readonly refused: readonly unknown[]
}

/** Each rule with its mark; what only the service can judge says so. */
function RuleList({ rules, password, refused }: RuleListProps) {
  return (
    <ul class="rules" aria-label={t('ruleStates')}>
      {rules.map(rule => {
        const text = findMessage(`rule.${rule.kind}`, { value: rule.value ?? '' }) ?? rule.name
        const verdict = refused.includes(rule.name) ? 'broken' : judge(rule, password)
        return (
          <li key={rule.name} class={password === '' && verdict !== 'unknown' ? 'open' : verdict}>
            <span>
              {text}
              {verdict === 'unknown' && <span class="muted"> – {t('appliesLater')}</span>}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
