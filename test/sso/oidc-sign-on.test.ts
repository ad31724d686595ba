import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../../src/accounts/sessions.ts'
import { digestOf } from '../../src/accounts/tokens.ts'
import type { LoginFlow, VerifiedIdentity } from '../../src/features/sso/identity-provider.ts'
import type { LogoutRequest } from '../../src/features/oidc/token.ts'
import type { OidcProvider } from '../../src/features/oidc/provider.ts'
import { type OidcLogin, OidcSignOn } from '../../src/features/oidc/sign-on.ts'
import { RedirectTargets } from '../../src/features/sso/redirect-targets.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { client, identity, signOnServices } from '../support/sign-on-services.ts'

interface Setup {
  readonly begin?: () => never
  readonly finish?: () => Promise<VerifiedIdentity>
  readonly readLogout?: () => LogoutRequest
  readonly endsSession?: boolean
  readonly current?: () => Promise<unknown>
}

/** Two providers, `a` and `b` of b.example; the client of both is `stowage`. */
function setUp(t: Parameters<typeof signOnServices>[0], setup: Setup = {}) {
  const services = signOnServices(t)
  const calls: unknown[] = []
  const login = (name: string, domains: readonly string[]): OidcLogin => ({
    provider: {
      name,
      issuer: `https://${name}.example`,
      clientId: 'stowage',
      endsSession: setup.endsSession ?? false,
      metadata: {
        current: async () => {
          calls.push(['current', name])
          return await setup.current?.()
        },
      },
      begin: async (flow: LoginFlow, hint: string | undefined) => {
        setup.begin?.()
        calls.push(['begin', flow, hint])
        return { kind: 'redirect', url: `https://${name}.example/?state=${flow.id}` }
      },
      finish: async (flow: LoginFlow, query: string) => {
        calls.push(['finish', name, flow, query])
        return await (setup.finish?.() ?? Promise.resolve(identity))
      },
      readLogout: async (token: string) => {
        calls.push(['readLogout', name, token])
        return setup.readLogout?.()
      },
      endSessionUrl: async (returnTo: string, idToken: string | undefined) => {
        calls.push(['endSessionUrl', name, returnTo, idToken])
        return 'https://end/'
      },
    } as unknown as OidcProvider,
    policy: { name, provisions: true, domains, maxAge: undefined },
    display: { label: name, logoutUrl: undefined },
  })
  const { signOn, flows, system } = services
  const oidc = new OidcSignOn(
    { signOn, flows, system },
    {
      providers: [login('a', []), login('b', ['b.example'])],
      defaultProvider: 'a',
      targets: new RedirectTargets('store.example', ['ok.example']),
      successUrl: 'https://ok.example/default',
      failureUrl: 'https://ok.example/failed',
    },
  )
  const newFlow = (changes: Partial<LoginFlow> = {}) =>
    flows.create({ provider: 'b', successUrl: undefined, failureUrl: undefined, ...changes }, client.address)
  return { ...services, oidc, calls, newFlow }
}

const nothing = { idp: undefined, username: undefined, successUrl: undefined, failureUrl: undefined }

test('a login begins at the provider that was asked for, bound to the browser (D26.2)', async t => {
  const { oidc, calls, flows, system } = setUp(t)
  const url = await oidc.begin({ ...nothing, username: 'x@b.example' }, 'secret', client)
  const [, flow, hint] = calls[0] as readonly [string, LoginFlow, string]
  assert.deepEqual([url, hint], [`https://b.example/?state=${flow.id}`, 'x@b.example'])
  const { id, requestId: _, verifier = '', ...rest } = flow
  assert.deepEqual(rest, {
    provider: 'b',
    successUrl: undefined,
    failureUrl: undefined,
    browser: digestOf('secret'),
    expires: system.now() + 900_000,
    network: '192.0.2.1',
  })
  assert.match(verifier, /^[\w-]{43}$/)
  assert.deepEqual(await flows.consume(id), flow)
  const urls = { successUrl: 'https://ok.example/x', failureUrl: 'https://ok.example/y' }
  await oidc.begin({ ...nothing, ...urls }, 'secret', client)
  const [, second, noHint] = calls[1] as readonly [string, LoginFlow, string | undefined]
  const { provider, successUrl, failureUrl } = second
  assert.deepEqual([provider, successUrl, failureUrl, noHint], ['a', urls.successUrl, urls.failureUrl, undefined])
  assert.notEqual(second.verifier, verifier)
})

