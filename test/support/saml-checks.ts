import type { ExpectedLogout, ReceivedLogout, VerifiedLogout } from '../../src/features/saml/logout-message.ts'
import type { ExpectedResponse, VerifiedAssertion } from '../../src/features/saml/response.ts'
import { type Outcome, work } from '../../src/features/saml/verify-worker.ts'

type Refused = Extract<Outcome, { readonly failed: unknown }>

/** What a thread finds in a response: the assertion, or the check that failed. */
export async function verify(task: {
  readonly encoded: string
  readonly expected: ExpectedResponse
}): Promise<{ readonly assertion: VerifiedAssertion } | Refused> {
  const outcome = await work({ kind: 'response', ...task })
  return 'result' in outcome ? { assertion: outcome.result as VerifiedAssertion } : (outcome as Refused)
}

/** The same of a message of single logout. */
export async function checkLogout(task: {
  readonly received: ReceivedLogout
  readonly expected: ExpectedLogout
}): Promise<{ readonly logout: VerifiedLogout } | Refused> {
  const outcome = await work({ kind: 'logout', ...task })
  return 'result' in outcome ? { logout: outcome.result as VerifiedLogout } : (outcome as Refused)
}
