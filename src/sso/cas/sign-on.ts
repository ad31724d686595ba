import { networkOf } from '../../accounts/caller.ts'
import type { Client, Session } from '../../accounts/sessions.ts'
import type { LoginFlow, ProviderDisplay, ProviderPolicy } from '../identity-provider.ts'
import type { LoginFlows } from '../login-flows.ts'
import { refused } from '../refusal.ts'
import type { CompletedSignOn, LoginTarget, SignOn } from '../sign-on.ts'
import { withQuery } from '../redirect-targets.ts'
import { ticketInLogoutRequest } from './ticket.ts'
import type { CasProvider } from './provider.ts'

interface Dependencies {
  readonly signOn: SignOn
  readonly flows: LoginFlows
}

export interface CasSignOnOptions extends LoginTarget {
  readonly provider: CasProvider
  readonly policy: ProviderPolicy
  readonly face: ProviderDisplay
  /** A sign-out here ends the session at the CAS server as well. */
  readonly endsSession: boolean
}

/** What the browser of a sign-on brings back: the flow that its cookie names, and the ticket in the address. */
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

  get face(): ProviderDisplay {
    return this.#options.face
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
   * Single logout: ends the session that was opened with the ticket which the message names. The ticket is the proof, so the
   * message needs no other, and its sender does not learn whether there was such a session (D19.11). @throws {InvalidInput}
   */
  async endLogin(logoutRequest: string, client: Client): Promise<void> {
    await this.#deps.signOn.endLogins(this.name, ticketInLogoutRequest(logoutRequest), client)
  }

  /**
   * Where a browser whose session here has ended goes to end the one at the CAS server; `undefined` if that stays.
   * @param returnTo a page of this service; CAS 3 takes it as `service`, CAS 2 as `url`
   */
  logoutUrl({ provider }: Pick<Session, 'provider'>, returnTo: string): string | undefined {
    const { endsSession, face } = this.#options
    if (!endsSession || provider !== this.name || face.logoutUrl === undefined) return undefined
    return withQuery(face.logoutUrl, { service: returnTo, url: returnTo })
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
