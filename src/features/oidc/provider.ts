import type { JWTPayload } from 'jose'
import * as client from 'openid-client'
import { isObject } from '../../base/json.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { realSystem, type System } from '../../base/system.ts'
import type { Bytes, Milliseconds, Seconds } from '../../base/units.ts'
import { type FetchedResponse, type Fetch, FetchFailed, fetchResponse } from '../../base/fetch.ts'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import type { LoginFlow, VerifiedIdentity } from '../sso/identity-provider.ts'
import type { Metadata } from '../sso/metadata-source.ts'
import { SsoRefused, refused } from '../sso/refusal.ts'
import { isOidcCheck } from './refusals.ts'
import {
  type ClaimRules,
  type Claims,
  lacksClaims,
  mergeClaims,
  readName,
  type LogoutRequest,
  readLogoutToken,
  type ExpectedToken,
  isCostlyText,
  isCostlyToken,
  requireAccessTokenHash,
  showClaim,
  unknownKeyChecks,
  type VerifiedToken,
  verifyToken,
  verifyUserinfo,
  checkIdToken,
} from './token.ts'
import type { OidcServer } from './server.ts'
import { Overloaded } from '../../base/errors.ts'
export { discoveryUrl, type OidcServer, readServer } from './server.ts'
export { type ClaimRules, issuerOf } from './token.ts'

export interface OidcProviderOptions {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  /** Absent for a public client. */
  readonly clientSecret: string | undefined
  /** Separated by spaces. */
  readonly scopes: string
  /** Requested authentication context classes, separated by spaces; a token must have one of them. */
  readonly acrValues: string | undefined
  /** Maximum time since the user authenticated at the provider. */
  readonly maxAuthenticationAge: Seconds | undefined
  /** A sign-out here ends the session at the provider as well. */
  readonly endsSession: boolean
  readonly rules: ClaimRules
  readonly clockSkew: Milliseconds
  /**
   * Where the browser returns to. Built from the settings, never from a request; a function because the
   * system may choose the port later.
   */
  readonly callbackUrl: () => string
}

interface Dependencies {
  readonly system: System
  readonly metadata: Metadata<OidcServer>
  /** Replaced in tests, which answer in the place of the provider. */
  readonly fetch?: (wanted: Fetch) => Promise<FetchedResponse>
}

const LIMITS = { timeout: 10_000, maxBytes: 262_144 satisfies Bytes, verifyTls: true }
/**
 * A longer ID token is not kept as a hint for the sign-out: the hint becomes part of an address, and is stored with each session. Without it
 * the provider asks the user whether to sign out.
 */
const MAX_HINT_CHARACTERS = 8_192
/** Guests cause these calls, so they must not use up the sockets of the service. Networks are served round-robin. */
const MAX_EXCHANGES = { concurrency: 32, queue: 128, what: 'sign-ons' }

/** Refuses a reply that takes long to parse. @throws {FetchFailed} */
function requireCheap(url: string, isCostly: boolean): void {
  if (isCostly) throw new FetchFailed(url, 'more values than are accepted', { isTooLarge: true })
}

const isToken = ({ headers }: FetchedResponse): boolean => /^application\/jwt\b/i.test(headers['content-type'] ?? '')

/**
 * The members of a JSON document that have a value; `undefined` if the document is no object. Some providers write null or an empty text
 * for a missing member.
 */
function membersOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return undefined
    return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== ''))
  } catch {
    return undefined
  }
}

/** Changes a response of the provider before the library reads it. */
type Adapt = (response: FetchedResponse, url: string) => FetchedResponse | Promise<FetchedResponse>

/** One OpenID Connect provider (D26): sends users there and checks the responses that they return with. */
export class OidcProvider {
  readonly name: string
  readonly metadata: Metadata<OidcServer>
  readonly #options: OidcProviderOptions
  readonly #deps: Dependencies
  readonly #exchanges = new Semaphore(MAX_EXCHANGES)

  constructor(options: OidcProviderOptions, deps: Dependencies) {
    this.name = options.name
    this.metadata = deps.metadata
    this.#options = options
    this.#deps = deps
  }

  get issuer(): string {
    return this.#options.issuer
  }

  get clientId(): string {
    return this.#options.clientId
  }

