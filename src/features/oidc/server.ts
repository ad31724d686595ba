import { isObject } from '../../base/json.ts'
import type { JWK } from 'jose'
import type { Milliseconds } from '../../base/units.ts'
import { fetchText, isLoopback } from '../../base/fetch.ts'
import type { ProviderMetadata } from '../sso/metadata-source.ts'
import { metadataLimits } from '../sso/xml.ts'

/** Endpoints of a provider. */
interface Endpoints {
  readonly authorization: string
  readonly token: string
  readonly jwks: string
  readonly userinfo: string | undefined
  readonly endSession: string | undefined
}

/** The metadata of a provider that this service needs. `entityId` is the issuer, `keys` are JWKs as JSON texts. */
export interface OidcServer extends ProviderMetadata {
  readonly endpoints: Endpoints
  /** Whether the provider names itself in its responses (RFC 9207); if so, a response without the name is refused. */
  readonly sendsIssuer: boolean
  readonly algorithms: readonly string[]
  /** How a client must send its secret; absent if the provider does not say. */
  readonly clientAuth?: 'basic' | 'post' | undefined
}

/** The configuration or the keys of a provider are unusable; the message has the reason. */
export class ServerRefused extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ServerRefused'
  }
}

const KEYS_TIMEOUT: Milliseconds = 10_000
const MAX_KEYS = 100

/** Where the configuration of an issuer is published (OpenID Connect Discovery 4). */
export const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

/**
 * Reads a discovery document and fetches the keys that it names.
 * @throws {ServerRefused} @throws {FetchFailed}
 */
export async function readServer(text: string, issuer: string): Promise<OidcServer> {
  const document = parseObject(text)
  // Compared exactly (OpenID Connect Discovery 4.3): otherwise one issuer could impersonate another.
  if (document['issuer'] !== issuer) throw new ServerRefused(`the issuer is ${show(document['issuer'])}, not ${issuer}`)
  const optional = (name: string): string | undefined => {
    const value = document[name]
    return value === undefined || value === null ? undefined : requireEndpoint(value, name, issuer)
  }
  const required = (name: string): string => requireEndpoint(document[name], name, issuer)
  return await withKeys({
    entityId: issuer,
    endpoints: {
      authorization: required('authorization_endpoint'),
      token: required('token_endpoint'),
      jwks: required('jwks_uri'),
      userinfo: optional('userinfo_endpoint'),
      endSession: optional('end_session_endpoint'),
    },
    sendsIssuer: document['authorization_response_iss_parameter_supported'] === true,
    algorithms: readAlgorithms(document['id_token_signing_alg_values_supported']),
    clientAuth: readClientAuth(document['token_endpoint_auth_methods_supported']),
  })
}

async function withKeys(server: Omit<OidcServer, 'keys' | 'certificates'>): Promise<OidcServer> {
  const limits = { timeout: KEYS_TIMEOUT, maxBytes: metadataLimits.bytes, verifyTls: true }
  const keys = readKeys(await fetchText({ url: server.endpoints.jwks, ...limits }))
  return { ...server, keys, certificates: [] }
}

/** The keys of a JWK set that can verify an accepted algorithm; others are skipped. @throws {ServerRefused} */
export function readKeys(text: string): readonly string[] {
  const { keys } = parseObject(text)
  if (!Array.isArray(keys)) throw new ServerRefused('the document has no list of keys')
  const usable = keys.filter((key): key is JWK => isObject(key) && isUsableKey(key)).slice(0, MAX_KEYS)
  if (usable.length === 0) throw new ServerRefused('none of the keys can be used: RSA from 2048 bits, EC or Ed25519')
  return usable.map(key => JSON.stringify(key))
}

/** RS256 is the default by OpenID Connect Discovery. */
function readAlgorithms(value: unknown): readonly string[] {
  const offered: readonly unknown[] = Array.isArray(value) ? value : ['RS256']
  const common = algorithms.filter(algorithm => offered.includes(algorithm))
  if (common.length > 0) return common
  throw new ServerRefused(`it signs with ${offered.map(show).join(', ')}; accepted are ${algorithms.join(', ')}`)
}

/** `client_secret_basic` is the default by OpenID Connect Discovery. */
const readClientAuth = (offered: unknown): 'basic' | 'post' =>
  Array.isArray(offered) && offered.includes('client_secret_post') && !offered.includes('client_secret_basic')
    ? 'post'
    : 'basic'

/** Requires https. If the issuer uses http, http is allowed on the host of the issuer, which is then this machine. */
function requireEndpoint(value: unknown, name: string, issuer: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  const { protocol, hostname } = new URL(issuer)
  const isHere = protocol === 'http:' && (url?.hostname === hostname || isLoopback(url?.hostname ?? ''))
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere)
  if (url && isSafe && url.username === '' && url.password === '') return url.href
  throw new ServerRefused(`${name} is ${show(value)}, not an https address`)
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (error) {
    throw new ServerRefused('the document is not JSON', { cause: error })
  }
  throw new ServerRefused('the document is not a JSON object')
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 300)

/**
 * Accepted signature algorithms. Only public-key algorithms: neither `none` nor an HMAC keyed with a public
 * key can pass.
 */
export const algorithms: readonly string[] = [
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
]

const curves: readonly unknown[] = ['P-256', 'P-384', 'P-521']
/**
 * RSA modulus length in base64url characters, for 2048 and 8192 bits. Shorter keys are weak; longer ones take
 * too much time.
 */
const RSA_CHARACTERS = { min: 341, max: 1368 }

/** Whether the key can verify a signature by one of the {@link algorithms}. */
export function isUsableKey({ kty, use, crv, n, e, alg }: JWK): boolean {
  if (use !== undefined && use !== 'sig') return false
  if (alg !== undefined && !algorithms.includes(alg)) return false
  if (kty === 'RSA') {
    const isSized = n !== undefined && n.length >= RSA_CHARACTERS.min && n.length <= RSA_CHARACTERS.max
    // A long exponent takes as much time as a long modulus.
    return isSized && e !== undefined && e.length <= 8
  }
  return (kty === 'EC' && curves.includes(crv)) || (kty === 'OKP' && crv === 'Ed25519')
}
