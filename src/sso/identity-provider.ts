import type { Milliseconds } from '../base/units.ts'

/** A login under way: made when somebody is sent to a provider, found again when he comes back. */
export interface LoginFlow {
  /** Opaque, unguessable, at most 80 bytes: what SAML calls RelayState. */
  readonly id: string
  /** Name of the provider it was begun with; no other may finish it. */
  readonly provider: string
  /** Id of the request that the answer must refer to. */
  readonly requestId: string
  /** Where to go afterwards; checked when the flow was begun. */
  readonly successUrl: string | undefined
  readonly failureUrl: string | undefined
}

/** How to get to the provider. */
export type AuthRedirect =
  | { readonly kind: 'redirect'; readonly url: string }
  /** A form that the browser posts to `action`. */
  | { readonly kind: 'form'; readonly action: string; readonly fields: Readonly<Record<string, string>> }

/** Whom a provider says somebody is, after all its checks. */
export interface VerifiedIdentity {
  /** As received; {@link SignOn} normalises it. */
  readonly name: string
  /** An assertion that may be used once, and until when somebody could try to use it again. */
  readonly once?: { readonly id: string; readonly until: Milliseconds }
}

/** What sign-on needs to know of a provider to judge whose word counts for whom (D8.4, D9.2). */
export interface ProviderPolicy {
  /** Unique among all providers; appears in logs and in the audit trail. */
  readonly name: string
  /** Creates users it does not know. */
  readonly provisions: boolean
  /** Mail domains whose users it may assert; empty: those that no other provider claims. `undefined`: names are no addresses. */
  readonly domains: readonly string[] | undefined
  /** Longest life of a login, in seconds; `undefined` takes the cookie's. */
  readonly maxAge: number | undefined
}