  /** @param loginHint an e-mail address that the user has entered here. @throws {SsoRefused} `metadata` */
  async begin(flow: LoginFlow, loginHint: string | undefined): Promise<Extract<AuthRedirect, { kind: 'redirect' }>> {
    const { callbackUrl, scopes, acrValues, maxAuthenticationAge } = this.#options
    const configuration = this.#configuration(await this.metadata.current())
    const optional = {
      acr_values: acrValues,
      max_age: maxAuthenticationAge === undefined ? undefined : String(maxAuthenticationAge),
      login_hint: loginHint,
    }
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: callbackUrl(),
      scope: scopes,
      state: flow.id,
      nonce: flow.requestId,
      code_challenge: await client.calculatePKCECodeChallenge(flow.verifier ?? ''),
      code_challenge_method: 'S256',
      ...Object.fromEntries(
        Object.entries(optional).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
    })
    return { kind: 'redirect', url: url.href }
  }

  /**
   * Exchanges the code and checks the tokens. @param query of the address that the browser returned to, with
   * its question mark @param network that the browser comes from
   * @throws {SsoRefused} @throws {Overloaded}
   */
  async finish(flow: LoginFlow, query: string, network = ''): Promise<VerifiedIdentity> {
    const server = await this.metadata.current()
    const tokens = await this.#exchanges.run(() => this.#exchange(server, flow, query), { of: network })
    const { idToken: text, accessToken } = tokens
    const verified = await this.#verify(text, verifyToken)
    requireAccessTokenHash(verified, accessToken)
    const idToken = verified.claims
    const { rules, endsSession, clientId, maxAuthenticationAge: maxAge, clockSkew } = this.#options
    checkIdToken(idToken, { clientId, nonce: flow.requestId, maxAge, clockSkew, now: this.#deps.system.now() })
    this.#requireAcr(idToken)
    const claims =
      lacksClaims(idToken, rules) && server.endpoints.userinfo !== undefined
        ? await this.#withUserinfo(server, idToken, { accessToken, network })
        : (idToken as Claims)
    const { sub = '', sid, acr, auth_time: authenticated } = idToken
    return {
      ...readName(claims, rules),
      issuer: this.issuer,
      subject: sub,
      attributes: claims,
      ...(typeof authenticated === 'number' ? { authenticated: authenticated * 1000 } : {}),
      ...(typeof sid === 'string' ? { logoutKeys: [sid] } : {}),
      ...(typeof acr === 'string' ? { authnContext: acr } : {}),
      ...(endsSession && text.length <= MAX_HINT_CHARACTERS ? { providerSession: text } : {}),
    }
  }

  /** The name of a user with these claims, and whether it is accepted. @throws {SsoRefused} `name-claim` */
  readName(claims: Claims): Pick<VerifiedIdentity, 'name' | 'nameIsUnverified'> {
    return readName(claims, this.#options.rules)
  }

  /** Checks a back-channel request of the provider to end sessions. @throws {SsoRefused} */
  async readLogout(token: string): Promise<LogoutRequest> {
    const { claims } = await this.#verify(token, verifyToken)
    return readLogoutToken(claims, { now: this.#deps.system.now(), clockSkew: this.#options.clockSkew })
  }

  /**
   * The address where users end their session at the provider (RP-Initiated Logout 1.0); `undefined` if the provider has none.
   * @param idToken of the session, with which the provider need not ask the user
   */
  async endSessionUrl(returnTo: string, idToken?: string): Promise<string | undefined> {
    const { metadata } = await this.metadata.status()
    if (metadata?.endpoints.endSession === undefined) return undefined
    const hint = idToken === undefined ? {} : { id_token_hint: idToken }
    const parameters = { post_logout_redirect_uri: returnTo, ...hint }
    return client.buildEndSessionUrl(this.#configuration(metadata), parameters).href
  }

  get endsSession(): boolean {
    return this.#options.endsSession
  }

  /**
   * Exchanges the code for tokens. The ID token, which {@link #verify} checks later, is taken out of the response before the library reads it,
   * because the library refuses some ID tokens that the standard allows.
   */
  async #exchange(
    server: OidcServer,
    flow: LoginFlow,
    query: string,
  ): Promise<{ readonly idToken: string; readonly accessToken: string }> {
    const url = new URL(this.#options.callbackUrl())
    url.search = query
    let idToken: unknown
    const configuration = this.#configuration(server, response => {
      const members = membersOf(response.text)
      if (!members) return response
      const { id_token: received, ...others } = members
      idToken = received
      return { ...response, text: JSON.stringify(others) }
    })
    try {
      const checks = { expectedState: flow.id, pkceCodeVerifier: flow.verifier ?? '' }
      const { access_token: accessToken } = await client.authorizationCodeGrant(configuration, url, checks)
      if (typeof idToken !== 'string') throw refused('oidc-response', 'an ID token', showClaim(idToken))
      requireCheap(server.endpoints.token, isCostlyToken(idToken))
      return { idToken, accessToken }
    } catch (error) {
      throw asRefusal(error)
    }
  }

  async #withUserinfo(
    server: OidcServer,
    idToken: JWTPayload,
    { accessToken, network }: { readonly accessToken: string; readonly network: string },
  ): Promise<Claims> {
    const { sub = '' } = idToken
    const configuration = this.#configuration(server, async (response, url) => {
      if (!isToken(response)) return response
      requireCheap(url, isCostlyToken(response.text))
      const { claims } = await this.#verify(response.text, verifyUserinfo)
      return { ...response, headers: { 'content-type': 'application/json' }, text: JSON.stringify(claims) }
    })
    try {
      return mergeClaims(
        idToken,
        await this.#exchanges.run(() => client.fetchUserInfo(configuration, accessToken, sub), { of: network }),
      )
    } catch (error) {
      throw asRefusal(error)
    }
  }

  /** Verifies with the cached keys; if none fits, once more with the keys that the provider publishes now. */
  async #verify(token: string, verify: typeof verifyToken): Promise<VerifiedToken> {
    const used = await this.metadata.current()
    try {
      return await verify(token, this.#expected(used))
    } catch (error) {
      const isUnknownKey = error instanceof SsoRefused && unknownKeyChecks.includes(error.failed.check)
      if (!isUnknownKey || !(await this.metadata.reloadForUnknownKey(used))) throw error
      return await verify(token, this.#expected(await this.metadata.current()))
    }
  }

  #expected({ keys, algorithms }: OidcServer): ExpectedToken {
    const { issuer, clientId: audience, clockSkew } = this.#options
    return { issuer, audience, keys, algorithms, now: this.#deps.system.now(), clockSkew }
  }

  /** Requires that the user authenticated in one of the requested ways (`acr`). @throws {SsoRefused} `token-acr` */
  #requireAcr({ acr }: JWTPayload): void {
    const { acrValues } = this.#options
    if (acrValues === undefined || (typeof acr === 'string' && acrValues.split(' ').includes(acr))) return
    throw refused('token-acr', acrValues, showClaim(acr))
  }

  /**
   * The options of `openid-client` for one call. They are made for each call, because they contain the present difference between the clock of
   * the service and the clock of the machine, which the library reads.
   */
  #configuration(
    { endpoints, sendsIssuer, ...server }: OidcServer,
    adapt: Adapt = response => response,
  ): client.Configuration {
    const { issuer, clientId, clientSecret, clockSkew } = this.#options
    const { system, fetch = fetchResponse } = this.#deps
    const configuration = new client.Configuration(
      {
        issuer,
        authorization_endpoint: endpoints.authorization,
        token_endpoint: endpoints.token,
        jwks_uri: endpoints.jwks,
        ...(endpoints.userinfo === undefined ? {} : { userinfo_endpoint: endpoints.userinfo }),
        ...(endpoints.endSession === undefined ? {} : { end_session_endpoint: endpoints.endSession }),
        authorization_response_iss_parameter_supported: sendsIssuer,
      },
      clientId,
      {
        [client.clockSkew]: Math.round((system.now() - realSystem.now()) / 1000),
        [client.clockTolerance]: clockSkew / 1000,
      },
      clientSecret === undefined
        ? client.None()
        : server.clientAuth === 'post'
          ? client.ClientSecretPost(clientSecret)
          : client.ClientSecretBasic(clientSecret),
    )
    if (issuer.startsWith('http:')) client.allowInsecureRequests(configuration)
    configuration[client.customFetch] = async (url, { method, headers, body }) => {
      const wanted = { url, method: method === 'POST' ? 'POST' : 'GET', headers, ...LIMITS } as const
      const answer = await fetch(body instanceof URLSearchParams ? { ...wanted, body: body.toString() } : wanted)
      requireCheap(url, isCostlyText(answer.text))
      const response = await adapt(answer, url)
      const hasBody = ![204, 205, 304].includes(response.status)
      return new Response(hasBody ? response.text : null, { status: response.status, headers: response.headers })
    }
    return configuration
  }
}

