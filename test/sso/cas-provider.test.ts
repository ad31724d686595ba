import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CasOptions, CasProvider } from '../../src/features/cas/provider.ts'
import type { LoginFlow } from '../../src/features/sso/identity-provider.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { after } from '../support/after.ts'
import { startFakeCas } from '../support/fake-cas.ts'
import { FakeSystem } from '../support/fake-system.ts'

const SERVICE = 'https://own.example/cas?a=1'
const system = new FakeSystem()
const options: CasOptions = {
  name: 'cas',
  version: 'cas3',
  serverUrl: 'https://cas.example/',
  loginUrl: undefined,
  serviceUrl: () => SERVICE,
  verifyTls: true,
  clockSkew: 0,
  maxBytes: 5000,
}
const deps = { system }
const providerAt = (loginUrl?: string): CasProvider => new CasProvider({ ...options, loginUrl }, deps)

test('the browser is redirected to the login of the CAS server with the address of the service (D9.1)', () => {
  const service = 'service=https%3A%2F%2Fown.example%2Fcas%3Fa%3D1'
  assert.deepEqual(providerAt().begin(), { kind: 'redirect', url: `https://cas.example/login?${service}` })
  const url = 'https://cas.example/in?gateway=true'
  assert.deepEqual(providerAt(url).begin(), { kind: 'redirect', url: `${url}&${service}` })
  assert.deepEqual(
    [undefined, url, `${url}x`].map(one => providerAt(one).isGateway),
    [false, true, false],
  )
})

const cas = await startFakeCas({ after }, { now: () => system.now() })
const atFake = (changes: Partial<CasOptions> = {}): CasProvider =>
  new CasProvider({ ...options, serverUrl: cas.url, timeout: 60_000, ...changes }, deps)
const flow: LoginFlow = {
  id: 'id',
  provider: 'cas',
  requestId: '_request',
  successUrl: undefined,
  failureUrl: undefined,
  expires: system.now() + 600_000,
  network: '192.0.2.1',
}

test('a ticket is validated as each version of the protocol has it (D9.1)', async () => {
  const requestOf = async (changes: Partial<CasOptions>) => {
    const ticket = cas.issue('anna')
    const identity = await atFake(changes).finish(flow, ticket)
    const { issuer, name, logoutKeys } = identity
    assert.deepEqual([name, issuer, logoutKeys], ['anna', cas.url, [ticket]])
    const { method, path, query, headers, body } = cas.asked.at(-1) ?? assert.fail()
    const fields = Object.fromEntries([...query].map(([key, value]) => [key, value === ticket ? 'ticket' : value]))
    const type = headers['content-type']
    return {
      method,
      path,
      fields,
      accept: headers.accept,
      type,
      action: headers['soapaction'],
      body: body.replace(ticket, 'ticket'),
    }
  }
  const fields = { service: SERVICE, ticket: 'ticket' }
  const plain = { method: 'GET', fields, accept: '*/*', type: undefined, action: undefined, body: '' }
  assert.deepEqual(await requestOf({ version: 'cas1' }), { ...plain, path: '/cas/validate' })
  assert.deepEqual(await requestOf({ version: 'cas2' }), { ...plain, path: '/cas/serviceValidate' })
  assert.deepEqual(await requestOf({}), { ...plain, path: '/cas/p3/serviceValidate' })
  const renewing = { ...plain, fields: { ...fields, renew: 'true' }, path: '/cas/p3/serviceValidate' }
  assert.deepEqual(await requestOf({ loginUrl: 'https://cas.example/login?renew=true' }), renewing)
  const soap = {
    method: 'POST',
    path: '/cas/samlValidate',
    accept: 'text/xml',
    type: 'text/xml; charset=utf-8',
    action: 'http://www.oasis-open.org/committees/security',
    body:
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
      '<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Header/><SOAP-ENV:Body>' +
      '<samlp:Request xmlns:samlp="urn:oasis:names:tc:SAML:1.0:protocol" MajorVersion="1" MinorVersion="1"' +
      ' RequestID="_request" IssueInstant="2026-11-21T10:00:00.000Z">' +
      '<samlp:AssertionArtifact>ticket</samlp:AssertionArtifact></samlp:Request></SOAP-ENV:Body></SOAP-ENV:Envelope>',
  }
  assert.deepEqual(await requestOf({ version: 'saml11' }), { ...soap, fields: { TARGET: SERVICE } })
  const renewed = await requestOf({ version: 'saml11', loginUrl: 'https://cas.example/login?renew=true' })
  assert.deepEqual(renewed, { ...soap, fields: { TARGET: SERVICE, renew: 'true' } })
})

const failedOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => assert.fail('it was accepted'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof SsoRefused, String(error))
  return error.failed
}

test('only a ticket of the protocol is sent to the server, for a login that began with it (D9.2)', async () => {
  const before = cas.asked.length
  const expected = 'ST- and up to 1024 of A-Z, a-z, 0-9, ., _ and -'
  for (const ticket of ['', 'PT-1', 'xST-1', 'ST-', 'ST-a b', 'ST-1\n', 'st-1', `ST-${'a'.repeat(1025)}`])
    assert.deepEqual(await failedOf(atFake().finish(flow, ticket)), {
      check: 'ticket',
      expected,
      received: `${ticket.length} characters, beginning ${JSON.stringify(ticket.slice(0, 3))}`,
    })
  assert.deepEqual(await failedOf(atFake().finish({ ...flow, provider: 'a' }, 'ST-1')), {
    check: 'login-flow',
    expected: 'a login by cas',
    received: 'a',
  })
  assert.equal(cas.asked.length, before)
  const longest = `ST-${'a'.repeat(1024)}`
  cas.tickets.set(longest, 'anna')
  assert.equal((await atFake().finish(flow, longest)).name, 'anna')
})

test('what the server answers instead of a reply is reported without the ticket (D9.1)', async t => {
  t.after(() => (cas.misbehave = undefined))
  const reply = async (misbehave: typeof cas.misbehave, changes: Partial<CasOptions> = {}) => {
    cas.misbehave = misbehave
    return await failedOf(atFake(changes).finish(flow, 'ST-secret'))
  }
  const expected = 'an answer of the CAS server with status 200'
  const url = `${cas.url}p3/serviceValidate`
  const unreachable = (received: string) => ({ check: 'cas-unreachable', expected, received: `${url}: ${received}` })
  assert.deepEqual(await reply(response => response.writeHead(500).end()), unreachable('status 500'))
  assert.deepEqual(await reply(response => response.end('x'.repeat(5001))), {
    check: 'cas-reply-size',
    expected: 'at most 5000 bytes',
    received: `${url}: more than 5000 bytes`,
  })
  const { check } = await reply(response => response.end('x'.repeat(5000)))
  assert.equal(check, 'cas-reply')
  assert.deepEqual(await reply(() => {}, { timeout: 300 }), unreachable('no complete answer within 300 ms'))
})

test('a server is tried with a ticket that it did not issue (D9.1)', async t => {
  t.after(() => (cas.misbehave = undefined))
  const why = await atFake().probe()
  assert.match(why, /INVALID_TICKET/)
  const ticket = cas.asked.at(-1)?.query.get('ticket') ?? ''
  assert.match(ticket, /^ST-doctor-[\da-f]{32}$/)
  assert.ok(!why.includes('ST-doctor') || why.includes(ticket))
  await atFake({ version: 'saml11' }).probe()
  assert.match(
    cas.asked.at(-1)?.body ?? '',
    /RequestID="_[\da-f]{32}".*<samlp:AssertionArtifact>ST-doctor-[\da-f]{32}</,
  )
  cas.misbehave = response => response.writeHead(503).end()
  assert.equal((await failedOf(atFake().probe())).check, 'cas-unreachable')
  cas.misbehave = response => response.end('yes\nanna\n')
  assert.deepEqual(await failedOf(atFake({ version: 'cas1' }).probe()), {
    check: 'cas-reply',
    expected: 'a refusal of a ticket that was never issued',
    received: 'the name of a user',
  })
})
