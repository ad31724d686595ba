import { SsoRefused, refused } from '../sso/refusal.ts'
import type { System } from '../../base/system.ts'
import type { Seconds } from '../../base/units.ts'
import type { AuthRedirect } from '../../http/identity-providers.ts'
import type { LoginFlow, VerifiedIdentity } from '../sso/identity-provider.ts'
import { authnRequestXml, byForm, byRedirect, type KeyPair } from './outgoing.ts'
import type { ExpectedLogout, LogoutRequest, ReceivedLogout, VerifiedLogout } from './logout-message.ts'
import { logoutRequestXml, logoutResponseXml, logoutDataOf, type NotedSession } from './provider-session.ts'
import type { Federation } from './federation.ts'
import type { IdpMetadata } from './metadata.ts'
import type { Metadata } from '../sso/metadata-source.ts'
import type { ExpectedResponse, VerifiedAssertion } from './response.ts'
import { serviceProviderMetadata } from './sp-metadata.ts'
import type { Verifier } from './verifier.ts'
import { compilePattern } from '../../base/patterns.ts'
import { type Attributes, valuesOf } from '../sso/attributes.ts'
import type { FederationEntity } from './federation-entity.ts'
export { type KeyPair, requestScheme } from './outgoing.ts'
export type { IdpMetadata, SigningCertificate } from './metadata.ts'
export { Verifier } from './verifier.ts'
export { FederationSource, type Federation, type FederationOptions, type FederationStatus } from './federation.ts'
export { FederationReader } from './federation-reader.ts'
export { queryAddress } from './metadata-queries.ts'
export type { FederationEntity } from './federation-entity.ts'
export { FederationStore } from './federation-store.ts'
export type { DirectoryHit, DirectoryHits, DirectoryQuestion } from './federation-directory.ts'

export interface SamlProviderOptions {
  readonly name: string
  readonly relyingPartyId: string
  /** The very address that the provider posts to, its query included. */
  readonly acsUrl: string
  /** How users are sent to the provider. If the provider does not offer this binding, the other is used. */
  readonly method: 'get' | 'post'
  /** Accepts sign-ons that were begun at the provider. */
  readonly allowsUnsolicited: boolean
  readonly clockSkew: Seconds
  /** Signs requests, and messages of single logout. */
  readonly signing: KeyPair | undefined
  /** The key pairs that decrypt assertions and names; two while one replaces the other. */
  readonly encryption: readonly KeyPair[]
  /** Classes of authentication (AuthnContextClassRef) that are requested and accepted, the preferred one first; empty: all. */
  readonly authnContext: readonly string[]
  readonly logout: LogoutMode
  /** The address of this service that receives messages of single logout. Messages must name exactly this one. */
  readonly logoutUrl: string
  /** The attribute with the user name; `undefined`: the NameID. */
  readonly nameAttribute?: string | undefined
  /** Users choose one of its providers. */
  readonly federation?: FederationLogin | undefined
}

/** How users of a federation sign in. */
export interface FederationLogin {
  readonly members: Federation
  /** A discovery service outside; `undefined`: the page of this service. */
  readonly discoveryUrl: string | undefined
  /** Where a discovery service sends users back to. */
  readonly returnUrl: () => string
}

/** Single logout: not at all, only when the provider begins it, or for each sign-out here as well. */
type LogoutMode = 'off' | 'accept' | 'on'

/** One SAML 2.0 identity provider (I5.3, D8): sends users there and checks the responses they return with. */
export class SamlProvider {
  readonly name: string
  readonly metadata: Metadata<IdpMetadata>
  readonly #options: SamlProviderOptions
  readonly #verifier: Verifier
  readonly #system: System

  constructor(options: SamlProviderOptions, metadata: Metadata<IdpMetadata>, verifier: Verifier, system: System) {
    this.name = options.name
    this.metadata = metadata
    this.#options = options
    this.#verifier = verifier
    this.#system = system
  }

  /** Entity id of the provider; `undefined` while its metadata have not been loaded, and for a federation. */
  get issuer(): Promise<string | undefined> {
    return this.metadata.status().then(({ metadata }) => metadata?.entityId)
  }

  get relyingPartyId(): string {
    return this.#options.relyingPartyId
  }

  /** `undefined` for a single identity provider. */
  get federation(): FederationLogin | undefined {
    return this.#options.federation
  }

  /**
   * The metadata of the identity provider; in a federation, of the provider with this entity id. @param network whose sign-on needs it
   * @throws {SsoRefused} `metadata`, `unknown-entity`, `entity-category`
   */
  async metadataOf(entityId: string | undefined, network?: string): Promise<IdpMetadata> {
    const { federation } = this.#options
    return federation ? (await federation.members.find(entityId ?? '', network)).idp : await this.metadata.current()
  }

  get acsUrl(): string {
    return this.#options.acsUrl
  }

