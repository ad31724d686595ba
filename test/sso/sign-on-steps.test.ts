import assert from 'node:assert/strict'
import { test } from 'node:test'
import { userLogoutKey } from '../../src/accounts/session-lists.ts'
import type { Session } from '../../src/accounts/sessions.ts'
import { InvalidInput, Overloaded } from '../../src/base/errors.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { ProviderChoice } from '../../src/features/sso/provider-choice.ts'
import { anna, client, policy, signOnServices } from '../support/sign-on-services.ts'

test('a login begins with a flow that has what the request decided (D8.2)', async t => {
  const { signOn, flows } = signOnServices(t)
  const bound = { browser: 'digest', verifier: 'secret', entityId: 'urn:idp' }
  const login = { successUrl: 'https://ok.example/', failureUrl: undefined, bound }
  const { flow, redirect } = await signOn.begin('a', login, client, ({ id }) => ({ kind: 'redirect', url: `x:${id}` }))
  assert.deepEqual(redirect, { kind: 'redirect', url: `x:${flow.id}` })
  const { id: _, requestId: __, expires: ___, ...rest } = flow
  assert.deepEqual(rest, {
    provider: 'a',
    successUrl: 'https://ok.example/',
    failureUrl: undefined,
    ...bound,
    network: '192.0.2.1',
  })
  assert.deepEqual(await flows.consume(flow.id), flow)
})

test('a login that cannot begin is reported, with the address for failures or the one that stands in (D8.5)', async t => {
  const { signOn, recorded, failures } = signOnServices(t)
  const begin = (urls: object, error: Error = new SsoRefused({ check: 'metadata', received: 'x' })) =>
    signOn.begin('a', { successUrl: undefined, failureUrl: undefined, ...urls }, client, () => Promise.reject(error))
  await assert.rejects(begin({ failureUrl: 'https://f/', fallbackFailureUrl: 'https://g/' }), {
    failureUrl: 'https://f/',
  })
  await assert.rejects(begin({ fallbackFailureUrl: 'https://g/' }), { failureUrl: 'https://g/' })
  await assert.rejects(begin({}), { failureUrl: undefined })
  const words = failures
    .list()
    .map(({ correlation }) => correlation)
    .reverse()
  assert.deepEqual(
    recorded,
    words.map(correlation => ({
      event: 'login-failed',
      address: '192.0.2.1',
      detail: { mechanism: 'a', why: 'metadata', correlation },
    })),
  )
  const other = new Error('not a refusal')
  await assert.rejects(begin({}, other), other)
  assert.equal(recorded.length, 3)
})

test('a login gets the limits and keys of its provider (D8.4)', async t => {
  const { begun, complete, system } = signOnServices(t)
  await complete()
  assert.deepEqual(begun[0], {
    user: anna,
    mechanism: 'a',
    lifetime: {
      maximum: 600,
      notAfter: undefined,
      provider: 'a',
      authenticated: 0,
      logoutKeys: undefined,
      providerSession: undefined,
    },
    client,
    successUrl: 'https://ok.example/',
    provesFactor: false,
  })
  const sessionEnds = system.now() + 5000
  const authenticated = system.now() - 5
  await complete({ sessionEnds, authenticated, logoutKeys: ['k1', 'k2'], providerSession: 'p' })
  assert.deepEqual(begun[1]?.lifetime, {
    maximum: 600,
    notAfter: sessionEnds,
    provider: 'a',
    authenticated,
    logoutKeys: ['a\nk1', 'a\nk2'],
    providerSession: 'p',
  })
  await complete({ authenticated: system.now() + 60_000 })
  assert.equal(begun[2]?.lifetime.authenticated, system.now(), 'a clock that is ahead makes nothing fresher')
})

test('a login ends with the session of the provider', async t => {
  const { begun, complete, system } = signOnServices(t)
  const sessionEnds = system.now() + 9_999
  await complete()
  await complete({ sessionEnds })
  assert.deepEqual(
    begun.map(({ lifetime }) => lifetime?.notAfter),
    [undefined, sessionEnds],
  )
})

test('a provider ends logins by its own keys only, each on record (D30.1)', async t => {
  const { signOn, ended, recorded } = signOnServices(t)
  await signOn.endLogins('a', 'key', client)
  assert.deepEqual(ended, [['a\nkey', undefined]])
  const logout = (userId: string) => ({ event: 'logout', userId, address: '192.0.2.1', detail: { mechanism: 'a' } })
  assert.deepEqual(recorded, [logout('7'), logout('8')])
  await signOn.endLogins('a', 'key', client, session => session === 'mine')
  const fits = ended[1]?.[1]
  const session = (provider: string, providerSession: string) => ({ provider, providerSession }) as Session
  assert.equal(fits?.(session('a', 'mine')), true)
  assert.equal(fits?.(session('a', 'other')), false)
  assert.equal(fits?.(session('b', 'mine')), false)
})

