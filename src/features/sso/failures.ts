import type { SsoRefused } from './refusal.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'

/** A rejected sign-on, with details that only administrators see. */
interface SsoFailure {
  readonly time: Milliseconds
  readonly provider: string
  /** The reference number shown to the user. */
  readonly correlation: string
  readonly check: string
  readonly expected: string | undefined
  readonly received: string | undefined
}

const MAX_LISTED = 100
const MAX_CHARACTERS = 300
const CORRELATION_BYTES = 5

/** The latest refused sign-ons of this process (D8.5): one line of the log each, and a list for administrators. */
export class SsoFailures {
  readonly #system: System
  readonly #log: Log
  readonly #latest: SsoFailure[] = []

  constructor({ system, log }: { readonly system: System; readonly log: Log }) {
    this.#system = system
    this.#log = log
  }

  /** Notes it and returns the word that ties the person's page to it. */
  report({ failed }: SsoRefused, provider: string): string {
    const failure: SsoFailure = {
      time: this.#system.now(),
      provider,
      correlation: Buffer.from(this.#system.randomBytes(CORRELATION_BYTES)).toString('hex'),
      check: failed.check,
      expected: cut(failed.expected),
      received: cut(failed.received),
    }
    this.#latest.unshift(failure)
    this.#latest.length = Math.min(this.#latest.length, MAX_LISTED)
    const { time: _, ...rest } = failure
    this.#log.warn(rest, 'a sign-on was refused')
    return failure.correlation
  }

  /** Latest first. */
  list(): readonly SsoFailure[] {
    return [...this.#latest]
  }
}

/** Cuts between code points, so that no character is cut in half. The text can be a whole message: only its beginning is read. */
const cut = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= MAX_CHARACTERS
    ? text
    : `${Array.from(text.slice(0, 2 * MAX_CHARACTERS))
        .slice(0, MAX_CHARACTERS - 1)
        .join('')}…`
