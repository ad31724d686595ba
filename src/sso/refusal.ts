import type { SsoCheck } from './checks.ts'
import { type ErrorOptions, Unauthenticated } from '../base/errors.ts'
import { TaskLimitExceeded } from '../workers/thread-pool.ts'

/** The check that a sign-on failed: for the log and for administrators, not for the user (D8.5). */
export interface FailedCheck {
  /** Short and stable, for instance `audience`. */
  readonly check: SsoCheck
  readonly expected?: string | undefined
  readonly received?: string | undefined
  /** The attribute of which the user lacks a required value, and whom to ask; the user sees both. */
  readonly missing?: string
  readonly contact?: string | undefined
}

/**
 * A sign-on through an identity provider was refused. The message names the check, and `correlation` once the refusal has
 * been reported; the values that were compared stay in `failed`.
 */
export class SsoRefused extends Unauthenticated {
  readonly failed: FailedCheck
  /** The address to which this refusal sends the user's browser; set after the refusal has been reported. */
  readonly failureUrl: string | undefined

  constructor(failed: FailedCheck, options: ErrorOptions & { readonly failureUrl?: string | undefined } = {}) {
    const { correlation } = options.extra ?? {}
    const quote = correlation === undefined ? '' : ` Quote ${String(correlation)} to the operator.`
    super('sso-refused', `The sign-on was refused (${failed.check}).${quote}`, options)
    this.failed = failed
    this.failureUrl = options.failureUrl
  }

  /** The same refusal as it is reported to its client. */
  reportedAs(correlation: string, failureUrl: string | undefined): SsoRefused {
    const { check, missing, contact } = this.failed
    const lacking = { ...(missing === undefined ? {} : { missing }), ...(contact === undefined ? {} : { contact }) }
    return new SsoRefused(this.failed, { extra: { check, correlation, ...lacking }, failureUrl, cause: this })
  }
}

/** The refusal of a sign-on by a check. @param cause for the log */
export const refused = (check: SsoCheck, expected: string, received?: string | null, cause?: unknown): SsoRefused =>
  new SsoRefused({ check, expected, received: received ?? 'nothing' }, { cause })

/** For the error of a task on a thread: `time` if it took too much time or memory, else the error itself. */
export function afterLimit(error: unknown): unknown {
  if (!(error instanceof TaskLimitExceeded)) return error
  const expected = 'a result within the limits on time and memory'
  return new SsoRefused({ check: 'time', expected, received: error.message }, { cause: error })
}

/** Unusable metadata of a provider; the message has the reason. */
export class MetadataRefused extends Error {
  /** `metadata-signature`: the document is not signed by a key that the settings name. */
  readonly check: 'metadata' | 'metadata-signature'

  constructor(
    message: string,
    { check = 'metadata', ...options }: { cause?: unknown; check?: MetadataRefused['check'] } = {},
  ) {
    super(message, options)
    this.name = 'MetadataRefused'
    this.check = check
  }
}
