import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fetch, FetchedResponse } from '../../../src/base/fetch.ts'
import type { Metadata } from '../../../src/features/sso/metadata-source.ts'
import { issuerOf, OidcProvider, type OidcProviderOptions } from '../../../src/features/oidc/provider.ts'
import { type OidcServer, readKeys } from '../../../src/features/oidc/server.ts'
import { SsoRefused } from '../../../src/features/sso/refusal.ts'
import { FakeSystem } from '../../support/fake-system.ts'
import {
  CALLBACK,
  CLIENT,
  flow,
  honestExchange,
  ISSUER,
  jsonAnswer,
  jwkOf,
  NONCE,
  providerOptions,
  sign,
  STATE,
} from './exchange.ts'

const system = new FakeSystem()
const http = (url: string): string => url.replace('https:', 'http:')
const keysOf = (...names: Parameters<typeof jwkOf>[0][]) =>
  readKeys(JSON.stringify({ keys: names.map(name => jwkOf(name)) }))
const server: OidcServer = {
  entityId: ISSUER,
  endpoints: {
    authorization: `${ISSUER}/auth?tenant=1`,
    token: `${ISSUER}/token`,
    jwks: `${ISSUER}/jwks`,
    userinfo: `${ISSUER}/me`,
    endSession: `${ISSUER}/end`,
  },
  sendsIssuer: false,
  algorithms: ['RS256', 'ES256'],
  keys: keysOf('rsa'),
  certificates: [],
}
const options: OidcProviderOptions = { ...providerOptions, clientSecret: 'a:secret' }

interface Setup {
  readonly changes?: Partial<OidcProviderOptions>
  readonly server?: Partial<OidcServer>
  /** The keys that are published now. */
  readonly published?: readonly string[]
  readonly claims?: Record<string, unknown>
  readonly userinfo?: object
  /** Further members of the token response. */
  readonly more?: object
  readonly key?: 'rsa' | 'other' | 'p256'
}

function setUp(setup: Setup = {}) {
  let known: OidcServer = { ...server, ...setup.server }
  const asked: Fetch[] = []
  let reloads = 0
  const metadata: Metadata<OidcServer> = {
    current: async () => known,
    reloadForUnknownKey: async () => {
      reloads++
      if (!setup.published) return false
      known = { ...known, keys: setup.published }
      return true
    },
    status: async () => ({ url: ISSUER, loadedAt: undefined, metadata: known, problem: undefined }),
    warnOfExpiry: () => {},
  }
  const { key = 'rsa' } = setup
  const token = sign(
    { alg: key === 'p256' ? 'ES256' : 'RS256', kid: key },
    { ...honestExchange().claims, ...setup.claims },
    key,
  )
  const answers: Readonly<Record<string, () => FetchedResponse>> = {
    [`${http(ISSUER)}/token`]: () => answers[`${ISSUER}/token`]?.() ?? jsonAnswer({}, 404),
    [`${ISSUER}/token`]: () =>
      jsonAnswer({ id_token: token, access_token: 'access', token_type: 'Bearer', ...setup.more }),
    [`${ISSUER}/me`]: () => jsonAnswer({ sub: 'subject-1', ...setup.userinfo }),
  }
  const fetch = async (wanted: Fetch) => {
    asked.push(wanted)
    return answers[wanted.url]?.() ?? jsonAnswer({}, 404)
  }
  const provider = new OidcProvider({ ...options, ...setup.changes }, { system, metadata, fetch })
  const finish = () =>
    provider.finish(flow, `?${new URLSearchParams({ code: 'a-code', state: STATE, iss: ISSUER }).toString()}`)
  return { provider, finish, asked, token, reloads: () => reloads }
}

test('the address of a login has everything that the provider must send back, and nothing else (D26.2)', async () => {
  const parametersOf = async (changes: Partial<OidcProviderOptions>, hint?: string) => {
    const { kind, url } = await setUp({ changes }).provider.begin(flow, hint)
    assert.equal(kind, 'redirect')
    const { origin, pathname, searchParams } = new URL(url)
    assert.equal(origin + pathname, `${ISSUER}/auth`)
    return Object.fromEntries(searchParams)
  }
  const plainly = {
    tenant: '1',
    client_id: CLIENT,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid email',
    state: STATE,
    nonce: NONCE,
    code_challenge: 'p1bVSh8PFdU5xPaEbnAeMH0mVNVjVGzVBQiVNChY8Q0',
    code_challenge_method: 'S256',
  }
  const { code_challenge: challenge, ...rest } = await parametersOf({})
  assert.match(challenge ?? '', /^[\w-]{43}$/)
  const { code_challenge: _, ...expected } = plainly
  assert.deepEqual(rest, expected)
  const all = await parametersOf({ acrValues: 'gold silver', maxAuthenticationAge: 300 }, 'a@b')
  assert.deepEqual(
    { ...all, code_challenge: '' },
    { ...plainly, code_challenge: '', acr_values: 'gold silver', max_age: '300', login_hint: 'a@b' },
  )
})

