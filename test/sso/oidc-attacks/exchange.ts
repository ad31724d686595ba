import {
  constants,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
} from 'node:crypto'
import { createLog } from '../../../src/base/log.ts'
import { requireValues } from '../../../src/features/sso/attributes.ts'
import type { FetchedResponse } from '../../../src/base/fetch.ts'
import type { LoginFlow, VerifiedIdentity } from '../../../src/features/sso/identity-provider.ts'
import { MetadataSource } from '../../../src/features/sso/metadata-source.ts'
import { OidcProvider, type OidcProviderOptions } from '../../../src/features/oidc/provider.ts'
import { type OidcServer, readKeys } from '../../../src/features/oidc/server.ts'
import { type FailedCheck, SsoRefused } from '../../../src/features/sso/refusal.ts'
import { FakeSystem } from '../../support/fake-system.ts'

export const ISSUER = 'https://op.example'
export const CLIENT = 'stowage'
export const CALLBACK = 'https://store.example/auth/oidc/callback'
export const STATE = 'state-of-this-login'
export const NONCE = '_nonce-of-this-login'

const system = new FakeSystem()
/** Seconds, as tokens count. */
export const NOW = Math.floor(system.now() / 1000)

const rsa = (bits: number): KeyObject => generateKeyPairSync('rsa', { modulusLength: bits }).privateKey
const ec = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).privateKey

/** The provider publishes these, but for `other`, `weak` and `encryption`. */
export const keys = {
  rsa: rsa(2048),
  p256: ec('P-256'),
  p384: ec('P-384'),
  p521: ec('P-521'),
  ed: generateKeyPairSync('ed25519').privateKey,
  other: rsa(2048),
  weak: rsa(1024),
  encryption: rsa(2048),
} as const
export type KeyName = keyof typeof keys

export const jwkOf = (name: KeyName, more: object = {}): Record<string, unknown> => ({
  ...createPublicKey(keys[name]).export({ format: 'jwk' }),
  kid: name,
  ...more,
})
export const pemOf = (name: KeyName): string =>
  createPublicKey(keys[name]).export({ type: 'spki', format: 'pem' }).toString()

export const published: readonly object[] = [
  ...(['rsa', 'p256', 'p384', 'p521', 'ed'] as const).map(name => jwkOf(name, { use: 'sig' })),
  jwkOf('weak'),
  jwkOf('encryption', { use: 'enc' }),
  { kty: 'oct', k: Buffer.from('a symmetric key').toString('base64url'), kid: 'oct' },
]

/** One login at the provider, honest until something of it is changed. */
export interface Exchange {
  query: URLSearchParams
  header: Record<string, unknown>
  claims: Record<string, unknown>
  key: KeyName | Buffer
  /** Changes the signed token. */
  token: (token: string) => string
  /** What the token endpoint answers beside the ID token. */
  body: Record<string, unknown>
  answer: (body: string) => FetchedResponse
  userinfo: FetchedResponse | undefined
  options: Partial<OidcProviderOptions>
  /** Patterns that values of claims must match. */
  required: ReadonlyMap<string, string>
  server: Partial<OidcServer>
  jwks: readonly object[]
}

export const jsonAnswer = (value: unknown, status = 200): FetchedResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  text: typeof value === 'string' ? value : JSON.stringify(value),
})

/** A signed answer of the userinfo endpoint. */
export const signedUserinfo = (
  claims: object,
  header: object = { alg: 'RS256', kid: 'rsa' },
  key: KeyName | Buffer = 'rsa',
): FetchedResponse => ({
  status: 200,
  headers: { 'content-type': 'application/jwt; charset=utf-8' },
  text: sign(header, { sub: 'subject-1', email: 'anna@example.org', email_verified: true, ...claims }, key),
})

export const honestExchange = (): Exchange => ({
  query: new URLSearchParams({ code: 'a-code', state: STATE, iss: ISSUER }),
  header: { alg: 'RS256', kid: 'rsa', typ: 'JWT' },
  claims: {
    iss: ISSUER,
    sub: 'subject-1',
    aud: CLIENT,
    exp: NOW + 300,
    iat: NOW,
    nonce: NONCE,
    email: 'anna@example.org',
    email_verified: true,
  },
  key: 'rsa',
  token: token => token,
  body: { access_token: 'an-access-token', token_type: 'Bearer', expires_in: 60 },
  answer: body => jsonAnswer(body),
  userinfo: undefined,
  options: {},
  required: new Map(),
  server: {},
  jwks: published,
})

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A provider without special settings. */
export const providerOptions: OidcProviderOptions = {
  name: 'op',
  issuer: ISSUER,
  clientId: CLIENT,
  clientSecret: 'a secret of the client',
  scopes: 'openid email',
  acrValues: undefined,
  endsSession: false,
  maxAuthenticationAge: undefined,
  rules: { nameClaim: 'email', trustsUnverifiedEmail: false, others: [] },
  clockSkew: 60_000,
  callbackUrl: () => CALLBACK,
}

