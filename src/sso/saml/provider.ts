import { SsoRefused } from '../refusal.ts'
import type { System } from '../../base/system.ts'
import type { Seconds } from '../../base/units.ts'
import type { VerifiedIdentity, AuthRedirect, LoginFlow } from '../identity-provider.ts'
import { type AuthnRequest, formRequest, type KeyPair, redirectRequest } from './authn-request.ts'
import type { IdpMetadata } from './metadata.ts'
import type { Metadata } from '../metadata-source.ts'
import type { ExpectedResponse, VerifiedAssertion } from './response.ts'
import { serviceProviderMetadata } from './sp-metadata.ts'
import type { Verifier } from './verifier.ts'

export type { KeyPair } from './authn-request.ts'
export type { IdpMetadata, SigningCertificate } from './metadata.ts'
export { requestScheme } from './request-signature.ts'
export { Verifier } from './verifier.ts'

export interface SamlProviderOptions {
  readonly name: string
  readonly relyingPartyId: string
  /** The very address that the provider posts to, its query included. */
  readonly acsUrl: string
  /** How people are sent; the other way is taken when the provider does not offer this one. */
  readonly method: 'get' | 'post'
  /** Accepts logins that were begun at the provider. */
  readonly allowsUnsolicited: boolean
  readonly clockSkew: Seconds
  /** Signs requests. */
  readonly signing: KeyPair | undefined
  /** Opens encrypted assertions. */
  readonly encryption: KeyPair | undefined
}

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

  get acsUrl(): string {
    return this.#options.acsUrl
  }

  /** @throws {SsoRefused} `metadata` */
  async begin(flow: LoginFlow): Promise<AuthRedirect> {
    const { acsUrl, relyingPartyId, method, signing } = this.#options
    const { redirectUrl, postUrl } = await this.metadata.current()
    const byPost = postUrl !== undefined && (method === 'post' || redirectUrl === undefined)
    const destination = byPost ? postUrl : redirectUrl
    if (destination === undefined) {
      throw new SsoRefused({ check: 'metadata', expected: 'an address for redirect or POST', received: 'none' })
    }
    const issued = this.#system.now()
    const request: AuthnRequest = { id: flow.requestId, issued, destination, acsUrl, issuer: relyingPartyId }
    return byPost ? formRequest(request, flow.id, signing) : redirectRequest(request, flow.id, signing)
  }

  /**
   * @param encoded the form field `SAMLResponse`
   * @param flow the login it belongs to; without one it was begun at the provider
   * @throws {SsoRefused} @throws {Overloaded}
   */
  async finish(encoded: string, flow: LoginFlow | undefined): Promise<VerifiedIdentity> {
    if (!flow && !this.#options.allowsUnsolicited) {
      throw new SsoRefused({
        check: 'relay-state',
        expected: 'a login begun here',
        received: 'none, or one that is over',
      })
    }
    const metadata = await this.metadata.current()
    const { id, name, attributes, until, sessionEnds } = await this.#verify(encoded, flow, metadata)
    return { name, attributes, issuer: metadata.entityId, once: { id, until }, sessionEnds }
  }

  /** The metadata of this service for this provider. */
  describeSelf(): string {
    const { relyingPartyId, acsUrl, signing, encryption } = this.#options
    return serviceProviderMetadata({
      entityId: relyingPartyId,
      acsUrl,
      signingCertificate: signing?.certificate,
      encryptionCertificate: encryption?.certificate,
    })
  }

  /**
   * If a signature matches none of the known keys, it is checked again with fresh metadata, because providers
   * change their keys (D8.6).
   */
  async #verify(encoded: string, flow: LoginFlow | undefined, metadata: IdpMetadata): Promise<VerifiedAssertion> {
    try {
      return await this.#verifier.verify(encoded, this.#expected(flow, metadata))
    } catch (error) {
      const isUnknownKey = error instanceof SsoRefused && unknownKeyChecks.includes(error.failed.check)
      if (!isUnknownKey || !(await this.metadata.reloadForUnknownKey())) throw error
      return await this.#verifier.verify(encoded, this.#expected(flow, await this.metadata.current()))
    }
  }

  #expected(flow: LoginFlow | undefined, { entityId, keys }: IdpMetadata): ExpectedResponse {
    const { relyingPartyId, acsUrl, clockSkew, encryption } = this.#options
    return {
      issuer: entityId,
      audience: relyingPartyId,
      acsUrl,
      requestId: flow?.requestId,
      keys,
      decryptionKey: encryption?.key,
      now: this.#system.now(),
      clockSkew: clockSkew * 1000,
    }
  }
}

/** What it shows as; the last when the assertion was encrypted. */
const unknownKeyChecks = ['signature', 'signature-key', 'decryption']
