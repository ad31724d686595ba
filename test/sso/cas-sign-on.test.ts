import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CasSignOn, type CasSignOnOptions } from '../../src/features/cas/sign-on.ts'
import { ticketInLogoutRequest } from '../../src/features/cas/ticket.ts'
import type { CasProvider } from '../../src/features/cas/provider.ts'
import type { LoginFlow } from '../../src/features/sso/identity-provider.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { client, identity, policy, signOnServices } from '../support/sign-on-services.ts'

function setUp(t: Parameters<typeof signOnServices>[0], options: Partial<CasSignOnOptions> = {}, refuses = false) {
  const services = signOnServices(t)
  const finished: unknown[] = []
  const provider = {
    isGateway: true,
    begin: () => ({ kind: 'redirect', url: 'https://cas.example/login' }),
    finish: async (flow: LoginFlow, ticket: string) => {
      finished.push([flow, ticket])
      if (refuses) throw new SsoRefused({ check: 'cas-failure' })
      return identity
    },
  } as unknown as CasProvider
  const cas = new CasSignOn(
    { signOn: services.signOn, flows: services.flows },
    {
      provider,
      policy: { ...policy, name: 'cas' },
      display: { label: 'CAS', logoutUrl: 'https://cas.example/logout?x=1' },
      endsSession: true,
      successUrl: 'https://ok.example/default',
      failureUrl: 'https://ok.example/failed',
      ...options,
    },
  )
  return { ...services, cas, finished }
}

test('a login begins with a flow that only this protocol finds again, once (D9.1)', async t => {
  const { cas, flows } = setUp(t)
  const { flow, url } = await cas.begin('https://ok.example/x', client)
  assert.equal(url, 'https://cas.example/login')
  const { provider, successUrl, failureUrl, network } = flow
  assert.deepEqual([provider, successUrl, failureUrl, network], ['cas', 'https://ok.example/x', undefined, '192.0.2.1'])
  assert.deepEqual(await cas.consumeFlow(flow.id), flow)
  assert.equal(await cas.consumeFlow(flow.id), undefined)
  assert.equal(await cas.consumeFlow(undefined), undefined)
  const other = await flows.create({ provider: 'a', successUrl: undefined, failureUrl: undefined }, client.address)
  assert.equal(await cas.consumeFlow(other.id), undefined)
})

test('a ticket completes the login (D9.1)', async t => {
  const { cas, begun, finished } = setUp(t)
  const { flow } = await cas.begin('https://ok.example/x', client)
  await cas.complete({ flow, ticket: 'ST-1' }, client)
  assert.deepEqual(finished, [[flow, 'ST-1']])
  assert.deepEqual(
    [begun[0]?.mechanism, begun[0]?.successUrl, begun[0]?.client],
    ['cas', 'https://ok.example/x', client],
  )
  const { flow: plain } = await cas.begin(undefined, client)
  await cas.complete({ flow: plain, ticket: 'ST-2' }, client)
  assert.equal(begun[1]?.successUrl, 'https://ok.example/default')
})

test('a refusal leads to the address of the settings (D8.5)', async t => {
  const { cas } = setUp(t, {}, true)
  const { flow } = await cas.begin(undefined, client)
  const failureUrl = 'https://ok.example/failed'
  await assert.rejects(cas.complete({ flow, ticket: 'ST-1' }, client), { failed: { check: 'cas-failure' }, failureUrl })
})

test('a browser without a session or a flow is refused, on record (D9.1)', async t => {
  const { cas, recorded } = setUp(t)
  const failureUrl = 'https://ok.example/failed'
  for (const [error, failed] of [
    [
      await cas.withoutSession(client),
      { check: 'cas-gateway', expected: 'a session at the CAS server', received: 'no ticket' },
    ],
    [
      await cas.withoutFlow(client),
      { check: 'login-flow', expected: 'the cookie that was set a moment ago', received: 'none that is valid' },
    ],
  ] as const) {
    assert.ok(error instanceof SsoRefused)
    assert.deepEqual([error.failed, error.failureUrl], [failed, failureUrl])
  }
  assert.deepEqual(
    recorded
      .map(row => (row as { readonly detail: { readonly mechanism: string; readonly why: string } }).detail)
      .map(({ mechanism, why }) => [mechanism, why]),
    [
      ['cas', 'cas-gateway'],
      ['cas', 'login-flow'],
    ],
  )
})

