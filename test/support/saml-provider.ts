import assert from 'node:assert/strict'
import { inflateRawSync } from 'node:zlib'
import type { AuthRedirect } from '../../src/http/identity-providers.ts'
import type { LoginFlow } from '../../src/features/sso/identity-provider.ts'
import type { Metadata } from '../../src/features/sso/metadata-source.ts'
import { type SsoCheck, SsoRefused } from '../../src/features/sso/refusal.ts'
import type { Federation } from '../../src/features/saml/federation.ts'
import type { ExpectedLogout, ReceivedLogout, VerifiedLogout } from '../../src/features/saml/logout-message.ts'
import { type IdpMetadata, SamlProvider, type Verifier } from '../../src/features/saml/provider.ts'
import type { ExpectedResponse, VerifiedAssertion } from '../../src/features/saml/response.ts'
import { FakeSystem } from './fake-system.ts'
import { keyNamed } from './saml-idp.ts'
import { entityNamed } from './stored-federation.ts'

export type Options = ConstructorParameters<typeof SamlProvider>[0]

export const IDP = 'https://idp.example/idp'
export const ACS = 'https://store.example/auth/saml?idp=a'
export const known: IdpMetadata = {
  entityId: IDP,
  redirectUrl: 'https://idp.example/redirect',
  postUrl: 'https://idp.example/post',
  keys: ['key 1', 'key 2'],
  certificates: [],
  validUntil: undefined,
}
const rsa = keyNamed('idp')
export const signing = {
  key: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  certificate: `-----BEGIN CERTIFICATE-----\n${rsa.base64}\n-----END CERTIFICATE-----\n`,
}
export const options: Options = {
  name: 'a',
  relyingPartyId: 'urn:stowage',
  acsUrl: ACS,
  method: 'get',
  allowsUnsolicited: false,
  clockSkew: 60,
  signing: undefined,
  encryption: [],
  authnContext: [],
  logout: 'off',
  logoutUrl: 'https://store.example/auth/saml/logout/a',
}
export const system = new FakeSystem()
export const flow: LoginFlow = {
  id: 'relay-state',
  provider: 'a',
  requestId: '_request',
  successUrl: undefined,
  failureUrl: undefined,
  expires: system.now() + 600_000,
  network: '192.0.2.1',
}
export const assertion: VerifiedAssertion = {
  id: '_assertion',
  issuer: IDP,
  name: 'anna@uni.example',
  attributes: { mail: 'anna@uni.example' },
  until: system.now() + 1000,
  sessionEnds: system.now() + 2000,
  authenticated: system.now() - 1000,
  authnContext: 'urn:mfa',
  sessionIndex: '_session',
  nameId: { text: 'anna-id', attributes: { Format: 'urn:format' } },
}

export interface Setup {
  readonly changes?: Partial<Options>
  readonly metadata?: Partial<IdpMetadata>
  /** What the checks come to, one after the other; a check is refused with it, otherwise the assertion is accepted. */
  readonly refusals?: readonly SsoCheck[]
  readonly reloads?: boolean
  readonly logout?: VerifiedLogout
  readonly issuer?: string
  readonly scopes?: readonly string[]
}

/** A provider whose verifier and metadata are those of the test. @param inFederation a federation whose members all have the metadata above */
export function samlProvider(setup: Setup = {}, inFederation = false) {
  const calls: unknown[] = []
  const expectations: Array<ExpectedResponse | ExpectedLogout> = []
  const idp = { ...known, ...setup.metadata }
  const refusals = [...(setup.refusals ?? [])]
  const outcome = <T>(expected: ExpectedResponse | ExpectedLogout, value: T): T => {
    expectations.push(expected)
    const check = refusals.shift()
    if (check) throw new SsoRefused({ check })
    return value
  }
  const verifier = {
    verify: async (encoded: string, expected: ExpectedResponse) => {
      calls.push(['verify', encoded])
      return outcome(expected, assertion)
    },
    verifyLogout: async (received: ReceivedLogout, expected: ExpectedLogout) => {
      calls.push(['verifyLogout', received])
      return outcome(expected, setup.logout)
    },
    statedIssuer: async (received: ReceivedLogout) => {
      calls.push(['statedIssuer', received])
      return 'urn:stated'
    },
  } as unknown as Verifier
  const reloads = async (what: string, entityId?: string): Promise<boolean> => {
    calls.push([what, entityId])
    return setup.reloads ?? false
  }
  const metadata = {
    current: async () => {
      calls.push(['current'])
      return idp
    },
    reloadForUnknownKey: () => reloads('reload'),
    status: async () => ({ url: 'u', loadedAt: undefined, metadata: idp, problem: undefined }),
    warnOfExpiry: () => {},
  } as Metadata<IdpMetadata>
  const member = (what: string) => async (entityId: string) => {
    calls.push([what, entityId])
    return { ...entityNamed(entityId, { scopes: setup.scopes ?? ['uni.example'] }), idp: { ...idp, entityId } }
  }
  const members = {
    find: member('find'),
    findStored: member('findStored'),
    reloadForUnknownKey: (entityId: string) => reloads('reloadMember', entityId),
  } as unknown as Federation
  const federation = {
    members,
    discoveryUrl: undefined,
    returnUrl: () => 'https://store.example/auth/saml',
  }
  const all = { ...options, ...(inFederation ? { federation } : {}), ...setup.changes }
  return { calls, expectations, provider: new SamlProvider(all, metadata, verifier, system) }
}

/** The request that a browser takes to the provider. */
export function sentBy(redirect: AuthRedirect | undefined) {
  assert.ok(redirect)
  const { kind } = redirect
  const url = new URL(kind === 'form' ? redirect.action : redirect.url)
  const fields = kind === 'form' ? redirect.fields : Object.fromEntries(url.searchParams)
  const { SAMLRequest = '', SAMLResponse = '', RelayState, SigAlg } = fields as Record<string, string>
  const bytes = Buffer.from(SAMLRequest || SAMLResponse, 'base64')
  const xml = (kind === 'form' ? bytes : inflateRawSync(bytes)).toString('utf8')
  const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1]
  const isSigned = SigAlg !== undefined || xml.includes('SignatureValue')
  const root = /^<samlp:(\w+)/.exec(xml)?.[1]
  return { kind, to: url.origin + url.pathname, RelayState, isSigned, root, attribute, xml }
}