test('an identity has the claims, the session and the class of authentication of its token (D26.6)', async () => {
  const claims = honestExchange().claims
  const plainly = {
    name: 'anna@example.org',
    nameIsUnverified: false,
    issuer: ISSUER,
    subject: 'subject-1',
    attributes: claims,
  }
  assert.deepEqual(await setUp().finish(), plainly)
  const more = { sid: 'session-1', acr: 'gold' }
  assert.deepEqual(await setUp({ claims: more }).finish(), {
    ...plainly,
    attributes: { ...claims, ...more },
    logoutKeys: ['session-1'],
    authnContext: 'gold',
  })
  const odd = { sid: 7, acr: 7 }
  assert.deepEqual(await setUp({ claims: odd }).finish(), { ...plainly, attributes: { ...claims, ...odd } })
  const ending = setUp({ changes: { endsSession: true } })
  assert.deepEqual(await ending.finish(), { ...plainly, providerSession: ending.token })
  assert.equal(ending.provider.endsSession, true)
})

test('a token is kept for the end of the session if it has at most 8,192 characters (D26.6)', async () => {
  const withMore = (characters: number) =>
    setUp({ changes: { endsSession: true }, claims: { more: 'x'.repeat(characters) } })
  // Four characters of base64 for three bytes.
  const most = Math.floor(((8192 - withMore(0).token.length) * 3) / 4)
  const longest = Array.from({ length: 4 }, (_, at) => withMore(most - 1 + at)).find(
    ({ token }) => token.length === 8192,
  )
  assert.ok(longest)
  assert.equal((await longest.finish()).providerSession, longest.token)
  const longer = withMore(most + 4)
  assert.ok(longer.token.length > 8192 && longer.token.length < 8200, String(longer.token.length))
  assert.equal((await longer.finish()).providerSession, undefined)
})

test('a client authenticates as the settings say, with proof of the login (D26.2)', async () => {
  const requestOf = async (changes: Partial<OidcProviderOptions>) => {
    const { finish, asked } = setUp({ changes })
    await finish()
    assert.equal(asked.length, 1)
    const { url, method, headers = {}, body = '', timeout, maxBytes, verifyTls } = asked[0] as Fetch
    assert.deepEqual([url, method, timeout, maxBytes, verifyTls], [`${ISSUER}/token`, 'POST', 10_000, 262_144, true])
    const fields: Record<string, string> = Object.fromEntries(new URLSearchParams(body))
    const { client_secret: secret, client_id: id, ...rest } = fields
    assert.deepEqual(rest, {
      grant_type: 'authorization_code',
      code: 'a-code',
      redirect_uri: CALLBACK,
      code_verifier: flow.verifier,
    })
    return { authorization: new Headers(headers).get('authorization'), secret, id }
  }
  assert.deepEqual(await requestOf({}), {
    authorization: `Basic ${Buffer.from('stowage:a%3Asecret').toString('base64')}`,
    secret: undefined,
    id: undefined,
  })
  assert.deepEqual(await requestOf({ clientSecret: undefined }), { authorization: null, secret: undefined, id: CLIENT })
})

test('userinfo is asked with the access token where the token lacks a claim, if the provider has it (D26.6)', async () => {
  const claims = { email: undefined, email_verified: undefined }
  const userinfo = { email: 'bea@example.org', email_verified: true, extra: 1 }
  const { finish, asked } = setUp({ claims, userinfo })
  const identity = await finish()
  assert.deepEqual(
    [identity.name, identity.nameIsUnverified, identity.attributes?.['extra']],
    ['bea@example.org', false, 1],
  )
  assert.deepEqual(
    asked.map(({ url, method }) => [method, url]),
    [
      ['POST', `${ISSUER}/token`],
      ['GET', `${ISSUER}/me`],
    ],
  )
  assert.equal(new Headers(asked[1]?.headers ?? {}).get('authorization'), 'Bearer access')
  const without = setUp({ claims, server: { endpoints: { ...server.endpoints, userinfo: undefined } } })
  await assert.rejects(without.finish(), {
    failed: { check: 'name-claim', expected: 'the claim email', received: 'none' },
  })
})

