import { refused } from '../sso/refusal.ts'
import { networkOf } from '../../accounts/network.ts'
import type { Client, Session } from '../../accounts/sessions.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import type { LoginFlow, ProviderDisplay, ProviderPolicy } from '../sso/identity-provider.ts'
import type { LoginFlows } from '../sso/login-flows.ts'
import { type LoginRequest, ProviderChoice, type ProviderOptions } from '../sso/provider-choice.ts'
import type { CompletedSignOn, LoginTarget, SignOn } from '../sso/sign-on.ts'
import { discoveryRequest } from './discovery.ts'
import type { DirectoryHits, DirectoryQuestion, FederationLogin, SamlProvider } from './provider.ts'
import { type LogoutMessage, type LogoutStep, SingleLogout } from './single-logout.ts'
export type { LogoutMessage } from './single-logout.ts'

/** One identity provider and the users that it can sign in. */
export interface SamlLogin {
  readonly provider: SamlProvider
  readonly policy: ProviderPolicy
  readonly display: ProviderDisplay
}

/** A request for a sign-on, which can name a provider inside a federation. */
interface SamlLoginRequest extends LoginRequest {
  /** The identity provider that the user has chosen. */
  readonly entityId?: string | undefined
  /** The browser comes back from a discovery service. */
  readonly isDiscovered?: boolean
}

interface Dependencies {
  readonly signOn: SignOn
  readonly flows: LoginFlows
  readonly system: System
  /** Ends the threads that check responses. */
  readonly close: () => Promise<void>
}

/** The data that arrives through the browser. */
interface SamlReturn {
  /** The form field `SAMLResponse`. */
  readonly encoded: string
  readonly relayState: string | undefined
  /** The provider that the address names. */
  readonly idp: string | undefined
}

/** Signing in by SAML 2.0 with one or more identity providers (I5.3, D8). */
export class SamlSignOn extends ProviderChoice<SamlLogin> {
  readonly #deps: Dependencies
  readonly #logout: SingleLogout

  constructor(deps: Dependencies, options: ProviderOptions<SamlLogin>) {
    super(options)
    this.#deps = deps
    this.#logout = new SingleLogout(deps)
  }

  /** The federation with this name, and its relying party. @throws {InvalidInput} `unknown-idp` for anything else */
  chooseFederation(idp: string | undefined): { readonly provider: SamlProvider; readonly federation: FederationLogin } {
    const { provider } = this.choose(idp, undefined)
    const { federation } = provider
    if (federation) return { provider, federation }
    throw new InvalidInput('unknown-idp', `${provider.name} is a single identity provider: there is nothing to choose.`)
  }

  /** Providers of a federation that users can choose. @throws {InvalidInput} `unknown-idp` */
  async search(idp: string | undefined, question: DirectoryQuestion): Promise<DirectoryHits> {
    return await this.chooseFederation(idp).federation.members.search(question)
  }

  /**
   * Checks provider and redirect targets before the browser is sent away (D8.1, D8.7).
   * @throws {InvalidInput} `unknown-idp`, `invalid-redirect` @throws {SsoRefused} @throws {Overloaded}
   */
  async begin(request: SamlLoginRequest, client: Client): Promise<AuthRedirect> {
    const { provider } = this.choose(request.idp, request.username)
    const { federation } = provider
    const target = this.targetOf(request)
    if (federation) return await this.#beginInFederation(provider, federation, { ...request, ...target }, client)
    const { redirect } = await this.#deps.signOn.begin(provider.name, target, client, flow => provider.begin(flow))
    return redirect
  }

  /**
   * Sends the browser to the provider that the user has chosen; without a choice, to the discovery service, which returns the browser with
   * a choice.
   */
  async #beginInFederation(
    provider: SamlProvider,
    federation: FederationLogin,
    request: SamlLoginRequest & LoginTarget & { readonly fallbackFailureUrl?: string | undefined },
    client: Client,
  ): Promise<AuthRedirect> {
    const { signOn } = this.#deps
    const entityId = request.entityId ?? (await onlyProviderOf(federation, request.username))
    if (entityId !== undefined) {
      const target = { ...request, bound: { entityId } }
      return (await signOn.begin(provider.name, target, client, flow => provider.begin(flow))).redirect
    }
    if (!request.isDiscovered) return { kind: 'redirect', url: discoveryRequest(provider, federation, request) }
    // Without this, a discovery service that returns no choice would get the browser back for ever.
    const error = refused('discovery', 'the choice of an identity provider', 'none')
    throw await signOn.reported(error, provider.name, request.failureUrl ?? request.fallbackFailureUrl, client)
  }

  /**
   * Completes the sign-on that a response belongs to. The flow is found by RelayState and consumed; nothing depends on a
   * cookie (D8.2). @throws {InvalidInput} `unknown-idp` @throws {SsoRefused} @throws {Overloaded}
   */
  async complete({ encoded, relayState, idp }: SamlReturn, client: Client): Promise<CompletedSignOn> {
    const { successUrl, failureUrl } = this.options
    const found = relayState === undefined ? undefined : await this.#deps.flows.consume(relayState)
    const flow = found?.isLogout ? undefined : found
    const { provider, policy } = this.choose(flow?.provider ?? idp, undefined)
    return await this.#deps.signOn.complete({
      policy,
      client,
      flow,
      successUrl: flow?.successUrl ?? successUrl,
      failureUrl: flow?.failureUrl ?? failureUrl,
      verify: async () => {
        requireSameProvider(provider.name, flow, idp)
        const identity = await provider.finish(encoded, flow, networkOf(client.address))
        if (identity.logoutKeys) await this.#logout.requireOpen(provider, identity)
        return identity
      },
    })
  }

  /**
   * Ends the session of a user at the provider that signed them in, if a setting says so. The session here has ended before.
   * @returns how the browser goes to the provider; `undefined` if it stays here
   */
  async beginLogout(session: Session, client: Client): Promise<AuthRedirect | undefined> {
    const login = this.find(session.provider)
    return login && (await this.#logout.begin(login.provider, session, client))
  }

  /** A message of single logout that a provider sends to its address here. @throws {NotFound} @throws {InvalidInput} @throws {Overloaded} */
  async receiveLogout(idp: string, message: LogoutMessage, client: Client): Promise<LogoutStep> {
    const login = this.find(idp)
    if (!login) throw new NotFound('not-found', 'There is no identity provider with this name.')
    return await this.#logout.receive(login.provider, message, client)
  }

  async close(): Promise<void> {
    await this.#deps.close()
  }
}

/** The provider that publishes the domain of this address as its scope, if it is the only one. */
async function onlyProviderOf({ members }: FederationLogin, username: string | undefined): Promise<string | undefined> {
  const domain = username?.split('@')[1]
  if (domain === undefined) return undefined
  const { hits } = await members.search({ domain, languages: [] })
  return hits.length === 1 ? hits[0]?.entityId : undefined
}

/** A sign-on that began with one provider cannot be completed at the address of another. */
function requireSameProvider(provider: string, flow: LoginFlow | undefined, idp: string | undefined): void {
  if (flow === undefined || idp === undefined || idp === provider) return
  throw refused('idp', provider, idp)
}
