import { RE2JS } from 're2js'
import { InvalidInput } from '../base/errors.ts'
import { requirePasswordShape } from './passwords.ts'

export interface PasswordRuleOptions {
  readonly lowercase: boolean
  readonly uppercase: boolean
  readonly number: boolean
  readonly symbol: boolean
  /** Code points. */
  readonly minLength: number
  /** Each must match somewhere in the password. Run by a linear-time engine, so no pattern can stall the service. */
  readonly custom: readonly string[]
}

interface Rule {
  /** As listed in the refusal: the last part of the setting's key. */
  readonly name: string
  readonly holds: (password: string) => boolean
}

/** The rules a new password is judged by (interface 5.6, D5.2). */
export class PasswordRules {
  readonly #rules: readonly Rule[]

  /** The patterns have been checked when the settings were read. */
  constructor(options: PasswordRuleOptions) {
    const always = {
      name: `min-length (${options.minLength})`,
      holds: (text: string) => [...text].length >= options.minLength,
    }
    const classes: ReadonlyArray<Rule & { readonly on: boolean }> = [
      { on: options.lowercase, name: 'lowercase', holds: text => /\p{Ll}/u.test(text) },
      { on: options.uppercase, name: 'uppercase', holds: text => /\p{Lu}/u.test(text) },
      { on: options.number, name: 'number', holds: text => /\p{Nd}/u.test(text) },
      { on: options.symbol, name: 'symbol', holds: text => /[^\p{L}\p{Nd}]/u.test(text) },
    ]
    const custom = options.custom.map((pattern, index): Rule => {
      const compiled = RE2JS.compile(pattern)
      return { name: `custom.${index + 1}`, holds: text => compiled.matcher(text).find() }
    })
    this.#rules = [always, ...classes.filter(rule => rule.on), ...custom]
  }

  /** The names of the rules that the password breaks; empty when it is good. */
  broken(password: string): string[] {
    return this.#rules.filter(rule => !rule.holds(password)).map(rule => rule.name)
  }

  /** @throws {InvalidInput} `password-rules` with the list `rules`; also what {@link requirePasswordShape} throws. */
  require(password: string): void {
    requirePasswordShape(password)
    const rules = this.broken(password)
    if (rules.length === 0) return
    throw new InvalidInput('password-rules', `The password breaks these rules: ${rules.join(', ')}.`, {
      extra: { rules },
    })
  }
}
