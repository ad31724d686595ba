import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../../src/accounts/sessions.ts'
import { Overloaded } from '../../src/base/errors.ts'
import type { LoginFlow } from '../../src/features/sso/identity-provider.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import type { LogoutRequest, ReceivedLogout, VerifiedLogout } from '../../src/features/saml/logout-message.ts'
import { sessionKey, userKey } from '../../src/features/saml/provider-session.ts'
import type { SamlProvider } from '../../src/features/saml/provider.ts'
import { SamlSignOn } from '../../src/features/saml/sign-on.ts'
import { client, signOnServices } from '../support/sign-on-services.ts'

const IDP = 'https://idp.a'
const noted = JSON.stringify({ issuer: IDP, name: 'anna-id', nameId: {}, sessionIndex: '_s' })
const received: ReceivedLogout = { binding: 'redirect', query: 'SAMLRequest=x' }
const answer = { kind: 'redirect', url: 'https://idp.a/answer' } as const

interface Setup {
  readonly logout?: SamlProvider['logout']
  readonly reads?: () => VerifiedLogout
  readonly requests?: () => object | undefined
  readonly answers?: object | undefined
}

function setUp(t: Parameters<typeof signOnServices>[0], setup: Setup = {}) {
  const services = signOnServices(t)
  const calls: unknown[] = []
  const provider = {
    name: 'a',
    logout: setup.logout ?? 'on',
    requestLogout: async (flow: LoginFlow, session: string) => {
      calls.push(['request', flow, session])
      return setup.requests ? setup.requests() : answer
    },
    readLogout: async (message: ReceivedLogout, flow: LoginFlow | undefined) => {
      calls.push(['read', message, flow])
      return setup.reads?.()
    },
    answerLogout: async (id: string, request: LogoutRequest, relayState: string | undefined) => {
      calls.push(['answer', id, request, relayState])
      return 'answers' in setup ? setup.answers : answer
    },
  } as unknown as SamlProvider
  const policy = { name: 'a', provisions: true, domains: [], maxAge: undefined }
  const display = { label: 'a', labels: new Map<string, string>(), logoutUrl: undefined }
  const { signOn, flows, system } = services
  const targets = { require: (text: string) => text }
  const options = { defaultProvider: undefined, targets, successUrl: undefined, failureUrl: 'https://failed.example/' }
  const deps = { signOn, flows, system, close: async () => {} }
  const saml = new SamlSignOn(deps, { providers: [{ provider, policy, display }], ...options })
  const receive = (relayState?: string) => saml.receiveLogout('a', { received, relayState }, client)
  const signOut = (session: Partial<Session>) => saml.beginLogout(session as Session, client)
  const newFlow = (changes: Partial<LoginFlow> = {}) =>
    flows.create(
      { provider: 'a', successUrl: undefined, failureUrl: undefined, isLogout: true, ...changes },
      client.address,
    )
  return { ...services, saml, calls, receive, signOut, newFlow }
}

const request: LogoutRequest = {
  kind: 'request',
  id: '_1',
  issuer: IDP,
  name: 'anna-id',
  sessionIndexes: ['_s', '_t'],
  issued: Date.UTC(2026, 10, 21, 9, 55),
  until: Date.UTC(2026, 10, 21, 10, 5),
}
const refused = new SsoRefused({ check: 'signature' })

test('a sign-out takes the browser to the provider that signed the user in (D30.2)', async t => {
  const { signOut, calls, flows, system } = setUp(t)
  assert.equal(await signOut({ provider: 'a', providerSession: noted }), answer)
  const [, flow, session] = calls[0] as readonly [string, LoginFlow, string]
  assert.equal(session, noted)
  const { id, requestId: _, ...rest } = flow
  assert.deepEqual(rest, {
    provider: 'a',
    entityId: IDP,
    successUrl: undefined,
    failureUrl: undefined,
    isLogout: true,
    expires: system.now() + 900_000,
    network: '192.0.2.1',
  })
  assert.deepEqual(await flows.consume(id), flow)
})