test('all logins of a subject end that its provider opened, and no others (D26.5)', async t => {
  const { signOn, ended, recorded, open } = signOnServices(t)
  for (const [token, provider] of [
    ['one', 'a'],
    ['two', 'b'],
    ['three', undefined],
    ['raced', 'a'],
    ['four', 'a'],
  ] as const)
    open.set(token, { token, provider } as Session)
  await signOn.endLoginsOf('a', { issuer: 'https://idp.a', subject: 'unknown' }, client)
  assert.deepEqual([ended.length, recorded.length, open.size], [0, 0, 5])
  await signOn.endLoginsOf('a', { issuer: 'https://idp.a', subject: 's' }, client)
  assert.deepEqual([...open.keys()], ['two', 'three'])
  assert.deepEqual(ended, [[userLogoutKey('a', '7'), undefined]])
  const logout = { event: 'logout', userId: '7', address: '192.0.2.1', detail: { mechanism: 'a' } }
  assert.deepEqual(recorded, [logout, logout])
})

test('what each provider stated last is kept, if it is not too large (D27.7)', async t => {
  const { complete, latest, system } = signOnServices(t)
  assert.equal(latest.find('a'), undefined)
  await complete({ attributes: { a: '1' } })
  const first = { time: system.now(), provider: 'a', name: 'anna', subject: 's', attributes: { a: '1' } }
  assert.deepEqual(latest.find('a'), first)
  assert.equal(latest.find('b'), undefined)
  system.pass(1)
  await complete({ name: 'bea', subject: undefined as never })
  assert.deepEqual(latest.find('a'), {
    ...first,
    time: system.now(),
    name: 'bea',
    subject: undefined,
    attributes: {},
  })
  await complete({ attributes: { a: 'x'.repeat(65_536 - 8) } })
  assert.ok(latest.find('a')?.attributes)
  await complete({ attributes: { a: 'x'.repeat(65_536 - 7) } })
  assert.equal(latest.find('a')?.attributes, undefined)
})

const providers = [
  { policy: { ...policy, name: 'a', domains: [] } },
  { policy: { ...policy, name: 'b', domains: ['b.example', 'xn--mnchen-3ya.example'] } },
  { policy: { ...policy, name: 'c', domains: undefined } },
]

const choiceOf = (defaultProvider?: string) =>
  new ProviderChoice({
    providers,
    defaultProvider,
    targets: { require: text => text },
    successUrl: undefined,
    failureUrl: undefined,
  })

test('a provider is chosen by its name, else by the domain of the user name, else it is the default (D8.1)', () => {
  const choose = (request: { idp?: string; username?: string }, byDefault?: string) =>
    choiceOf(byDefault).choose(request.idp, request.username).policy.name
  assert.equal(choose({ idp: 'c', username: 'x@b.example' }, 'a'), 'c')
  assert.equal(choose({ username: 'x@B.Example' }, 'a'), 'b')
  assert.equal(choose({ username: 'x@München.example' }, 'a'), 'b')
  assert.equal(choose({ username: 'x@other.example' }, 'a'), 'a')
  assert.equal(choose({}, 'c'), 'c')
  const refused = (message: string) => (error: unknown) => {
    assert.ok(error instanceof InvalidInput)
    assert.deepEqual([error.code, error.message], ['unknown-idp', message])
    return true
  }
  assert.throws(() => choose({ idp: 'x' }, 'a'), refused('There is no identity provider "x"; there is a, b, c.'))
  assert.throws(() => choose({}), refused('The request names no identity provider; there is a, b, c.'))
  assert.equal(choiceOf().ownerOf(undefined), undefined)
  assert.equal(choiceOf().ownerOf('b.example')?.policy.name, 'b')
})

test('an overload during the checks puts the flow back, other errors do not (D8.2)', async t => {
  const { signOn, flows } = signOnServices(t)
  const attempt = async (error: Error) => {
    const flow = await flows.create({ provider: 'a', successUrl: undefined, failureUrl: undefined }, '192.0.2.1')
    const consumed = await flows.consume(flow.id)
    const common = {
      policy,
      client,
      successUrl: undefined,
      failureUrl: undefined,
      verify: async (): Promise<never> => {
        throw error
      },
    }
    await assert.rejects(signOn.complete({ ...common, flow: consumed }), error)
    await assert.rejects(signOn.complete({ ...common, flow: undefined }), error)
    return (await flows.consume(flow.id)) !== undefined
  }
  assert.equal(await attempt(new Overloaded('busy')), true)
  assert.equal(await attempt(new Error('broken')), false)
})