test('a signature by an unknown key is checked once more with the keys that are published now (D26.3)', async () => {
  const changed = setUp({ key: 'other', published: keysOf('other') })
  assert.equal((await changed.finish()).subject, 'subject-1')
  assert.equal(changed.reloads(), 1)
  const same = setUp({ key: 'other' })
  await assert.rejects(
    same.finish(),
    (error: unknown) => error instanceof SsoRefused && error.failed.check === 'token-key',
  )
  assert.equal(same.reloads(), 1)
  const still = setUp({ key: 'other', published: keysOf('p256') })
  await assert.rejects(still.finish(), {
    failed: { check: 'token-key', expected: 'a key of the provider', received: 'none that fits' },
  })
  const wrongClaim = setUp({ claims: { azp: 'another' } })
  await assert.rejects(wrongClaim.finish(), SsoRefused)
  const wrongAudience = setUp({ claims: { iat: 1e10 } })
  await assert.rejects(wrongAudience.finish(), SsoRefused)
  assert.equal(wrongClaim.reloads() + wrongAudience.reloads(), 0, 'other refusals load nothing')
})

test('a session at the provider ends at its address, with the token as a hint where there is one (D26.5)', async () => {
  const { provider } = setUp()
  const parametersOf = (url: string | undefined) => Object.fromEntries(new URL(url ?? '').searchParams)
  const returnTo = 'https://store.example/bye'
  assert.ok((await provider.endSessionUrl(returnTo))?.startsWith(`${ISSUER}/end?`))
  assert.deepEqual(parametersOf(await provider.endSessionUrl(returnTo)), {
    post_logout_redirect_uri: returnTo,
    client_id: CLIENT,
  })
  assert.deepEqual(parametersOf(await provider.endSessionUrl(returnTo, 'token')), {
    post_logout_redirect_uri: returnTo,
    client_id: CLIENT,
    id_token_hint: 'token',
  })
  const without = setUp({ server: { endpoints: { ...server.endpoints, endSession: undefined } } })
  assert.equal(await without.provider.endSessionUrl(returnTo), undefined)
  assert.deepEqual(
    [provider.issuer, provider.clientId, provider.name, provider.endsSession],
    [ISSUER, CLIENT, 'op', false],
  )
})

test('a provider at http on this machine is asked, one behind https is not over http (D26.2)', async () => {
  const endpoints = { ...server.endpoints, token: http(server.endpoints.token) }
  const secure = setUp({ server: { endpoints } })
  await assert.rejects(secure.finish())
  assert.deepEqual(secure.asked, [])
  const local = setUp({ changes: { issuer: http(ISSUER) }, server: { endpoints }, claims: { iss: http(ISSUER) } })
  const { url } = await local.provider.begin(flow, undefined)
  assert.ok(url.startsWith(`${ISSUER}/auth`))
  const back = `?${new URLSearchParams({ code: 'a-code', state: STATE, iss: http(ISSUER) }).toString()}`
  assert.equal((await local.provider.finish(flow, back)).issuer, http(ISSUER))
})

test('a name is read of claims by the same rules, without a sign-on (D27.7)', () => {
  const { provider } = setUp()
  const claims = { email: 'a@b', email_verified: true }
  assert.deepEqual(provider.readName(claims), { name: 'a@b', nameIsUnverified: false })
  assert.deepEqual(provider.readName({ email: 'a@b' }), { name: 'a@b', nameIsUnverified: true })
  assert.throws(() => provider.readName({}), {
    failed: { check: 'name-claim', expected: 'the claim email', received: 'none' },
  })
})

test('replies and tokens that take long to parse are refused before they are parsed (D35.26)', async () => {
  const groups = (count: number) => ({ groups: Array.from({ length: count }, (_, n) => `group ${n}`) })
  assert.equal((await setUp({ claims: groups(10_000) }).finish()).subject, 'subject-1')
  const deep = JSON.parse('['.repeat(501) + ']'.repeat(501)) as unknown
  const lacking = { name: undefined, email: undefined, preferred_username: undefined }
  for (const setup of [
    { more: groups(21_000) },
    { more: { deep } },
    { claims: groups(21_000) },
    { claims: { deep } },
    { claims: lacking, userinfo: groups(21_000) },
  ]) {
    await assert.rejects(setUp(setup).finish(), (error: unknown) => {
      assert.ok(error instanceof SsoRefused, String(error))
      assert.equal(error.failed.check, 'provider-unreachable')
      assert.match(error.failed.received ?? '', /more values than are accepted/)
      return true
    })
  }
  const logout = sign({ alg: 'RS256', kid: 'rsa' }, { iss: ISSUER, aud: CLIENT, ...groups(21_000) }, 'rsa')
  assert.equal(issuerOf(logout), undefined)
  assert.ok(issuerOf(sign({ alg: 'RS256', kid: 'rsa' }, { iss: ISSUER, aud: CLIENT, ...groups(1000) }, 'rsa')))
})