test('a sign-out stays here where nothing can be ended at a provider (D30.2)', async t => {
  for (const session of [
    {},
    { providerSession: noted },
    { provider: 'b', providerSession: noted },
    { provider: 'a' },
  ]) {
    const { signOut, calls } = setUp(t)
    assert.equal(await signOut(session), undefined)
    assert.deepEqual(calls, [])
  }
  for (const logout of ['off', 'accept'] as const) {
    const { signOut, calls } = setUp(t, { logout })
    assert.equal(await signOut({ provider: 'a', providerSession: noted }), undefined)
    assert.deepEqual(calls, [])
  }
  const { signOut } = setUp(t, { requests: () => undefined })
  assert.equal(await signOut({ provider: 'a', providerSession: noted }), undefined)
})

test('a problem with the provider is reported and does not hinder a sign-out, other errors do (D30.2)', async t => {
  const failing = (error: Error) =>
    setUp(t, {
      requests: () => {
        throw error
      },
    })
  const session = { provider: 'a', providerSession: noted }
  const one = failing(refused)
  assert.equal(await one.signOut(session), undefined)
  const detail = { mechanism: 'a', why: 'signature', correlation: one.failures.list()[0]?.correlation }
  assert.deepEqual(one.recorded, [{ event: 'login-failed', address: '192.0.2.1', detail }])
  assert.equal(await failing(new Overloaded('busy')).signOut(session), undefined)
  const broken = new Error('broken')
  await assert.rejects(failing(broken).signOut(session), broken)
})

test('a request of the provider ends the sessions that it names, and is answered (D30.1)', async t => {
  const { receive, calls, ended, recorded, flows } = setUp(t, { reads: () => request })
  const step = await receive('their state')
  assert.deepEqual(step, { kind: 'answer', redirect: answer })
  const keys = [sessionKey(IDP, 'anna-id', '_s'), sessionKey(IDP, 'anna-id', '_t'), sessionKey(IDP, 'anna-id')]
  assert.deepEqual(
    ended,
    keys.map(key => [`a\n${key}`, undefined]),
  )
  assert.equal(recorded.length, 6)
  assert.equal(await flows.isSignedOut('a', keys[0] ?? ''), true)
  assert.equal(await flows.isSignedOut('a', keys[1] ?? ''), true)
  assert.equal(await flows.isSignedOut('a', keys[2] ?? ''), false, 'a session without a name can be opened again')
  const [read, answered] = calls as readonly (readonly unknown[])[]
  assert.deepEqual(read, ['read', received, undefined])
  const [kind, id, ...rest] = answered ?? []
  assert.deepEqual([kind, ...rest], ['answer', request, 'their state'])
  assert.match(String(id), /^_[\da-f]{40}$/)
})

test('a request without sessions ends all of the user (D30.1, D30.2)', async t => {
  const { receive, ended, flows } = setUp(t, { reads: () => ({ ...request, sessionIndexes: [] }), answers: undefined })
  assert.deepEqual(await receive(), { kind: 'done', isComplete: false })
  assert.deepEqual(
    ended.map(([key]) => key),
    [`a\n${userKey(IDP, 'anna-id')}`],
  )
  const isRefused = (authenticated?: number) => flows.isSignedOut('a', userKey(IDP, 'anna-id'), authenticated)
  assert.equal(await isRefused(request.issued), true, 'an assertion on its way')
  assert.equal(await isRefused(), true, 'an assertion without a time')
  assert.equal(await isRefused(request.issued + 1), false, 'a new sign-on')
  const fits = ended[0]?.[1]
  const session = (providerSession: string | undefined, provider = 'a') => ({ provider, providerSession }) as Session
  const other = JSON.stringify({ issuer: IDP, name: 'bea-id', nameId: {} })
  const sessions = [session(noted), session(other), session(undefined), session(noted, 'b')]
  assert.deepEqual(
    sessions.map(one => fits?.(one)),
    [true, false, false, false],
  )
})

test('a request is carried out once for each provider inside a federation (D30.1)', async t => {
  let current = request
  const { receive, ended } = setUp(t, { reads: () => current })
  await receive()
  await assert.rejects(receive(), { code: 'invalid-logout-message', message: 'The message was refused (replay).' })
  assert.equal(ended.length, 3)
  current = { ...request, issuer: 'https://idp.other' }
  await receive()
  current = { ...request, id: '_2' }
  await receive()
  assert.equal(ended.length, 9)
})

