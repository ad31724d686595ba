/** A rule of `GET auth/password-rules`. */
export interface PasswordRule {
  readonly name: string
  readonly kind: string
  readonly value?: string | number
}

export type Verdict = 'kept' | 'broken' | 'unknown'

const classes: Readonly<Record<string, RegExp>> = {
  lowercase: /\p{Ll}/u,
  uppercase: /\p{Lu}/u,
  number: /\p{Nd}/u,
  symbol: /[^\p{L}\p{Nd}]/u,
}

/**
 * Whether a password meets a rule, as far as the page can check it: patterns and word lists are checked by
 * the service only.
 */
export function judge({ kind, value }: PasswordRule, password: string): Verdict {
  if (kind === 'min-length') return [...password].length >= Number(value) ? 'kept' : 'broken'
  const wanted = classes[kind]
  if (!wanted) return 'unknown'
  return wanted.test(password) ? 'kept' : 'broken'
}
