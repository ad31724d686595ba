import type { Caller } from './caller.ts'
import type { Queries } from '../stores/database.ts'
import type { Client } from './sessions.ts'
import type { TokenGrant } from './token-scopes.ts'

/** What a request carries in its header `Authorization`. */
export interface PresentedCredentials {
  readonly scheme: 'bearer' | 'basic'
  /** The bearer token, or the password of HTTP Basic. */
  readonly text: string
  /** The user name of HTTP Basic, normalised; empty for a bearer token. */
  readonly name: string
}

/** A kind of credentials that a feature brings, beside the cookie of a session and passwords with HTTP Basic. */
export interface CredentialKind {
  /** Whether the credentials have the form of this kind. Credentials of no kind are a user name and a password, or are ignored. */
  readonly isOf: (presented: PresentedCredentials) => boolean
  /** @throws {Unauthenticated} the session cookie of the request, if any, does not count */
  readonly caller: (presented: PresentedCredentials, client: Client) => Promise<Caller>
  /** Whether what it has granted has not ended since, for work that goes on after its request; absent where it grants nothing. */
  readonly isStillValid?: (queries: Queries, grant: TokenGrant) => Promise<boolean>
}
