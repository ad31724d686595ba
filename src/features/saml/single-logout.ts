import { networkOf } from '../../accounts/network.ts'
import type { Client, Session } from '../../accounts/sessions.ts'
import { InvalidInput, Overloaded } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import type { LoginFlow, VerifiedIdentity } from '../sso/identity-provider.ts'
import type { LoginFlows } from '../sso/login-flows.ts'
import { SsoRefused, refused } from '../sso/refusal.ts'
import type { SignOn } from '../sso/sign-on.ts'
import type { LogoutRequest, LogoutResponse, ReceivedLogout, VerifiedLogout } from './logout-message.ts'
import { SUCCESS } from './names.ts'
import { isOfUser, issuerOfSession, sessionKey, userKey } from './provider-session.ts'
import type { SamlProvider } from './provider.ts'

interface Dependencies {
  readonly signOn: SignOn
  readonly flows: LoginFlows
  readonly system: System
}

/** A message as it arrived. */
export interface LogoutMessage {
  readonly received: ReceivedLogout
  readonly relayState: string | undefined
}

/** How it goes on in the browser that brought the message. */
export type LogoutStep =
  /** To the provider, with our response. */
  | { readonly kind: 'answer'; readonly redirect: AuthRedirect }
  /** The sign-out leads to the sign-in page. `isComplete`: the sessions at the provider and at other services have ended as well. */
  | { readonly kind: 'done'; readonly isComplete: boolean }

/** Providers put at most 80 bytes into it (SAML bindings 3.4.3), some more. */
const MAX_RELAY_STATE = 1_024
const ID_BYTES = 20

/** SAML single logout with all providers, in both directions (D30). */
export class SingleLogout {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Sends a browser whose session here has ended to the provider, to end the session there. @returns `undefined` if the session stays: the
   * setting is off, or the provider has no address for it. A problem is reported and ends nothing: the user is signed out here already.
   */
  async begin(provider: SamlProvider, session: Session, client: Client): Promise<AuthRedirect | undefined> {
    const { providerSession } = session
    if (provider.logout !== 'on' || providerSession === undefined) return undefined
    const { signOn, flows } = this.#deps
    const nowhere = { successUrl: undefined, failureUrl: undefined }
    try {
      const entityId = issuerOfSession(providerSession)
      const flow = await flows.create({ provider: provider.name, entityId, ...nowhere, isLogout: true }, client.address)
      return await provider.requestLogout(flow, providerSession)
    } catch (error) {
      if (!(error instanceof SsoRefused || error instanceof Overloaded)) throw error
      await signOn.reported(error, provider.name, undefined, client)
      return undefined
    }
  }

  /** @throws {InvalidInput} `invalid-logout-message` for a request that is refused @throws {Overloaded} */
  async receive(provider: SamlProvider, message: LogoutMessage, client: Client): Promise<LogoutStep> {
    const { relayState } = message
    const flow = relayState === undefined ? undefined : await this.#deps.flows.consume(relayState)
    const own = flow?.isLogout && flow.provider === provider.name ? flow : undefined
    try {
      const logout = await this.#read(provider, message, own, networkOf(client.address))
      if (logout.kind === 'response') return this.#conclude(logout)
      return await this.#carryOut(provider, logout, message, client)
    } catch (error) {
      if (error instanceof Overloaded && flow) await this.#deps.flows.restore(flow)
      if (!(error instanceof SsoRefused)) throw error
      const cause = await this.#deps.signOn.reported(error, provider.name, undefined, client)
      // The browser is in the middle of a sign-out that has ended here: its page says that the provider's session may be open.
      if (own) return { kind: 'done', isComplete: false }
      const { check } = error.failed
      throw new InvalidInput('invalid-logout-message', `The message was refused (${check}).`, { cause })
    }
  }

  /** Refuses an assertion of a session that the provider has already ended (SAML Core 3.7.3.1). @throws {SsoRefused} */
  async requireOpen(provider: SamlProvider, { logoutKeys = [], authenticated }: VerifiedIdentity): Promise<void> {
    for (const key of logoutKeys) {
      if (!(await this.#deps.flows.isSignedOut(provider.name, key, authenticated))) continue
      throw refused('session-ended', 'a session that goes on at the provider', 'one that the provider has ended')
    }
  }

  async #read(
    provider: SamlProvider,
    message: LogoutMessage,
    flow: LoginFlow | undefined,
    network: string,
  ): Promise<VerifiedLogout> {
    const { received, relayState } = message
    if (provider.logout === 'off') {
      throw refused('single-logout', 'single-logout=accept or on', 'off')
    }
    const length = Buffer.byteLength(relayState ?? '')
    if (length > MAX_RELAY_STATE) {
      const expected = `at most ${MAX_RELAY_STATE} bytes`
      throw refused('relay-state', expected, `${length} bytes`)
    }
    return await provider.readLogout(received, flow, network)
  }

  /** Ends the sessions that the request names, then answers. */
  async #carryOut(
    provider: SamlProvider,
    request: LogoutRequest,
    { relayState }: LogoutMessage,
    client: Client,
  ): Promise<LogoutStep> {
    const { signOn, flows, system } = this.#deps
    const { id, issuer, name, sessionIndexes, issued, until } = request
    await flows.consumeAssertionId(provider.name, `logout:${issuer}:${id}`, until)
    if (sessionIndexes.length === 0) {
      const key = userKey(issuer, name)
      await flows.noteSignedOut(provider.name, key, until, issued)
      await signOn.endLogins(provider.name, key, client, noted => isOfUser(noted, issuer, name))
    } else {
      for (const index of sessionIndexes) {
        const key = sessionKey(issuer, name, index)
        // First: a sign-on with an assertion of this session that arrives now is refused.
        await flows.noteSignedOut(provider.name, key, until)
        await signOn.endLogins(provider.name, key, client)
      }
      // Sessions whose assertion named none.
      await signOn.endLogins(provider.name, sessionKey(issuer, name), client)
    }
    const answerId = `_${Buffer.from(system.randomBytes(ID_BYTES)).toString('hex')}`
    const redirect = await provider.answerLogout(answerId, request, relayState)
    return redirect ? { kind: 'answer', redirect } : { kind: 'done', isComplete: false }
  }

  #conclude({ outcome, status }: LogoutResponse): LogoutStep {
    if (outcome === 'complete') return { kind: 'done', isComplete: true }
    throw refused('logout-status', SUCCESS, status)
  }
}
