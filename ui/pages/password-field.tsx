import { Field } from '../components/field.tsx'
import { ask, Problem } from '../lib/api.ts'
import { findMessage, t } from '../lib/language.ts'
import { judge, type PasswordRule } from '../lib/password-rules.ts'

export interface Rules {
  readonly maxLength: number
  readonly rules: readonly PasswordRule[]
}

export const loadRules = (signal: AbortSignal): Promise<Rules> => ask<Rules>('auth/password-rules', { signal })

interface NewPasswordProps extends Rules {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly error: string | undefined
  /** Why the last one was refused. */
  readonly problem: unknown
  /** Whether it may be read while it is typed: by somebody who hands it on. */
  readonly isShown?: boolean
  readonly required?: boolean
}

/** A new password, judged while it is typed. */
export function NewPassword(props: NewPasswordProps) {
  const { rules, maxLength, value, onValue, error, problem, isShown = false, required = true } = props
  return (
    <Field
      label={t('newPassword')}
      type={isShown ? 'text' : 'password'}
      autocomplete={isShown ? 'off' : 'new-password'}
      required={required}
      maxLength={maxLength}
      value={value}
      onValue={onValue}
      error={error}
      hint={<RuleList rules={rules} password={value} refused={brokenBy(problem)} />}
    />
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
