import { type ErrorOptions, Unauthenticated } from '../../base/errors.ts'
import { TaskLimitExceeded } from '../../workers/thread-pool.ts'

/** The checks of the account and of XML, which can refuse a sign-on by any protocol. */
export const ssoChecks = [
  'account-disabled',
  'account-linked',
  'domain',
  'email-verified',
  'groups-overage',
  'login-flow',
  'name',
  'replay',
  'required-claim',
  'reserved-user',
  'unknown-user',
  'xml-characters',
  'xml-comment',
  'xml-doctype',
  'xml-markup',
  'xml-processing-instruction',
  'xml-size',
  'xml-xml',
] as const

/**
 * Every check that can refuse a sign-on; each protocol adds its own. Users see its name, administrators look it up in
 * docs/how-to/sso-*.md, which have an action for each (a test compares).
 */
export interface SsoChecks {
  sso: (typeof ssoChecks)[number]
}

export type SsoCheck = SsoChecks[keyof SsoChecks]

/** The check that a sign-on failed: for the log and for administrators, not for the user (D8.5). */
export interface FailedCheck {
  /** Short and stable, for instance `audience`. */
  readonly check: SsoCheck
  readonly expected?: string | undefined
  readonly received?: string | undefined
  /** The attribute of which the user lacks a required value; the user sees it. */
  readonly missing?: string
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
    const { check, missing } = this.failed
    const lacking = missing === undefined ? {} : { missing }
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
