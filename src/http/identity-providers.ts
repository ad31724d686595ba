import type { Client, Session } from '../accounts/sessions.ts'
import type { RequestCookies } from './protocol/cookies.ts'

/** How the browser is sent to an identity provider. */
export type AuthRedirect =
  | { readonly kind: 'redirect'; readonly url: string }
  /** A form that the browser posts to `action`. */
  | { readonly kind: 'form'; readonly action: string; readonly fields: Readonly<Record<string, string>> }

/** The identity providers as the pages of sign-in and sign-out need them. */
export interface IdentityProviders {
  /** Whether the domain of an e-mail address can lead to a provider. */
  readonly knowDomains: boolean
  /** All of them, each with the address where a sign-on begins. */
  list(successUrl: string | undefined): ReadonlyArray<{ readonly name: string; readonly url: string }>
  /** Where the sign-on of the user with this e-mail address begins. @throws {InvalidInput} `unknown-idp` */
  urlFor(email: string, successUrl: string | undefined): string
  /** The provider with this name in the settings, and the page where users end their session there, if one is known. */
  find(provider: string): Promise<{ readonly name: string; readonly logoutUrl: string | undefined } | undefined>
  /** How a browser goes to end its session at the provider; `undefined` if it stays here. The session here has ended. */
  beginLogout(session: Session, client: Client): Promise<AuthRedirect | undefined>
  /** Ends sign-ons that this browser has begun and not completed. @returns values of `Set-Cookie` that remove its cookies */
  abandon(cookies: RequestCookies): Promise<readonly string[]>
}

/** Where a feature that signs users in by identity providers puts them. */
export interface ProviderSlot {
  /** Absent without such a feature. */
  current?: IdentityProviders
}