test('a login with a wrong address or provider does not begin (D8.7)', async t => {
  const { oidc, calls } = setUp(t)
  const wrong = (parameter: string) => ({ code: 'invalid-redirect', message: new RegExp(`^\`${parameter}\``) })
  const evil = 'https://evil.example/'
  await assert.rejects(oidc.begin({ ...nothing, successUrl: evil }, 's', client), wrong('successurl'))
  await assert.rejects(oidc.begin({ ...nothing, failureUrl: evil }, 's', client), wrong('failureurl'))
  await assert.rejects(oidc.begin({ ...nothing, idp: 'x' }, 's', client), { code: 'unknown-idp' })
  assert.deepEqual(calls, [])
})

test('a login that cannot begin leads to the address for failures (D8.5)', async t => {
  const begin = (): never => {
    throw new SsoRefused({ check: 'metadata' })
  }
  const { oidc } = setUp(t, { begin })
  await assert.rejects(oidc.begin(nothing, 's', client), { failureUrl: 'https://ok.example/failed' })
  const failureUrl = 'https://ok.example/asked'
  await assert.rejects(oidc.begin({ ...nothing, failureUrl }, 's', client), { failureUrl })
})

const bound = { browser: digestOf('secret') }

test('the browser that began a login completes it, once (D26.2)', async t => {
  const { oidc, calls, begun, newFlow } = setUp(t)
  const flow = await newFlow({ ...bound, successUrl: 'https://ok.example/x' })
  const back = { state: flow.id, query: '?code=x', browser: 'secret' }
  await oidc.complete(back, client)
  assert.deepEqual(calls, [['finish', 'b', flow, '?code=x']])
  assert.deepEqual([begun[0]?.mechanism, begun[0]?.successUrl], ['b', 'https://ok.example/x'])
  const failed = { check: 'state', expected: 'a login begun here', received: 'none, or one that is over' }
  await assert.rejects(oidc.complete(back, client), { failed, failureUrl: 'https://ok.example/failed' })
  await assert.rejects(oidc.complete({ ...back, state: undefined }, client), { failed })
  const other = await newFlow({ ...bound, provider: 'saml' })
  await assert.rejects(oidc.complete({ ...back, state: other.id }, client), { failed })
  const plain = await newFlow(bound)
  await oidc.complete({ ...back, state: plain.id }, client)
  assert.equal(begun[1]?.successUrl, 'https://ok.example/default')
})

test('the refusal of an unknown login is on record without a provider (D8.5)', async t => {
  const { oidc, recorded, failures } = setUp(t)
  await assert.rejects(oidc.complete({ state: 'x', query: '', browser: 'secret' }, client))
  const detail = { mechanism: 'oidc', why: 'state', correlation: failures.list()[0]?.correlation }
  assert.deepEqual(recorded, [{ event: 'login-failed', address: '192.0.2.1', detail }])
})

test('another browser cannot complete a login (D26.2)', async t => {
  const { oidc, calls, newFlow } = setUp(t)
  const expected = 'the browser that began the login'
  for (const [flow, browser, received] of [
    [bound, undefined, 'no cookie of a login'],
    [bound, 'other', 'the cookie of another one'],
    [{}, 'secret', 'the cookie of another one'],
    [{}, undefined, 'no cookie of a login'],
  ] as const) {
    const { id } = await newFlow(flow)
    await assert.rejects(oidc.complete({ state: id, query: '', browser }, client), {
      failed: { check: 'browser', expected, received },
    })
  }
  assert.deepEqual(calls, [])
})

test('a refusal leads to the address that the login named, else to that of the settings (D8.5)', async t => {
  const finish = () => Promise.reject(new SsoRefused({ check: 'token-key' }))
  const { oidc, newFlow } = setUp(t, { finish })
  for (const [asked, failureUrl] of [
    ['https://ok.example/asked', 'https://ok.example/asked'],
    [undefined, 'https://ok.example/failed'],
  ]) {
    const { id } = await newFlow({ ...bound, failureUrl: asked })
    await assert.rejects(oidc.complete({ state: id, query: '', browser: 'secret' }, client), { failureUrl })
  }
})

