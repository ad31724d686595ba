import { normaliseName } from './names.ts'

export interface PasswordLoginOptions {
  readonly mode: 'on' | 'off' | 'whitelist'
  /** As written in the settings. */
  readonly whitelist: readonly string[]
  readonly blacklist: readonly string[]
}

/** Decides who may sign in with a password (I5.8). Names are compared in their normal form (D1.7). */
export class PasswordLoginPolicy {
  readonly isOff: boolean
  readonly #whitelist: ReadonlySet<string> | undefined
  readonly #blacklist: ReadonlySet<string>

  constructor({ mode, whitelist, blacklist }: PasswordLoginOptions) {
    this.isOff = mode === 'off'
    this.#whitelist = mode === 'whitelist' ? new Set(whitelist.map(normaliseName)) : undefined
    this.#blacklist = new Set(blacklist.map(normaliseName))
  }

  /** @param name normalised */
  admits(name: string): boolean {
    return !this.isOff && (this.#whitelist?.has(name) ?? true) && !this.#blacklist.has(name)
  }
}
