import type { Client, Session } from '../../accounts/sessions.ts'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import type { RequestCookies } from '../../http/protocol/cookies.ts'
import type { ProviderDisplay, ProviderPolicy } from './identity-provider.ts'
import type { ProviderChoice } from './provider-choice.ts'
import type { PreviewedProvider } from './sign-on-preview.ts'

/** One provider, how users see it, and the users that it can sign in. */
export interface ProviderLogin extends PreviewedProvider {
  readonly policy: ProviderPolicy
  readonly display: ProviderDisplay
}

/** Where a sign-on is to begin. */
export interface WantedSignOn {
  /** Name of the provider. */
  readonly provider: string
  /** Where the browser goes afterwards, at this service; without one the settings decide. */
  readonly successUrl: string | undefined
  /** The address that the user has typed. */
  readonly email?: string
}

/** A protocol that is switched on, with its providers. It is replaced as a whole when its settings change. */
export interface RunningProtocol {
  readonly logins: readonly ProviderLogin[]
  /** Finds the provider for an e-mail address; absent for a protocol with one provider. */
  readonly choice?: Pick<ProviderChoice<ProviderLogin>, 'choose' | 'ownerOf'>
  /** The address where a sign-on begins. */
  urlOf(wanted: WantedSignOn): string
  /** The page where users end their session at the provider. @param returnTo a page of this service */
  logoutPage(provider: string, returnTo: string): Promise<string | undefined>
  /** How a browser goes to end its session at the provider; `undefined` if it stays here. */
  beginLogout(session: Session, client: Client, returnTo: string): Promise<AuthRedirect | undefined>
  /** Ends the sign-on that this browser has begun. @returns the values of `Set-Cookie` that remove its cookies */
  abandon?(cookies: RequestCookies): Promise<readonly string[]>
  /** Its member of `GET /management/sso`. */
  status(): Promise<unknown>
}

/**
 * The address at which a sign-on by one of several providers begins. Without a wanted address, the settings decide where the sign-on ends.
 * @param home the address of the pages of this service
 */
export function signOnUrl(
  at: string,
  { provider, successUrl, email }: WantedSignOn,
  { isTargetSet, home }: { readonly isTargetSet: boolean; readonly home: string },
): string {
  const target = successUrl ?? (isTargetSet ? undefined : home)
  const query = new URLSearchParams({
    idp: provider,
    ...(target === undefined ? {} : { successurl: target }),
    ...(email === undefined ? {} : { username: email }),
  })
  return `${at}?${query.toString()}`
}

/** The protocols that are switched on, in the order in which they were opened. */
export class RunningProtocols {
  readonly #running = new Map<string, RunningProtocol>()

  /** Adds the protocol, or replaces it. */
  set(name: string, protocol: RunningProtocol): void {
    this.#running.set(name, protocol)
  }

  find(name: string): RunningProtocol | undefined {
    return this.#running.get(name)
  }

  get all(): readonly RunningProtocol[] {
    return [...this.#running.values()]
  }

  get logins(): readonly ProviderLogin[] {
    return this.all.flatMap(({ logins }) => logins)
  }
}
