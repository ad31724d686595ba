import type { Audit } from '../../accounts/audit.ts'
import type { SignedIn, SignIn, WaitingSignIn } from '../../accounts/sign-in.ts'
import { userLogoutKey } from '../../accounts/session-lists.ts'
import type { Client, Session, Sessions } from '../../accounts/sessions.ts'
import type { SsoSubject } from '../../accounts/provider-links.ts'
import type { AccountMatcher } from './account-matcher.ts'
import { Overloaded } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { SsoFailures } from './failures.ts'
import type { LatestSignOns } from './latest-sign-ons.ts'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import type { LoginFlow, ProviderPolicy, VerifiedIdentity } from './identity-provider.ts'
import type { LoginFlows } from './login-flows.ts'
import { SsoRefused } from './refusal.ts'

interface Dependencies {
  readonly flows: LoginFlows
  readonly accounts: AccountMatcher
  readonly sessions: Sessions
  /** Opens the session, after the second factor of a user who has one. */
  readonly signIn: Pick<SignIn, 'begin'>
  readonly failures: SsoFailures
  readonly audit: Audit
  /** Keeps what the providers state, for administrators. */
  readonly latest: Pick<LatestSignOns, 'keep'>
  readonly system: System
}

/** The address to which the browser is sent at the end of a sign-on; checked before. */
export interface LoginTarget {
  readonly successUrl: string | undefined
  readonly failureUrl: string | undefined
}

/** A sign-on that begins. */
export interface NewLogin extends LoginTarget {
  readonly fallbackFailureUrl?: string | undefined
  /** Ties the sign-on to its browser, for protocols that return with a GET. */
  readonly bound?: Pick<LoginFlow, 'browser' | 'verifier' | 'entityId'>
}

/** A sign-on to complete. */
interface SignOnAttempt extends LoginTarget {
  readonly policy: ProviderPolicy
  readonly client: Client
  /** The flow that was consumed for it, if there was one. */
  readonly flow: LoginFlow | undefined
  /** Checks the provider's response. @throws {SsoRefused} @throws {Overloaded} */
  readonly verify: () => Promise<VerifiedIdentity>
}

/** A sign-on that the provider and the checks here have accepted. */
export type CompletedSignOn = SignedIn | WaitingSignIn

/**
 * Signs users in through identity providers. Every protocol completes its sign-ons here, so that none can omit a step: each
 * assertion is used once, the user is matched by the same rules, and refusals are logged, listed and written to the audit
 * trail.
 */
export class SignOn {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Starts a sign-on and returns how the browser is sent to the provider.
   * @param redirect makes the request of the protocol
   * @throws {SsoRefused} reported, with the failure URL @throws {Overloaded}
   */
  async begin<Redirect extends AuthRedirect>(
    provider: string,
    { successUrl, failureUrl, fallbackFailureUrl, bound }: NewLogin,
    client: Client,
    redirect: (flow: LoginFlow) => Redirect | Promise<Redirect>,
  ): Promise<{ readonly flow: LoginFlow; readonly redirect: Redirect }> {
    const flow = await this.#deps.flows.create({ provider, successUrl, failureUrl, ...bound }, client.address)
    try {
      return { flow, redirect: await redirect(flow) }
    } catch (error) {
      throw await this.reported(error, provider, failureUrl ?? fallbackFailureUrl, client)
    }
  }

  /** @throws {SsoRefused} reported, with the failure URL @throws {Overloaded} The flow can then be used again. */
  async complete(attempt: SignOnAttempt): Promise<CompletedSignOn> {
    const { policy, client, flow, successUrl, failureUrl } = attempt
    const { flows, accounts, signIn, latest, system } = this.#deps
    try {
      const identity = await attempt.verify()
      const { once } = identity
      if (once) await flows.consumeAssertionId(policy.name, once.id, once.until)
      latest.keep(policy.name, identity)
      const user = await accounts.match(identity, policy, client)
      const lifetime = {
        maximum: policy.maxAge,
        notAfter: identity.sessionEnds,
        provider: policy.name,
        // A session at the provider may be days old: unknown is not fresh.
        authenticated: Math.min(identity.authenticated ?? 0, system.now()),
        logoutKeys: identity.logoutKeys?.map(key => logoutKeyOf(policy.name, key)),
        providerSession: identity.providerSession,
      }
      const { authnContext } = identity
      const provesFactor = authnContext !== undefined && policy.factorContexts?.includes(authnContext) === true
      return await signIn.begin({ user, mechanism: policy.name, lifetime, client, successUrl, provesFactor })
    } catch (error) {
      if (error instanceof Overloaded && flow) await flows.restore(flow)
      throw await this.reported(error, policy.name, failureUrl, client)
    }
  }

  /**
   * Ends the sessions that the provider opened with this key, on all nodes. An unknown key changes nothing.
   * @param fits finds further sessions of the same users, by the stored data of the provider's session
   */
  async endLogins(
    provider: string,
    logoutKey: string,
    client: Client,
    fits?: (providerSession: string | undefined) => boolean,
  ): Promise<void> {
    const isFurther = fits && ((session: Session) => session.provider === provider && fits(session.providerSession))
    for (const { userId } of await this.#deps.sessions.endByLogoutKey(logoutKeyOf(provider, logoutKey), isFurther)) {
      await this.#deps.audit.record({
        event: 'logout',
        userId,
        address: client.address,
        detail: { mechanism: provider },
      })
    }
  }

  /** Ends all sessions of this subject that the provider opened, on all nodes. */
  async endLoginsOf(provider: string, subject: SsoSubject, client: Client): Promise<void> {
    const { accounts, sessions, audit } = this.#deps
    const user = await accounts.find(subject)
    if (!user) return
    // Sign-ins that wait for a second factor.
    await sessions.endByLogoutKey(userLogoutKey(provider, user.id))
    for (const session of await sessions.list(user)) {
      if (session.provider !== provider || !(await sessions.end(session.token))) continue
      await audit.record({
        event: 'logout',
        userId: user.id,
        address: client.address,
        detail: { mechanism: provider },
      })
    }
  }

  /** Reports a refusal and returns the error for the client. Other errors are returned unchanged. */
  async reported(error: unknown, provider: string, failureUrl: string | undefined, client: Client): Promise<unknown> {
    if (!(error instanceof SsoRefused)) return error
    const correlation = this.#deps.failures.report(error, provider)
    const detail = { mechanism: provider, why: error.failed.check, correlation }
    // Without a user id: rows without a user are limited in number, because strangers cause them.
    await this.#deps.audit.record({ event: 'login-failed', address: client.address, detail })
    return error.reportedAs(correlation, failureUrl)
  }
}

/** No provider can end the sessions of another one. */
const logoutKeyOf = (provider: string, key: string): string => `${provider}\n${key}`
