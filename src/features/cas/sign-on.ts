import { networkOf } from '../../accounts/network.ts'
import type { Client, Session } from '../../accounts/sessions.ts'
import type { LoginFlow, ProviderDisplay, ProviderPolicy } from '../sso/identity-provider.ts'
import type { LoginFlows } from '../sso/login-flows.ts'
import type { ProviderLogin } from '../sso/running-protocols.ts'
import { refused } from '../sso/refusal.ts'
import type { CompletedSignOn, LoginTarget, SignOn } from '../sso/sign-on.ts'
import { withQuery } from '../../base/with-query.ts'
import { ticketInLogoutRequest } from './ticket.ts'
import type { CasProvider } from './provider.ts'

interface Dependencies {
  readonly signOn: SignOn
  readonly flows: LoginFlows
}

export interface CasSignOnOptions extends LoginTarget {
  readonly provider: CasProvider
  readonly policy: ProviderPolicy
  readonly display: ProviderDisplay
  /** A sign-out here ends the session at the CAS server as well. */
  readonly endsSession: boolean
}

/** The data with which the browser returns from a sign-on: the flow that its cookie names, and the ticket in the address. */
interface CasReturn {
  readonly flow: LoginFlow
  readonly ticket: string
}

/** Signing in by a CAS server (I5.4, D9). */
export class CasSignOn {
  readonly #deps: Dependencies
  readonly #options: CasSignOnOptions

  constructor(deps: Dependencies, options: CasSignOnOptions) {
    this.#deps = deps
    this.#options = options
  }

  get name(): string {
    return this.#options.policy.name
  }

  get display(): ProviderDisplay {
    return this.#options.display
  }

  get login(): ProviderLogin {
    return this.#options
  }

  /**
   * Removes and returns the flow that this browser began. Of several requests with the same cookie only one
   * gets it.
   */
  async consumeFlow(id: string | undefined): Promise<LoginFlow | undefined> {
    const flow = id === undefined ? undefined : await this.#deps.flows.consume(id)
    return flow?.provider === this.name ? flow : undefined
  }

  /** @param successUrl checked by the caller. @throws {Overloaded} */
  async begin(
    successUrl: string | undefined,
    client: Client,
  ): Promise<{ readonly flow: LoginFlow; readonly url: string }> {
    const { provider } = this.#options
    const target = { successUrl, failureUrl: undefined }
    const { flow } = await this.#deps.signOn.begin(this.name, target, client, () => provider.begin())
    return { flow, url: provider.begin().url }
  }

  /** @throws {SsoRefused} @throws {Overloaded} */
  async complete({ flow, ticket }: CasReturn, client: Client): Promise<CompletedSignOn> {
    const { provider, policy, successUrl, failureUrl } = this.#options
    return await this.#deps.signOn.complete({
      policy,
      client,
      flow,
      successUrl: flow.successUrl ?? successUrl,
      failureUrl,
      verify: () => provider.finish(flow, ticket, networkOf(client.address)),
    })
  }

  /**
   * Single logout: ends the session that was opened with the ticket in the message. The ticket itself authenticates the message. The sender
   * does not learn whether the session existed (D19.11). @throws {InvalidInput}
   */
  async endLogin(logoutRequest: string, client: Client): Promise<void> {
    await this.#deps.signOn.endLogins(this.name, ticketInLogoutRequest(logoutRequest), client)
  }

  /**
   * The address at which a browser ends its session at the CAS server after its session here has ended; `undefined` if the session there
   * goes on.
   * @param returnTo a page of this service; CAS 3 takes it as `service`, CAS 2 as `url`
   */
  logoutUrl({ provider }: Pick<Session, 'provider'>, returnTo: string): string | undefined {
    const { endsSession, display } = this.#options
    if (!endsSession || provider !== this.name || display.logoutUrl === undefined) return undefined
    return withQuery(display.logoutUrl, { service: returnTo, url: returnTo })
  }

  get isGateway(): boolean {
    return this.#options.provider.isGateway
  }

  /** The refusal of a browser that the CAS server sent back without asking for a sign-on (`gateway=true`); reported. */
  async withoutSession(client: Client): Promise<unknown> {
    const error = refused('cas-gateway', 'a session at the CAS server', 'no ticket')
    return await this.#deps.signOn.reported(error, this.name, this.#options.failureUrl, client)
  }

  /** The refusal of a browser that returned without its flow; reported. */
  async withoutFlow(client: Client): Promise<unknown> {
    const expected = 'the cookie that was set a moment ago'
    const error = refused('login-flow', expected, 'none that is valid')
    return await this.#deps.signOn.reported(error, this.name, this.#options.failureUrl, client)
  }
}
