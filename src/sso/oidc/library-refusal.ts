import { isObject } from '../../base/json.ts'
import * as client from 'openid-client'
import { Overloaded } from '../../base/errors.ts'
import { FetchFailed } from '../fetch.ts'
import { isSsoCheck } from '../checks.ts'
import { SsoRefused, refused } from '../refusal.ts'
import { checkOf, showClaim } from './token.ts'

/**
 * Converts an error of `openid-client` into a refusal that names the failed check. Errors that the response
 * did not cause are returned unchanged.
 */
export function asRefusal(error: unknown): unknown {
  const ours = causesOf(error).find(cause => cause instanceof SsoRefused || cause instanceof Overloaded)
  if (ours) return ours
  const failed = causesOf(error).find(cause => cause instanceof FetchFailed)
  if (failed) return refused('provider-unreachable', 'an answer of the provider', failed.message, error)
  if (error instanceof client.AuthorizationResponseError) {
    return refused('authorization', 'a code', describe(error.error, error.error_description), error)
  }
  if (error instanceof client.ResponseBodyError) {
    return refused('token-endpoint', 'tokens', describe(error.error, error.error_description), error)
  }
  if (error instanceof client.WWWAuthenticateChallengeError) {
    return refused('token-endpoint', 'tokens', `status ${error.status}`, error)
  }
  return error instanceof client.ClientError ? fromChecks(error) : error
}

/** Maps a failed check of the library to the claim or response parameter that is wrong. */
function fromChecks(error: client.ClientError): SsoRefused {
  const [, check] = causesOf(error)
  const message = check instanceof Error ? check.message : error.message
  if (message.includes('"alg"')) {
    return refused('token-algorithm', 'one of the algorithms that the provider announces', message, error)
  }
  const { claim, claims, expected } = detailsOf(check)
  if (claims) {
    const name = claim ?? /"(\w+)"/.exec(message)?.[1] ?? 'form'
    return refused(
      checkOf(name),
      expected === undefined ? message : showClaim(expected),
      showClaim(claims[name]),
      error,
    )
  }
  const parameter = /response parameter "(\w+)"|"(\w+)" (?:\(\w+\) )?response parameter/.exec(message)
  if (parameter) {
    const name = parameter[1] ?? parameter[2] ?? ''
    const found = `response-${name}`
    return refused(isSsoCheck(found) ? found : 'oidc-response', `the ${name} of this login`, message, error)
  }
  return refused('oidc-response', 'a response as OpenID Connect defines it', message, error)
}

/** Details that the library adds to its errors about claims. */
function detailsOf(error: unknown): {
  readonly claim: string | undefined
  readonly claims: Readonly<Record<string, unknown>> | undefined
  readonly expected: unknown
} {
  const cause = error instanceof Error ? error.cause : undefined
  const { claim, claims, expected } = isObject(cause) ? cause : {}
  return {
    claim: typeof claim === 'string' ? claim : undefined,
    claims: isObject(claims) ? claims : undefined,
    expected,
  }
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause instanceof Error && causes.length < 10; cause = cause.cause) causes.push(cause)
  return causes
}

const describe = (code: string, description: string | undefined): string =>
  description === undefined ? code : `${code}: ${description}`
