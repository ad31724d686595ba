import { type FailedCheck, SsoRefused } from '../../base/errors.ts'
import { XmlRefused } from '../xml.ts'
import { type ExpectedResponse, judgeResponse, type VerifiedAssertion } from './response.ts'

export interface VerifyTask {
  readonly encoded: string
  readonly expected: ExpectedResponse
}

/** Errors lose their class on the way between threads, so refusals travel as values. */
export type VerifyOutcome = { readonly assertion: VerifiedAssertion } | { readonly failed: FailedCheck }

/** What a worker thread does: judging costs milliseconds that the event loop does not have. */
export default async function verify({ encoded, expected }: VerifyTask): Promise<VerifyOutcome> {
  try {
    return { assertion: await judgeResponse(encoded, expected) }
  } catch (error) {
    if (error instanceof SsoRefused) return { failed: error.failed }
    if (error instanceof XmlRefused) return { failed: { check: `xml-${error.reason}`, received: error.message } }
    throw error
  }
}