  /** @throws {SsoRefused} `metadata` */
  async begin(flow: LoginFlow): Promise<AuthRedirect> {
    const { acsUrl, relyingPartyId, method, signing, authnContext, nameAttribute } = this.#options
    const { redirectUrl, postUrl } = await this.metadataOf(flow.entityId, flow.network)
    const byPost = postUrl !== undefined && (method === 'post' || redirectUrl === undefined)
    const destination = byPost ? postUrl : redirectUrl
    if (destination === undefined) {
      throw refused('metadata', 'an address for redirect or POST', 'none')
    }
    const issued = this.#system.now()
    const sent = { id: flow.requestId, issued, destination, acsUrl, issuer: relyingPartyId }
    const xml = authnRequestXml({ ...sent, authnContext, anyNameId: nameAttribute !== undefined })
    const message = { kind: 'SAMLRequest', xml, destination, relayState: flow.id, signing } as const
    return byPost ? byForm(message) : byRedirect(message)
  }

  /**
   * @param encoded the form field `SAMLResponse`
   * @param flow the sign-on to which the response belongs; absent if the sign-on began at the provider
   * @param network that sent the response
   * @throws {SsoRefused} @throws {Overloaded}
   */
  async finish(encoded: string, flow: LoginFlow | undefined, network?: string): Promise<VerifiedIdentity> {
    if (!flow && !this.#options.allowsUnsolicited) {
      throw refused('relay-state', 'a login begun here', 'none, or one that is over')
    }
    const assertion = await this.#verify(encoded, flow, network)
    const { id, issuer, name, attributes, until, sessionEnds, authenticated, authnContext } = assertion
    const { federation } = this.#options
    // Otherwise each provider of a federation could sign in the users of all others.
    if (federation) requireScopes(name, attributes, await federation.members.find(issuer))
    const identity = { name, attributes, issuer, once: { id, until }, sessionEnds, authenticated, authnContext }
    return this.logout === 'off' ? identity : { ...identity, ...logoutDataOf(assertion) }
  }

  get logout(): LogoutMode {
    return this.#options.logout
  }

  get logoutUrl(): string {
    return this.#options.logoutUrl
  }

  /**
   * Checks a message of single logout. In a federation, the issuer comes from the sign-out, or is read from the message first, so that one
   * provider cannot speak for another. @param flow the sign-out that a response must end. @param network that sent the message
   * @throws {SsoRefused} @throws {Overloaded}
   */
  async readLogout(received: ReceivedLogout, flow: LoginFlow | undefined, network?: string): Promise<VerifiedLogout> {
    const entityId = this.federation && (flow?.entityId ?? (await this.#verifier.statedIssuer(received, network)))
    return await this.#withKeys(
      () => this.#knownMetadata(entityId),
      entityId,
      metadata => this.#verifier.verifyLogout(received, this.#expectedLogout(metadata, flow?.requestId), network),
    )
  }

  /** As {@link metadataOf}, but only of providers that have been used: strangers can send messages of single logout. */
  async #knownMetadata(entityId: string | undefined): Promise<IdpMetadata> {
    const { federation } = this
    return federation ? (await federation.members.findStored(entityId ?? '')).idp : await this.metadata.current()
  }

  /**
   * Asks the provider to end its session. @param flow of the sign-out. @param session as {@link logoutDataOf} noted it at the sign-on
   * @returns `undefined` if the provider has no address for it. @throws {SsoRefused} `metadata`, `unknown-entity`
   */
  async requestLogout(flow: LoginFlow, session: string): Promise<AuthRedirect | undefined> {
    const { signing, relyingPartyId } = this.#options
    const { issuer, ...named } = JSON.parse(session) as NotedSession
    const found = this.#logoutEndpoint(await this.#knownMetadata(issuer))
    if (!found) return undefined
    const destination = found.endpoint.url
    const sent = { id: flow.requestId, issued: this.#system.now(), destination, issuer: relyingPartyId }
    const xml = logoutRequestXml(sent, named)
    return found.send({ kind: 'SAMLRequest', xml, destination, relayState: flow.id, signing })
  }

  /** Answers a request of the provider, which has been carried out. @returns `undefined` if the provider has no address for it */
  async answerLogout(
    id: string,
    { id: inResponseTo, issuer }: LogoutRequest,
    relayState: string | undefined,
  ): Promise<AuthRedirect | undefined> {
    const { signing, relyingPartyId } = this.#options
    // By redirect, if possible: providers open this address in frames, where a page with a form is not shown.
    const found = this.#logoutEndpoint(await this.#knownMetadata(issuer), 'get')
    if (!found) return undefined
    const destination = found.endpoint.responseUrl
    const xml = logoutResponseXml({ id, issued: this.#system.now(), destination, issuer: relyingPartyId }, inResponseTo)
    return found.send({ kind: 'SAMLResponse', xml, destination, relayState, signing })
  }

  #logoutEndpoint({ logout = {} }: IdpMetadata, method = this.#options.method) {
    const { redirect, post } = logout
    const byPost = post && (method === 'post' || !redirect)
    const endpoint = byPost ? post : redirect
    return endpoint && { endpoint, send: byPost ? byForm : byRedirect }
  }

  /** The metadata of this service for this provider. */
  describeSelf(): string {
    const { relyingPartyId, acsUrl, signing, encryption, logout, logoutUrl } = this.#options
    const { nameAttribute, federation } = this.#options
    return serviceProviderMetadata({
      anyNameId: nameAttribute !== undefined,
      discoveryReturnUrl: federation?.returnUrl(),
      entityId: relyingPartyId,
      acsUrl,
      signingCertificate: signing?.certificate,
      encryptionCertificates: encryption.map(({ certificate }) => certificate),
      logoutUrl: logout === 'off' ? undefined : logoutUrl,
    })
  }

  async #verify(encoded: string, flow: LoginFlow | undefined, network: string | undefined): Promise<VerifiedAssertion> {
    const entityId = flow?.entityId
    return await this.#withKeys(
      () => this.metadataOf(entityId, flow?.network),
      entityId,
      metadata => this.#verifier.verify(encoded, this.#expected(flow, metadata), network),
    )
  }

