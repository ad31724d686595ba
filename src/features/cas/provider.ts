import { SsoRefused, refused } from '../sso/refusal.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { type Fetch, FetchFailed, fetchText } from '../../base/fetch.ts'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import type { VerifiedIdentity, LoginFlow } from '../sso/identity-provider.ts'
import { withQuery } from '../../base/with-query.ts'
import { type CasUser, type CasVersion, verifyReply } from './reply.ts'
import { isTicket, validationRequest } from './ticket.ts'

export interface CasOptions {
  readonly name: string
  readonly version: CasVersion
  /** Ends in a slash. */
  readonly serverUrl: string
  /** Without it `login` below the server's address. */
  readonly loginUrl: string | undefined
  /** Where people come back to: from the settings, never from a request; a port the system chose is known late. */
  readonly serviceUrl: () => string
  readonly verifyTls: boolean
  readonly clockSkew: Milliseconds
  /** Maximum size of a reply; a larger reply is refused. */
  readonly maxBytes: Bytes
  /** Limit for the whole validation; 5 s by default (D9.1). */
  readonly timeout?: Milliseconds
}

const TIMEOUT: Milliseconds = 5000
/** Strangers cause these calls: they may not use up the sockets of the service. Networks are served round-robin. */
const MAX_VALIDATIONS = { concurrency: 32, queue: 128, what: 'sign-ons' }

/**
 * The CAS server as seen from here (D9). A ticket is taken only together with the flow in which this very browser was sent
 * away, because CAS has no state of its own to tie the two together.
 */
export class CasProvider {
  readonly name: string
  readonly #options: CasOptions
  readonly #system: System
  readonly #validations = new Semaphore(MAX_VALIDATIONS)

  constructor(options: CasOptions, { system }: { readonly system: System }) {
    this.name = options.name
    this.#options = options
    this.#system = system
  }

  get issuer(): string {
    return this.#options.serverUrl
  }

  begin(): Extract<AuthRedirect, { kind: 'redirect' }> {
    return { kind: 'redirect', url: withQuery(this.#loginUrl, { service: this.#options.serviceUrl() }) }
  }

  /**
   * True when the login URL asks the CAS server not to show its form: a browser without a session there then
   * returns without a ticket.
   */
  get isGateway(): boolean {
    return this.#isSet('gateway')
  }

  get #loginUrl(): string {
    const { loginUrl, serverUrl } = this.#options
    return loginUrl ?? `${serverUrl}login`
  }

  #isSet(parameter: 'gateway' | 'renew'): boolean {
    return new URL(this.#loginUrl).searchParams.get(parameter) === 'true'
  }

  /**
   * Has the ticket validated, once. @param flow over already: a second ticket needs another. @param network that brought the ticket
   * @throws {SsoRefused} @throws {Overloaded}
   */
  async finish(flow: LoginFlow, ticket: string, network = ''): Promise<VerifiedIdentity> {
    if (flow.provider !== this.name) throw refused('login-flow', `a login by ${this.name}`, flow.provider)
    requireTicket(ticket)
    const user = await this.#validate(ticket, flow.requestId, network)
    // With `renew` the server issues a ticket only to users who have just entered their password.
    const authenticated = this.#isSet('renew') ? this.#system.now() : user.authenticated
    return { ...user, issuer: this.issuer, authenticated, logoutKeys: [ticket] }
  }

  /**
   * Has a ticket validated that the CAS server did not issue and returns why it refused: proof that this host reaches the server, that
   * it speaks this version and knows this service. @throws {SsoRefused} `cas-unreachable`, `cas-reply`, …
   */
  async probe(): Promise<string> {
    const random = Buffer.from(this.#system.randomBytes(16)).toString('hex')
    try {
      await this.#validate(`ST-doctor-${random}`, `_${random}`, '')
    } catch (error) {
      if (error instanceof SsoRefused && error.failed.check === 'cas-failure') return error.failed.received ?? ''
      throw error
    }
    throw refused('cas-reply', 'a refusal of a ticket that was never issued', 'the name of a user')
  }

  async #validate(ticket: string, requestId: string, network: string): Promise<CasUser> {
    const { version, serverUrl, verifyTls, clockSkew, maxBytes, timeout = TIMEOUT } = this.#options
    const system = this.#system
    const serviceUrl = this.#options.serviceUrl()
    const issueInstant = new Date(system.now()).toISOString()
    const renews = this.#isSet('renew')
    const asked = { version, serverUrl, serviceUrl, ticket, requestId, issueInstant, renews }
    const limits = { timeout, maxBytes, verifyTls }
    return await this.#validations.run(
      async () => {
        const text = await fetchReply({ ...validationRequest(asked), ...limits })
        return verifyReply(version, text, { serviceUrl, now: system.now(), clockSkew })
      },
      { of: network },
    )
  }
}

/** @throws {SsoRefused} */
function requireTicket(ticket: string): void {
  if (isTicket(ticket)) return
  // A malformed ticket may contain a valid one, so it is not logged.
  const received = `${ticket.length} characters, beginning ${JSON.stringify(ticket.slice(0, 3))}`
  throw refused('ticket', 'ST- and up to 1024 of A-Z, a-z, 0-9, ., _ and -', received)
}

async function fetchReply(fetch: Fetch): Promise<string> {
  try {
    return await fetchText(fetch)
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    const expected = error.isTooLarge
      ? `at most ${fetch.maxBytes} bytes`
      : 'an answer of the CAS server with status 200'
    // The ticket may still be valid, so it is not logged.
    const received = error.message.replace(fetch.url, fetch.url.replace(/\?.*/s, ''))
    throw refused(error.isTooLarge ? 'cas-reply-size' : 'cas-unreachable', expected, received)
  }
}
