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
  /** "New password" by default. */
  readonly label?: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly error: string | undefined
  /** The error of the last attempt. */
  readonly problem: unknown
  /** Whether the password is shown while typing, for administrators who pass it on. */
  readonly isShown?: boolean
  readonly required?: boolean
}

/** A field for a new password; rules are checked while the user types. */
export function NewPassword(props: NewPasswordProps) {
  const { rules, maxLength, value, onValue, error, problem, isShown = false, required = true } = props
  const { label = t('newPassword') } = props
  return (
    <Field
      label={label}
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

/** The rules that an error response names as broken. */
function brokenBy(problem: unknown): readonly unknown[] {
  const rules = problem instanceof Problem ? problem.extra['rules'] : undefined
  return Array.isArray(rules) ? rules : []
}

interface RuleListProps {
  readonly rules: readonly PasswordRule[]
  readonly password: string
  readonly refused: readonly unknown[]
}

/** Each rule with its state; rules that only the service can check are marked as such. */
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
