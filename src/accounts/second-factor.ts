import { InvalidInput } from '../base/errors.ts'
import type { Caller } from './caller.ts'
import type { Client } from './sessions.ts'
import type { User } from './users.ts'

/** What a user sends as a second factor: the code of an app or a recovery code, or the assertion of a passkey. */
export type FactorAnswer = { readonly code: string } | { readonly passkey: unknown }

/** How a second factor was proven; recorded in the audit log. */
export type ProofKind = 'totp' | 'passkey' | 'recovery'

/** What the core asks about second factors. */
export interface FactorChecks {
  /** The ways in which the user can prove a second factor, for a page that asks for one. */
  readonly kindsOf: (userId: string) => Promise<readonly ProofKind[]>
  /**
   * @param purpose `bound` is what the answer belongs to: a pending login or a session
   * @throws {Forbidden} `second-factor-wrong` @throws {LockedOut}
   */
  readonly verify: (
    user: User,
    answer: FactorAnswer,
    purpose: { readonly client: Client; readonly bound: string },
  ) => Promise<ProofKind>
  /** Whether the caller must add a second factor before anything else. */
  readonly isMissing: (caller: Pick<Caller, 'user' | 'groups' | 'session'>) => Promise<boolean>
  /** @throws {Forbidden} `second-factor-missing` */
  readonly requirePresent: (caller: Caller) => Promise<void>
}

/** Asks the feature that has second factors, which fills it in when it is opened. */
export class SecondFactor implements FactorChecks {
  #checks: FactorChecks | undefined

  setChecks(checks: FactorChecks): void {
    this.#checks = checks
  }

  kindsOf(userId: string): Promise<readonly ProofKind[]> {
    return this.#filled.kindsOf(userId)
  }

  verify(...given: Parameters<FactorChecks['verify']>): Promise<ProofKind> {
    return this.#filled.verify(...given)
  }

  isMissing(caller: Pick<Caller, 'user' | 'groups' | 'session'>): Promise<boolean> {
    return this.#filled.isMissing(caller)
  }

  requirePresent(caller: Caller): Promise<void> {
    return this.#filled.requirePresent(caller)
  }

  get #filled(): FactorChecks {
    if (!this.#checks) throw new TypeError('no feature has second factors')
    return this.#checks
  }
}

/** @throws {InvalidInput} `invalid-form` */
export function requireAnswer({
  code,
  passkey,
}: {
  readonly code?: string | undefined
  readonly passkey?: unknown
}): FactorAnswer {
  if (passkey !== undefined) return { passkey }
  if (code !== undefined && code.trim() !== '') return { code }
  throw new InvalidInput('invalid-form', 'Send `code` or `passkey`.')
}