/** A compact JWS; unlike a library it signs whatever it is given. */
export function sign(header: unknown, payload: unknown, key: KeyName | Buffer): string {
  const input = `${base64(header)}.${base64(payload)}`
  return `${input}.${signature(input, (header as { alg?: unknown }).alg, key).toString('base64url')}`
}

function signature(input: string, alg: unknown, key: KeyName | Buffer): Buffer {
  const bits = /(256|384|512)$/.exec(String(alg))?.[1] ?? '256'
  if (Buffer.isBuffer(key)) return createHmac(`sha${bits}`, key).update(input).digest()
  const data = Buffer.from(input)
  const privateKey = keys[key]
  if (privateKey.asymmetricKeyType === 'ed25519') return signBytes(null, data, privateKey)
  if (privateKey.asymmetricKeyType === 'ec')
    return signBytes(`sha${bits}`, data, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  if (!String(alg).startsWith('PS')) return signBytes(`sha${bits}`, data, privateKey)
  const padding = constants.RSA_PKCS1_PSS_PADDING
  return signBytes(`sha${bits}`, data, { key: privateKey, padding, saltLength: Number(bits) / 8 })
}

export const providerOf = (exchange: Exchange): OidcProvider => {
  const { options, server, jwks, header, claims, key, token, body, answer, userinfo } = exchange
  const metadata = new MetadataSource<OidcServer>(
    { idp: 'op', url: 'file:///dev/null', maxAge: 3600 },
    {
      system,
      log: createLog('silent'),
      parse: async () => ({
        entityId: ISSUER,
        endpoints: {
          authorization: `${ISSUER}/auth`,
          token: `${ISSUER}/token`,
          jwks: `${ISSUER}/jwks`,
          userinfo: userinfo && `${ISSUER}/me`,
          endSession: undefined,
        },
        sendsIssuer: true,
        algorithms: [
          'RS256',
          'RS384',
          'RS512',
          'PS256',
          'PS384',
          'PS512',
          'ES256',
          'ES384',
          'ES512',
          'EdDSA',
          'Ed25519',
        ],
        keys: readKeys(JSON.stringify({ keys: jwks })),
        certificates: [],
        ...server,
      }),
    },
  )
  return new OidcProvider(
    {
      ...providerOptions,
      rules: { ...providerOptions.rules, others: [...exchange.required.keys()] },
      ...options,
    },
    {
      system,
      metadata,
      fetch: async ({ url }) => {
        if (url === `${ISSUER}/me` && userinfo) return userinfo
        if (url !== `${ISSUER}/token`) throw new Error(`not expected: ${url}`)
        return answer(JSON.stringify({ id_token: token(sign(header, claims, key)), ...body }))
      },
    },
  )
}

export const flow: LoginFlow = {
  id: STATE,
  provider: 'op',
  requestId: NONCE,
  successUrl: undefined,
  failureUrl: undefined,
  verifier: 'v'.repeat(43),
  expires: system.now() + 900_000,
  network: '192.0.2.1',
}

/** What a login comes to: an identity, or the check that it fails. A name that may not be used for an account is refused too. */
export async function outcomeOf(exchange: Exchange): Promise<VerifiedIdentity | { readonly refused: FailedCheck }> {
  return await refusalOr<VerifiedIdentity | { readonly refused: FailedCheck }>(async () => {
    const identity = await providerOf(exchange).finish(flow, `?${exchange.query.toString()}`)
    requireValues(identity.attributes ?? {}, exchange)
    return identity.nameIsUnverified ? { refused: { check: 'email-verified' } } : identity
  })
}

export async function refusalOr<T>(work: () => Promise<T>): Promise<T | { readonly refused: FailedCheck }> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SsoRefused)) throw error
    return { refused: error.failed }
  }
}

/** A login that must be refused; its title is the claim. */
export interface Attack {
  readonly title: string
  /** The check that it must fail on. */
  readonly check: string
  readonly change: (exchange: Exchange) => void
}

export const attack = (title: string, check: string, change: Attack['change']): Attack => ({ title, check, change })

/** The same exchange with another value of a claim; `undefined` leaves the claim out. */
export const withClaim = (name: string, value: unknown, check: string, title = ''): Attack =>
  attack(`${name} is ${title || (JSON.stringify(value) ?? 'missing')}`, check, exchange => {
    exchange.claims[name] = value
  })
