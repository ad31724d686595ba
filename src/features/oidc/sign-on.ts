import { networkOf } from '../../accounts/network.ts'
import type { Client, Session } from '../../accounts/sessions.ts'
import { digestOf } from '../../accounts/tokens.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { ProviderDisplay, ProviderPolicy } from '../sso/identity-provider.ts'
import type { LoginFlows } from '../sso/login-flows.ts'
import { SsoRefused, refused } from '../sso/refusal.ts'
import { type LoginRequest, ProviderChoice, type ProviderOptions } from '../sso/provider-choice.ts'
import type { CompletedSignOn, SignOn } from '../sso/sign-on.ts'
import { issuerOf, type OidcProvider } from './provider.ts'

/** One provider and the users that it can sign in. */
export interface OidcLogin {
  readonly provider: OidcProvider
  readonly policy: ProviderPolicy
  readonly display: ProviderDisplay
}

interface Dependencies {
  readonly signOn: SignOn
  readonly flows: LoginFlows
  readonly system: System
}

/** The data with which the browser returns from the provider. */
interface OidcReturn {
  readonly state: string | undefined
  /** The whole query, with its question mark. */
  readonly query: string
  /** The secret that the browser keeps in a cookie. */
  readonly browser: string | undefined
}

const VERIFIER_BYTES = 32

/** Signing in by OpenID Connect with one or more providers (D26). */
export class OidcSignOn extends ProviderChoice<OidcLogin> {
  readonly #deps: Dependencies

  constructor(deps: Dependencies, options: ProviderOptions<OidcLogin>) {
    super(options)
    this.#deps = deps
  }

  /**
   * Checks provider and redirect targets before the browser is sent away. @param browser the secret in the browser's cookie
   * @throws {InvalidInput} `unknown-idp`, `invalid-redirect` @throws {SsoRefused} @throws {Overloaded}
   */
  async begin({ idp, username, ...request }: LoginRequest, browser: string, client: Client): Promise<string> {
    const { provider } = this.choose(idp, username)
    const bound = { browser: digestOf(browser), verifier: this.#newSecret() }
    const target = { ...this.targetOf(request), bound }
    const { redirect } = await this.#deps.signOn.begin(provider.name, target, client, flow =>
      provider.begin(flow, username),
    )
    return redirect.url
  }

  /**
   * Completes the sign-on that `state` names, in the browser that began it. The sign-on is consumed either way.
   * @throws {SsoRefused} @throws {Overloaded}
   */
  async complete({ state, query, browser }: OidcReturn, client: Client): Promise<CompletedSignOn> {
    const { successUrl, failureUrl } = this.options
    const { signOn, flows } = this.#deps
    const flow = state === undefined ? undefined : await flows.consume(state)
    const login = flow && this.find(flow.provider)
    if (!flow || !login) {
      const error = refused('state', 'a login begun here', 'none, or one that is over')
      throw await signOn.reported(error, 'oidc', failureUrl, client)
    }
    return await signOn.complete({
      policy: login.policy,
      client,
      flow,
      successUrl: flow.successUrl ?? successUrl,
      failureUrl: flow.failureUrl ?? failureUrl,
      verify: async () => {
        if (browser === undefined || digestOf(browser) !== flow.browser) {
          throw refused(
            'browser',
            'the browser that began the login',
            browser === undefined ? 'no cookie of a login' : 'the cookie of another one',
          )
        }
        return await login.provider.finish(flow, query, networkOf(client.address))
      },
    })
  }

  /**
   * The address at which a browser ends its session at the provider after its session here has ended; `undefined` if the session there goes
   * on.
   * @param returnTo a page of this service that the provider knows
   */
  async logoutUrl({ provider: name, providerSession }: Session, returnTo: string): Promise<string | undefined> {
    const login = this.find(name)
    if (!login?.provider.endsSession) return undefined
    // After a restart the configuration has not been read yet. If it cannot be, the page says that the session there may be open.
    await login.provider.metadata.current().catch(() => undefined)
    return await login.provider.endSessionUrl(returnTo, providerSession)
  }

  /** A new secret for the cookie of a browser. */
  newBrowser(): string {
    return this.#newSecret()
  }

  /**
   * Ends the sessions that a logout token of a provider names, on all nodes (Back-Channel Logout 1.0).
   * @throws {InvalidInput} `invalid-logout-token`
   */
  async endLogins(token: string, client: Client): Promise<void> {
    const { signOn, flows } = this.#deps
    const stated = issuerOf(token)
    const login = this.providers.find(
      ({ provider }) => provider.issuer === stated?.issuer && stated.audiences.includes(provider.clientId),
    )
    if (!login) throw new InvalidInput('invalid-logout-token', 'The token is not from a provider of this service.')
    const { provider } = login
    try {
      const { sid, subject, once } = await provider.readLogout(token)
      await flows.consumeAssertionId(provider.name, `logout:${once.id}`, once.until)
      if (sid !== undefined) await signOn.endLogins(provider.name, sid, client)
      else await signOn.endLoginsOf(provider.name, { issuer: provider.issuer, subject: subject ?? '' }, client)
    } catch (error) {
      if (!(error instanceof SsoRefused)) throw error
      const reported = await signOn.reported(error, provider.name, undefined, client)
      throw new InvalidInput('invalid-logout-token', `The logout token was refused (${error.failed.check}).`, {
        cause: reported,
      })
    }
  }

  #newSecret(): string {
    return Buffer.from(this.#deps.system.randomBytes(VERIFIER_BYTES)).toString('base64url')
  }
}