test('a response ends the sign-out that it belongs to (D30.2)', async t => {
  const outcomeOf = async (outcome: 'complete' | 'partial' | 'failed') => {
    const { receive, newFlow, calls, recorded } = setUp(t, {
      reads: () => ({ kind: 'response', outcome, status: 'urn:status' }),
    })
    const flow = await newFlow()
    const step = await receive(flow.id)
    assert.deepEqual(calls, [['read', received, flow]])
    return [step, recorded.length]
  }
  assert.deepEqual(await outcomeOf('complete'), [{ kind: 'done', isComplete: true }, 0])
  assert.deepEqual(await outcomeOf('partial'), [{ kind: 'done', isComplete: false }, 1])
  assert.deepEqual(await outcomeOf('failed'), [{ kind: 'done', isComplete: false }, 1])
})

test('the status of a sign-out that failed at the provider is reported (D30.2)', async t => {
  const { receive, newFlow, failures } = setUp(t, {
    reads: () => ({ kind: 'response', outcome: 'failed', status: 'urn:status' }),
  })
  await receive((await newFlow()).id)
  const [{ check, expected, received: status } = {} as never] = failures.list()
  const success = 'urn:oasis:names:tc:SAML:2.0:status:Success'
  assert.deepEqual([check, expected, status], ['logout-status', success, 'urn:status'])
})

test('the flow of a login or of another provider belongs to no sign-out (D30.2)', async t => {
  const reads = () => ({ kind: 'response', outcome: 'complete', status: '' }) as const
  for (const changes of [{ provider: 'b' }, { isLogout: undefined }] as readonly Partial<LoginFlow>[]) {
    const { receive, newFlow, calls } = setUp(t, { reads })
    await receive((await newFlow(changes)).id)
    assert.deepEqual(calls, [['read', received, undefined]])
  }
})

test('a message that is refused says by which check, unless it ends a sign-out that was begun here (D30.1)', async t => {
  const reads = (): never => {
    throw refused
  }
  const { receive, newFlow, recorded } = setUp(t, { reads })
  const message = 'The message was refused (signature).'
  await assert.rejects(receive(), { code: 'invalid-logout-message', message })
  assert.deepEqual(await receive((await newFlow()).id), { kind: 'done', isComplete: false })
  await assert.rejects(receive((await newFlow({ provider: 'b' })).id), { message })
  assert.equal(recorded.length, 3)
})

test('an overload leaves the flow for a second attempt, other errors do not (D30.1)', async t => {
  const left = async (error: Error) => {
    const reads = (): never => {
      throw error
    }
    const { receive, newFlow, flows } = setUp(t, { reads })
    const flow = await newFlow()
    await assert.rejects(receive(flow.id), error)
    await assert.rejects(receive(), error)
    return (await flows.consume(flow.id)) !== undefined
  }
  assert.equal(await left(new Overloaded('busy')), true)
  assert.equal(await left(new Error('broken')), false)
})

test('messages are read only where single logout is on, with a short relay state (D30.1)', async t => {
  const off = setUp(t, { logout: 'off', reads: () => request })
  await assert.rejects(off.receive(), { code: 'invalid-logout-message' })
  const [{ check, expected, received: found } = {} as never] = off.failures.list()
  assert.deepEqual([check, expected, found], ['single-logout', 'single-logout=accept or on', 'off'])
  const { receive, failures } = setUp(t, { logout: 'accept', reads: () => request })
  assert.equal((await receive('x'.repeat(1024))).kind, 'answer')
  await assert.rejects(receive(`é${'x'.repeat(1023)}`), { message: 'The message was refused (relay-state).' })
  const [long] = failures.list()
  assert.deepEqual([long?.expected, long?.received], ['at most 1024 bytes', '1025 bytes'])
})

test('a message for an unknown provider is not found (D30.1)', async t => {
  const { saml } = setUp(t)
  const detail = 'There is no identity provider with this name.'
  const expected = { code: 'not-found', message: detail }
  await assert.rejects(saml.receiveLogout('x', { received, relayState: undefined }, client), expected)
})