  /**
   * If a signature matches none of the known keys, it is checked again with fresh metadata, because providers
   * change their keys (D8.6).
   */
  async #withKeys<T>(
    metadata: () => Promise<IdpMetadata>,
    entityId: string | undefined,
    check: (metadata: IdpMetadata) => Promise<T>,
  ): Promise<T> {
    const used = await metadata()
    try {
      return await check(used)
    } catch (error) {
      const isUnknownKey = error instanceof SsoRefused && unknownKeyChecks.includes(error.failed.check)
      if (!isUnknownKey || !(await this.#reload(entityId, used))) throw error
      return await check(await metadata())
    }
  }

  #reload(entityId: string | undefined, used: IdpMetadata): Promise<boolean> {
    const { federation } = this.#options
    return federation
      ? federation.members.reloadForUnknownKey(entityId ?? '', used.keys)
      : this.metadata.reloadForUnknownKey(used)
  }

  #expected(flow: LoginFlow | undefined, { entityId, keys }: IdpMetadata): ExpectedResponse {
    const { relyingPartyId, acsUrl, authnContext, nameAttribute } = this.#options
    return {
      nameAttribute,
      issuer: entityId,
      audience: relyingPartyId,
      acsUrl,
      requestId: flow?.requestId,
      keys,
      ...this.#own(),
      authnContexts: authnContext,
    }
  }

  #expectedLogout({ entityId, keys }: IdpMetadata, requestId: string | undefined): ExpectedLogout {
    return { issuer: entityId, destination: this.logoutUrl, requestId, keys, ...this.#own() }
  }

  #own(): Pick<ExpectedResponse, 'decryptionKeys' | 'now' | 'clockSkew'> {
    const { clockSkew, encryption } = this.#options
    return { decryptionKeys: encryption.map(({ key }) => key), now: this.#system.now(), clockSkew: clockSkew * 1000 }
  }
}

/** The checks that fail if the provider uses an unknown key; `decryption` for an encrypted assertion. */
const unknownKeyChecks = ['signature', 'signature-key', 'decryption']

/** Attributes whose values end with the scope of the organisation that vouches for them, under all names in use (eduPerson, SAML subject ids). */
const scopedAttributes: readonly string[] = [
  ...[
    ['eduPersonPrincipalName', '1.3.6.1.4.1.5923.1.1.1.6'],
    ['eduPersonScopedAffiliation', '1.3.6.1.4.1.5923.1.1.1.9'],
    ['eduPersonUniqueId', '1.3.6.1.4.1.5923.1.1.1.13'],
  ].flatMap(([name = '', oid = '']) => [name, `urn:oid:${oid}`, `urn:mace:dir:attribute-def:${name}`]),
  'urn:oasis:names:tc:SAML:attribute:subject-id',
  'urn:oasis:names:tc:SAML:attribute:pairwise-id',
]

type Scopes = Pick<FederationEntity, 'entityId' | 'scopes' | 'scopePatterns'>

/**
 * Each provider of a federation vouches for its own organisation only: the scopes that its metadata publish. Without this check any of
 * thousands could sign in the users of all others.
 * @throws {SsoRefused} `scope` for a user name or an attribute with another scope
 */
export function requireScopes(name: string, attributes: Attributes, scopes: Scopes): void {
  requireScope('the user name', name, scopes)
  for (const attribute of scopedAttributes) {
    if (!Object.hasOwn(attributes, attribute)) continue
    for (const value of valuesOf(attributes, attribute)) requireScope(attribute, value, scopes)
  }
}

function requireScope(what: string, value: string, { entityId, scopes, scopePatterns }: Scopes): void {
  const at = value.lastIndexOf('@')
  const scope = value.slice(at + 1).toLowerCase()
  // A second sign would let two readers see two scopes.
  const isPlain = at > 0 && value.indexOf('@') === at && scope !== ''
  if (isPlain && (scopes.includes(scope) || scopePatterns.some(pattern => matches(pattern, scope)))) return
  const published = [...scopes, ...scopePatterns].slice(0, 10).join(', ')
  throw refused('scope', `a scope of ${entityId}: ${published || 'it publishes none'}`, `${value} in ${what}`)
}

/** Whole, in time that grows with the length only. A pattern that cannot be read matches nothing. */
function matches(pattern: string, scope: string): boolean {
  try {
    return compilePattern(pattern).matches(scope)
  } catch {
    return false
  }
}
