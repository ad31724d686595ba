import type { Milliseconds } from '../../base/units.ts'
import type { AttributeRules, Attributes } from './attributes.ts'

/** A sign-on in progress: created when a browser is sent to a provider, consumed when it comes back. */
export interface LoginFlow {
  /** Opaque, unguessable, at most 80 bytes: SAML's RelayState. */
  readonly id: string
  /** Name of the provider that the sign-on began with; no other provider can complete it. */
  readonly provider: string
  /** Id of the request that the response must refer to. */
  readonly requestId: string
  /** The identity provider that the user has chosen in a federation: its entity id. */
  readonly entityId?: string | undefined
  /** A digest of what the browser keeps in a cookie, for protocols that can require the cookie at the return. */
  readonly browser?: string
  /** A secret between the two requests of this flow (PKCE). */
  readonly verifier?: string
  /** Where the browser goes afterwards; checked when the flow was created. */
  readonly successUrl: string | undefined
  readonly failureUrl: string | undefined
  /** A sign-out at the provider: no sign-on can be completed with it. */
  readonly isLogout?: true
  /** Wall clock. */
  readonly expires: Milliseconds
  /** Network that the sign-on began from, for the limit of flows per address. */
  readonly network: string
}

/** The statements of a provider about a user, after all checks of the protocol. */
export interface VerifiedIdentity {
  /** The name as stated; `AccountMatcher` refuses a name that differs from its normal form in more than case. */
  readonly name: string
  /** Names the provider for account links: entity id, issuer or server address. */
  readonly issuer: string
  /** Identifies the user at the issuer; without it the normalised name does. */
  readonly subject?: string
  /** What else the provider states about the user. */
  readonly attributes?: Attributes
  /**
   * The provider does not vouch for the name, for instance an e-mail address that it has not verified. Such a name finds no
   * account and creates none: only an account that is linked to the subject can be signed in to.
   */
  readonly nameIsUnverified?: boolean
  /** An assertion that may be used once, and until when a second use would be possible. */
  readonly once?: { readonly id: string; readonly until: Milliseconds }
  /** When the provider's own session ends, wall clock; the session here ends then as well. */
  readonly sessionEnds?: Milliseconds | undefined
  /** By each of these the provider can end the session later: a secret that is new with each sign-on (a CAS ticket), or a name that a signed message repeats. */
  readonly logoutKeys?: readonly string[]
  /** The data that the session stores to end the session at the provider, in the form of the protocol. */
  readonly providerSession?: string
  /** When the provider has authenticated the user, wall clock; absent if it does not say. */
  readonly authenticated?: Milliseconds | undefined
  /** How the provider has authenticated the user: `acr` of OpenID Connect, `AuthnContextClassRef` of SAML. */
  readonly authnContext?: string | undefined
}

/** How users see a provider. */
export interface ProviderDisplay {
  readonly label: string
  /** Where users can end their session at the provider; `undefined` where no page is known. */
  readonly logoutUrl: string | undefined
}

/** The rules that decide which users a provider can sign in (D8.4, D9.2). */
export interface ProviderPolicy {
  /** Unique among all providers; appears in logs and in the audit log. */
  readonly name: string
  /** Creates users who do not exist yet. */
  readonly provisions: boolean
  /**
   * Mail domains of the users that it may sign in; empty: domains that no other provider claims.
   * `undefined`: names are not addresses.
   */
  readonly domains: readonly string[] | undefined
  /** Accepts names that are no e-mail addresses. Names that are must still be of the right domain. */
  readonly acceptsPlainNames?: boolean
  /** Maximum lifetime of a session, in seconds; `undefined` takes the cookie's. */
  readonly maxAge: number | undefined
  /** The meaning of the attributes of a user here; absent: they are ignored. */
  readonly rules?: AttributeRules | undefined
  /** Values of `authnContext` that count as a second factor (D28.10). */
  readonly factorContexts?: readonly string[] | undefined
}