test('a sign-out goes on at the CAS server for those it signed in, if a setting says so (D19.11)', t => {
  const { cas } = setUp(t)
  const page = 'https://own.example/bye'
  const query = 'service=https%3A%2F%2Fown.example%2Fbye&url=https%3A%2F%2Fown.example%2Fbye'
  assert.equal(cas.logoutUrl({ provider: 'cas' }, page), `https://cas.example/logout?x=1&${query}`)
  assert.equal(cas.logoutUrl({ provider: 'a' }, page), undefined)
  assert.equal(cas.logoutUrl({}, page), undefined)
  assert.equal(setUp(t, { endsSession: false }).cas.logoutUrl({ provider: 'cas' }, page), undefined)
  const display = { label: 'CAS', labels: new Map<string, string>(), logoutUrl: undefined }
  assert.equal(setUp(t, { display }).cas.logoutUrl({ provider: 'cas' }, page), undefined)
})

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
const message = (content: string, root = 'LogoutRequest', uri = PROTOCOL) =>
  `<samlp:${root} xmlns:samlp="${uri}" ID="_1">${content}</samlp:${root}>`
const index = (ticket: string) => `<samlp:SessionIndex>${ticket}</samlp:SessionIndex>`

test('a logout message ends the login of the ticket that it names (D19.11)', async t => {
  const { cas, ended } = setUp(t)
  await cas.endLogin(message(index('ST-1')), client)
  assert.deepEqual(ended, [['cas\nST-1', undefined]])
})

test('a logout message names one ticket, whatever else is in it (D19.11)', () => {
  assert.equal(ticketInLogoutRequest(message(`<x>anna</x>${index(' \n\tST-1 ')}`)), 'ST-1')
  for (const [text, what] of [
    [message(index('ST-1'), 'LogoutResponse'), 'is not a SAML 2.0 LogoutRequest'],
    [message(index('ST-1'), 'LogoutRequest', 'urn:other'), 'is not a SAML 2.0 LogoutRequest'],
    [message(''), 'does not have exactly one SessionIndex'],
    [message(`<x>${index('ST-1')}</x>`), 'does not have exactly one SessionIndex'],
    [message(index('ST-1') + index('ST-1')), 'does not have exactly one SessionIndex'],
    [message(index('')), 'has no service ticket in its SessionIndex'],
    [message(index('PT-1')), 'has no service ticket in its SessionIndex'],
    [message(index('ST-1 ST-2')), 'has no service ticket in its SessionIndex'],
    [message(index('ST-1<x/>')), 'has no service ticket in its SessionIndex'],
    ['', 'is not plain, well-formed XML (xml)'],
    ['<a', 'is not plain, well-formed XML (xml)'],
    [`<!DOCTYPE x>${message(index('ST-1'))}`, 'is not plain, well-formed XML (doctype)'],
    [message(index('ST-1') + '<x/>'.repeat(49)), 'is not plain, well-formed XML (size)'],
    [message(index('ST-1') + ' '.repeat(16_384)), 'is not plain, well-formed XML (size)'],
  ] as const)
    assert.throws(() => ticketInLogoutRequest(text), {
      code: 'invalid-logout-request',
      message: `The logout request ${what}.`,
    })
  assert.equal(ticketInLogoutRequest(message(index('ST-1') + '<x/>'.repeat(48))), 'ST-1')
})

test('what others read', t => {
  const { cas } = setUp(t)
  assert.deepEqual([cas.name, cas.display.label, cas.isGateway], ['cas', 'CAS', true])
})