test('a sign-out goes on at the provider that signed the user in, if a setting says so (D26.5)', async t => {
  const { oidc, calls } = setUp(t, { endsSession: true })
  const url = (session: Partial<Session>) => oidc.logoutUrl(session as Session, 'https://store.example/bye')
  assert.equal(await url({ provider: 'b', providerSession: 'token' }), 'https://end/')
  assert.deepEqual(calls, [
    ['current', 'b'],
    ['endSessionUrl', 'b', 'https://store.example/bye', 'token'],
  ])
  assert.deepEqual([await url({}), await url({ provider: 'x' })], [undefined, undefined])
  const off = setUp(t)
  assert.equal(await off.oidc.logoutUrl({ provider: 'b' } as Session, ''), undefined)
  assert.equal(off.calls.length, 0)
  const away = setUp(t, { endsSession: true, current: () => Promise.reject(new Error('away')) })
  assert.equal(await away.oidc.logoutUrl({ provider: 'b' } as Session, ''), 'https://end/')
})

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenOf = (claims: object) => `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`
const fromB = tokenOf({ iss: 'https://b.example', aud: 'stowage' })
const once = { id: 'jti', until: Date.UTC(2026, 10, 21, 10, 10) }

test('a logout token ends the session that it names, once (D26.5)', async t => {
  let id = 'one'
  const { oidc, calls, ended } = setUp(t, {
    readLogout: () => ({ sid: 'session', subject: 's', once: { ...once, id } }),
  })
  await oidc.endLogins(fromB, client)
  assert.deepEqual(calls, [['readLogout', 'b', fromB]])
  assert.deepEqual(ended, [['b\nsession', undefined]])
  await assert.rejects(oidc.endLogins(fromB, client), {
    code: 'invalid-logout-token',
    message: 'The logout token was refused (replay).',
  })
  id = 'two'
  await oidc.endLogins(tokenOf({ iss: 'https://b.example', aud: ['x', 'stowage'] }), client)
  assert.equal(ended.length, 2)
})

test('a logout token without a session ends all of its subject (D26.5)', async t => {
  const { oidc, open, ended } = setUp(t, { readLogout: () => ({ sid: undefined, subject: 's', once }) })
  open.set('one', { token: 'one', provider: 'b' } as Session)
  open.set('two', { token: 'two', provider: 'a' } as Session)
  await oidc.endLogins(fromB, client)
  assert.deepEqual([[...open.keys()], ended.length], [['two'], 1])
})

test('a logout token that is refused is reported to its sender and on record (D26.5)', async t => {
  const readLogout = (): never => {
    throw new SsoRefused({ check: 'token-signature' })
  }
  const { oidc, recorded, ended, failures } = setUp(t, { readLogout })
  await assert.rejects(oidc.endLogins(fromB, client), (error: unknown) => {
    assert.ok(error instanceof Error)
    const { code, message, cause } = error as Error & { readonly code?: string }
    assert.deepEqual([code, message], ['invalid-logout-token', 'The logout token was refused (token-signature).'])
    assert.ok(cause instanceof SsoRefused && cause.failureUrl === undefined)
    return true
  })
  const detail = { mechanism: 'b', why: 'token-signature', correlation: failures.list()[0]?.correlation }
  assert.deepEqual(recorded, [{ event: 'login-failed', address: '192.0.2.1', detail }])
  assert.deepEqual(ended, [])
  const broken = new Error('broken')
  const failing = setUp(t, {
    readLogout: () => {
      throw broken
    },
  })
  await assert.rejects(failing.oidc.endLogins(fromB, client), broken)
})

test('a logout token must be from a provider of this service, for its client (D26.5)', async t => {
  const { oidc, calls, recorded } = setUp(t)
  const refused = { code: 'invalid-logout-token', message: 'The token is not from a provider of this service.' }
  for (const token of [
    '',
    'no token',
    tokenOf({ iss: 'https://b.example', aud: 'other' }),
    tokenOf({ iss: 'https://b.example' }),
    tokenOf({ iss: 'https://x.example', aud: 'stowage' }),
    tokenOf({ aud: 'stowage' }),
  ])
    await assert.rejects(oidc.endLogins(token, client), refused, token)
  assert.deepEqual([calls, recorded], [[], []])
})

test('what others read', t => {
  const { oidc } = setUp(t)
  assert.deepEqual(
    oidc.providers.map(({ policy }) => policy.name),
    ['a', 'b'],
  )
  assert.equal(oidc.find('b')?.provider.name, 'b')
  assert.equal(oidc.find('x'), undefined)
  assert.equal(oidc.successUrl, 'https://ok.example/default')
  assert.equal(oidc.choose(undefined, 'x@b.example').policy.name, 'b')
  assert.match(oidc.newBrowser(), /^[\w-]{43}$/)
  assert.notEqual(oidc.newBrowser(), oidc.newBrowser())
})
