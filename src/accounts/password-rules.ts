import { InvalidInput } from '../base/errors.ts'
import { compilePattern } from '../base/patterns.ts'
import { requirePasswordShape } from './passwords.ts'

export interface PasswordRuleOptions {
  readonly lowercase: boolean
  readonly uppercase: boolean
  readonly number: boolean
  readonly symbol: boolean
  /** Code points. */
  readonly minLength: number
  /**
   * Each pattern must match somewhere in the password. RE2 takes linear time, so no pattern can stall the service.
   */
  readonly custom: readonly string[]
  /** Passwords that are rejected, in lower case; absent when common passwords are allowed. */
  readonly common?: ReadonlySet<string>
  /** Rules of features. They come last. */
  readonly added?: readonly AddedRule[]
}

/**
 * The minimum length in NIST SP 800-63B for a password that is the only factor. NIST requires length instead of character
 * classes.
 */
const NIST_MIN_LENGTH = 15

/**
 * These rules in the profile `nist`, which requires length and rejects easily guessed passwords. Character classes add little to either.
 */
export const withNistProfile = async (rules: PasswordRuleOptions): Promise<PasswordRuleOptions> => ({
  ...rules,
  lowercase: false,
  uppercase: false,
  number: false,
  symbol: false,
  minLength: Math.max(NIST_MIN_LENGTH, rules.minLength),
  common: await loadCommonPasswords(),
})

/** A rule as shown to users. */
export interface PasswordRule {
  /** The name in the error response: the last part of the setting's key. */
  readonly name: string
  readonly kind:
    | 'min-length'
    | 'lowercase'
    | 'uppercase'
    | 'number'
    | 'symbol'
    | 'custom'
    | 'common'
    | 'context'
    | 'breached'
  /** The number of characters (code points), or the pattern (RE2). */
  readonly value?: number | string
}

interface Rule extends PasswordRule {
  readonly holds: (password: string, words: readonly string[]) => boolean
}

/** A rule of a feature, with what it keeps open. */
export interface AddedRule extends Rule {
  readonly close: () => void
}

/** The rules that a new password must meet (I5.6, D5.2). */
export class PasswordRules {
  readonly #rules: readonly Rule[]
  readonly #added: readonly AddedRule[]

  /** The patterns were checked when the settings were read. */
  constructor(options: PasswordRuleOptions) {
    const classes: ReadonlyArray<Omit<Rule, 'name'> & { readonly on: boolean }> = [
      { on: options.lowercase, kind: 'lowercase', holds: text => /\p{Ll}/u.test(text) },
      { on: options.uppercase, kind: 'uppercase', holds: text => /\p{Lu}/u.test(text) },
      { on: options.number, kind: 'number', holds: text => /\p{Nd}/u.test(text) },
      { on: options.symbol, kind: 'symbol', holds: text => /[^\p{L}\p{Nd}]/u.test(text) },
    ]
    const custom = options.custom.map((pattern, index): Rule => {
      const compiled = compilePattern(pattern)
      return {
        name: `custom.${index + 1}`,
        kind: 'custom',
        value: pattern,
        holds: text => compiled.matcher(text).find(),
      }
    })
    const { added = [] } = options
    this.#added = added
    this.#rules = [
      minLength(options.minLength),
      ...classes.filter(rule => rule.on).map(({ kind, holds }) => ({ name: kind, kind, holds })),
      ...custom,
      ...(options.common ? guessable(options.common) : []),
      ...added.map(({ name, kind, holds }) => ({ name, kind, holds })),
    ]
  }

  /** All rules, in the order in which an error lists them. */
  get all(): readonly PasswordRule[] {
    return this.#rules.map(({ holds: _holds, ...rule }) => rule)
  }

  /** The names of the rules that the password breaks; empty when it is accepted. @param words see {@link require} */
  broken(password: string, words: ReadonlyArray<string | undefined> = []): string[] {
    const known = words.filter(word => word !== undefined)
    return this.#rules.filter(rule => !rule.holds(password, known)).map(rule => rule.name)
  }

  /**
   * @param words that an attacker would try first, such as the user's name
   * @throws {InvalidInput} `password-rules` with the list `rules`; also the errors of {@link requirePasswordShape}
   */
  require(password: string, words: ReadonlyArray<string | undefined> = []): void {
    requirePasswordShape(password)
    const rules = this.broken(password, words)
    if (rules.length === 0) return
    throw new InvalidInput('password-rules', `The password breaks these rules: ${rules.join(', ')}.`, {
      extra: { rules },
    })
  }

  /** Closes what rules of features keep open. */
  close(): void {
    for (const { close } of this.#added) close()
  }
}

const minLength = (value: number): Rule => ({
  name: `min-length (${value})`,
  kind: 'min-length',
  value,
  holds: text => [...text].length >= value,
})

const MIN_WORD = 4
/** Repeating a shorter text makes a password longer but not harder to guess. */
const MIN_REPEATED = 8

/** Rules of the profile `nist` that reject the passwords attackers guess first. */
const guessable = (common: ReadonlySet<string>): Rule[] => [
  {
    name: 'common',
    kind: 'common',
    holds: text => {
      const repeated = unit(text.toLowerCase())
      return !common.has(repeated) && (repeated.length === text.length || repeated.length >= MIN_REPEATED)
    },
  },
  {
    name: 'context',
    kind: 'context',
    holds: (text, words) => {
      const lower = text.toLowerCase()
      return !['stowage', ...words].some(word => word.length >= MIN_WORD && lower.includes(word.toLowerCase()))
    },
  },
]

/** The shortest text whose repetition gives this text: `abcabcabc` is as easy to guess as `abc`. */
function unit(text: string): string {
  const period = `${text}${text}`.indexOf(text, 1)
  return text.slice(0, period)
}

/** About 50 000 of the passwords found most often in leaks, in lower case. Loaded on first use. */
async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'])
}
