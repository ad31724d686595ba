import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import { findForm, HeadlessBrowser, type Page } from './headless-browser.ts'
import { type InProcess, setClock, startInProcess } from './service.ts'

interface Test {
  after(work: () => Promise<void>): void
}

type Claims = Readonly<Record<string, unknown>>

/** A service and the certified provider `oidc-provider`, which know each other. */
export interface OidcPair {
  readonly service: InProcess
  readonly issuer: string
  /** What the provider says about its users, by the name that they sign in with there; `sub` is this name. */
  readonly users: Map<string, Claims>
  /** The `acr` that the provider states for these users if it is asked for one, by the name that they sign in with. */
  readonly classes: Map<string, string>
  /** Starts the provider again, at the same address, with a new signing key. */
  changeKey(): Promise<void>
  /** A token with these claims, signed as the provider signs. */
  sign(claims: Claims, type: string): Promise<string>
  /** Replaces the discovery document, until it is set back to `undefined`. */
  publish(document: Claims | undefined): void
  /** Makes the provider answer nothing. */
  isAway: boolean
}

export const CLIENT = 'stowage'
/** Classes of authentication that the provider knows. */
export const MFA = 'https://refeds.org/profile/mfa'
export const PASSWORD = 'urn:example:password'

/**
 * @param settings of the service; `op.` stands for those of the provider. @param more configuration of the provider
 * @param client what the provider knows of the service
 */
export async function startWithOidc(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
  more: Claims = {},
  client: Claims = {},
): Promise<OidcPair> {
  let published: Claims | undefined
  let handle: RequestListener = (_request, response) => response.writeHead(503).end()
  const server = createServer((request, response) => {
    if (pair.isAway) response.writeHead(503).end()
    else if (published && request.url === '/.well-known/openid-configuration') response.end(JSON.stringify(published))
    else handle(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  const given = Object.entries(settings).map(([key, value]) => [
    key.replace(/^op\./, 'service.auth.oidc.idp.op.'),
    value,
  ])
  const service = await startInProcess(t, {
    settings: {
      'service.auth.oidc': 'on',
      'service.auth.oidc.idps.1': 'op',
      'service.auth.oidc.default-idp': 'op',
      'service.auth.oidc.idp.op.issuer': issuer,
      'service.auth.oidc.idp.op.client-id': CLIENT,
      'service.auth.oidc.idp.op.client-secret': 'a secret+with:signs&more',
      'service.auth.oidc.idp.op.user-auto-provisioning': 'on',
      ...(Object.fromEntries(given) as Record<string, string>),
    },
  })
  const users = new Map<string, Claims>()
  const classes = new Map<string, string>()
  let key: JWK = {}
  const changeKey = async (): Promise<void> => {
    key = await newKey()
    const provider = new Provider(issuer, { ...configuration(service.base, key, users, client), ...more })
    const finish = provider.interactionFinished.bind(provider)
    // Its pages for tests know no classes of authentication.
    provider.interactionFinished = async (request, response, result, options) => {
      const acr = classes.get(result.login?.accountId ?? '')
      const login = result.login && { ...result.login, ...(acr === undefined ? {} : { acr }) }
      await finish(request, response, login ? { ...result, login } : result, options)
    }
    const callback = provider.callback()
    handle = (request, response) => void callback(request, response)
  }
  const sign = async (claims: Claims, typ: string): Promise<string> =>
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ, ...(key.kid === undefined ? {} : { kid: key.kid }) })
      .sign(await importJWK(key, 'RS256'))
  const publish = (document: Claims | undefined): void => void (published = document)
  const pair: OidcPair = { service, issuer, users, classes, changeKey, sign, publish, isAway: false }
  await changeKey()
  return pair
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: `key-${Math.random()}` }
}

const configuration = (base: string, key: JWK, users: ReadonlyMap<string, Claims>, client: Claims) => ({
  clients: [
    {
      client_id: CLIENT,
      client_secret: 'a secret+with:signs&more',
      redirect_uris: [`${base}auth/oidc/callback`],
      post_logout_redirect_uris: [`${base}auth/login`],
      backchannel_logout_uri: `${base}auth/oidc/backchannel-logout`,
      backchannel_logout_session_required: true,
      ...client,
    },
  ],
  jwks: { keys: [key] },
  cookies: { keys: ['a key of the tests'] },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups', 'locale'] },
  features: {
    backchannelLogout: { enabled: true },
    devInteractions: { enabled: true },
    jwtUserinfo: { enabled: true },
  },
  acrValues: [MFA, PASSWORD],
  pkce: { required: () => true },
  // Its own guard lets it send nothing to this machine.
  fetch: (url: URL, options: object) => globalThis.fetch(url, { ...options, dispatcher: undefined } as RequestInit),
  findAccount: (_context: unknown, sub: string) => ({
    accountId: sub,
    claims: () => ({ sub, ...users.get(sub) }),
  }),
})

/** Goes from the service to the provider, signs in there with any password, and comes back. */
export async function loginAtProvider(
  { service }: OidcPair,
  login: string,
  { query = '', browser = new HeadlessBrowser() }: { readonly query?: string; readonly browser?: HeadlessBrowser } = {},
): Promise<Page> {
  setClock(service)
  let page = await browser.visit(`${service.base}auth/oidc${query}`)
  const form = findForm(page, 'prompt', 'login')
  if (form) page = await browser.submit(page, form, { login, password: 'any' })
  const consent = findForm(page, 'prompt')
  return consent ? await browser.submit(page, consent) : page
}

/** Ends the session at the provider, and with it those of its clients. */
export async function logoutAtProvider({ issuer }: OidcPair, browser: HeadlessBrowser): Promise<Page> {
  const page = await browser.visit(`${issuer}/session/end`)
  const form = findForm(page, 'xsrf')
  if (!form) throw new Error(page.answer.text)
  return await browser.submit(page, form, { logout: 'yes' })
}