/**
 * Converts an error of `openid-client` into a refusal that names the failed check. Errors that the response
 * did not cause are returned unchanged.
 */
export function asRefusal(error: unknown): unknown {
  const ours = causesOf(error).find(cause => cause instanceof SsoRefused || cause instanceof Overloaded)
  if (ours) return ours
  const failed = causesOf(error).find(cause => cause instanceof FetchFailed)
  if (failed) return refused('provider-unreachable', 'an answer of the provider', failed.message, error)
  if (error instanceof client.AuthorizationResponseError) {
    return refused('authorization', 'a code', describe(error.error, error.error_description), error)
  }
  if (error instanceof client.ResponseBodyError) {
    return refused('token-endpoint', 'tokens', describe(error.error, error.error_description), error)
  }
  if (error instanceof client.WWWAuthenticateChallengeError) {
    return refused('token-endpoint', 'tokens', `status ${error.status}`, error)
  }
  return error instanceof client.ClientError ? fromChecks(error) : error
}

/** Maps a failed check of the library to the response parameter that is wrong. */
function fromChecks(error: client.ClientError): SsoRefused {
  const [, check] = causesOf(error)
  const message = check instanceof Error ? check.message : error.message
  const parameter = /response parameter "(\w+)"|"(\w+)" (?:\(\w+\) )?response parameter/.exec(message)
  if (parameter) {
    const name = parameter[1] ?? parameter[2] ?? ''
    const found = `response-${name}`
    return refused(isOidcCheck(found) ? found : 'oidc-response', `the ${name} of this login`, message, error)
  }
  return refused('oidc-response', 'a response as OpenID Connect defines it', message, error)
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause instanceof Error && causes.length < 10; cause = cause.cause) causes.push(cause)
  return causes
}

const describe = (code: string, description: string | undefined): string =>
  description === undefined ? code : `${code}: ${description}`
