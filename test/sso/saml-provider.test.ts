import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IdpMetadata } from '../../src/features/saml/provider.ts'
import type { ReceivedLogout } from '../../src/features/saml/logout-message.ts'
import type { ExpectedResponse } from '../../src/features/saml/response.ts'
import {
  ACS,
  assertion,
  flow,
  IDP,
  known,
  type Options,
  options,
  samlProvider,
  sentBy,
  signing,
  system,
} from '../support/saml-provider.ts'

test('a request names the login, the service and the provider (D8.2)', async () => {
  const { provider, calls } = samlProvider()
  const { attribute, xml, ...sent } = sentBy(await provider.begin(flow))
  assert.deepEqual(sent, {
    kind: 'redirect',
    to: known.redirectUrl,
    RelayState: 'relay-state',
    isSigned: false,
    root: 'AuthnRequest',
  })
  const names = ['ID', 'IssueInstant', 'Destination', 'AssertionConsumerServiceURL']
  const values = ['_request', '2026-11-21T10:00:00.000Z', known.redirectUrl, ACS]
  assert.deepEqual(names.map(attribute), values)
  assert.match(xml, /<saml:Issuer>urn:stowage<\/saml:Issuer>/)
  assert.match(xml, /<samlp:NameIDPolicy Format="[^"]*emailAddress"/)
  assert.doesNotMatch(xml, /RequestedAuthnContext/)
  assert.deepEqual(calls, [['current']])
})

test('a request asks for what the settings require (D8.2)', async () => {
  const changes = { nameAttribute: 'eppn', authnContext: ['urn:mfa'] }
  const { xml } = sentBy(await samlProvider({ changes }).provider.begin(flow))
  assert.match(xml, /<samlp:NameIDPolicy AllowCreate/)
  assert.match(xml, /Comparison="exact"><saml:AuthnContextClassRef>urn:mfa</)
})

test('a request goes by the way that the settings name, if the provider takes it (D8.2)', async () => {
  const way = async (method: 'get' | 'post', metadata: Partial<IdpMetadata>) => {
    const { kind, to } = sentBy(await samlProvider({ changes: { method }, metadata }).provider.begin(flow))
    return [kind, to]
  }
  const redirect = ['redirect', known.redirectUrl]
  const form = ['form', known.postUrl]
  assert.deepEqual(await way('get', {}), redirect)
  assert.deepEqual(await way('post', {}), form)
  assert.deepEqual(await way('get', { redirectUrl: undefined }), form)
  assert.deepEqual(await way('post', { postUrl: undefined }), redirect)
  const { provider } = samlProvider({ metadata: { redirectUrl: undefined, postUrl: undefined } })
  const failed = { check: 'metadata', expected: 'an address for redirect or POST', received: 'none' }
  await assert.rejects(provider.begin(flow), { failed })
})

test('requests are signed with the signing key, if there is one (D8.2)', async () => {
  const isSigned = async (changes: Partial<Options>) =>
    sentBy(await samlProvider({ changes }).provider.begin(flow)).isSigned
  assert.equal(await isSigned({ signing }), true)
  assert.equal(await isSigned({ signing, method: 'post' }), true)
  assert.equal(await isSigned({}), false)
})

test('an accepted response becomes an identity that can be used once (D8.3)', async () => {
  const { provider, calls, expectations } = samlProvider()
  const identity = {
    name: 'anna@uni.example',
    attributes: assertion.attributes,
    issuer: IDP,
    once: { id: '_assertion', until: assertion.until },
    sessionEnds: assertion.sessionEnds,
    authenticated: assertion.authenticated,
    authnContext: 'urn:mfa',
  }
  assert.deepEqual(await provider.finish('encoded', flow), identity)
  assert.deepEqual(calls, [['current'], ['verify', 'encoded']])
  const expected = {
    nameAttribute: undefined,
    issuer: IDP,
    audience: 'urn:stowage',
    acsUrl: ACS,
    requestId: '_request',
    keys: ['key 1', 'key 2'],
    decryptionKeys: [],
    now: system.now(),
    clockSkew: 60_000,
    authnContexts: [],
  }
  assert.deepEqual(expectations, [expected])
  const encryption = [
    { key: 'k1', certificate: '' },
    { key: 'k2', certificate: '' },
  ]
  const strict = samlProvider({ changes: { encryption, authnContext: ['urn:mfa'], nameAttribute: 'eppn' } })
  await strict.provider.finish('encoded', flow)
  assert.deepEqual(strict.expectations, [
    {
      ...expected,
      nameAttribute: 'eppn',
      decryptionKeys: ['k1', 'k2'],
      authnContexts: ['urn:mfa'],
    },
  ])
})

test('a session notes what ends it at the provider, where single logout is in use (D30.2)', async () => {
  for (const logout of ['accept', 'on'] as const) {
    const { logoutKeys, providerSession } = await samlProvider({ changes: { logout } }).provider.finish('encoded', flow)
    const keys = [JSON.stringify([IDP, 'anna-id']), JSON.stringify([IDP, 'anna-id', '_session'])]
    assert.deepEqual(logoutKeys, keys)
    const noted = { issuer: IDP, name: 'anna-id', nameId: { Format: 'urn:format' }, sessionIndex: '_session' }
    assert.deepEqual(JSON.parse(providerSession ?? ''), noted)
  }
})

test('a login that was begun at the provider is accepted if a setting allows it (D8.2)', async () => {
  const failed = { check: 'relay-state', expected: 'a login begun here', received: 'none, or one that is over' }
  const { provider, calls } = samlProvider()
  await assert.rejects(provider.finish('encoded', undefined), { failed })
  assert.deepEqual(calls, [])
  const allowing = samlProvider({ changes: { allowsUnsolicited: true } })
  assert.equal((await allowing.provider.finish('encoded', undefined)).name, 'anna@uni.example')
  const [{ requestId } = {}] = allowing.expectations as readonly Partial<ExpectedResponse>[]
  assert.equal(requestId, undefined)
})

test('a response by an unknown key is checked once more, with the keys that are published now (D8.6)', async () => {
  for (const check of ['signature', 'signature-key', 'decryption'] as const) {
    const { provider, calls } = samlProvider({ refusals: [check], reloads: true })
    assert.equal((await provider.finish('encoded', flow)).name, 'anna@uni.example')
    const verify = ['verify', 'encoded']
    assert.deepEqual(calls, [['current'], verify, ['reload', undefined], ['current'], verify])
  }
  const same = samlProvider({ refusals: ['signature'] })
  await assert.rejects(same.provider.finish('encoded', flow), { failed: { check: 'signature' } })
  assert.equal(same.calls.length, 3)
  const twice = samlProvider({ refusals: ['signature', 'signature-key'], reloads: true })
  await assert.rejects(twice.provider.finish('encoded', flow), { failed: { check: 'signature-key' } })
  assert.equal(twice.calls.length, 5)
  const other = samlProvider({ refusals: ['audience'], reloads: true })
  await assert.rejects(other.provider.finish('encoded', flow), { failed: { check: 'audience' } })
  assert.equal(other.calls.length, 2)
})

const chosen = { ...flow, entityId: 'urn:member' }

test('in a federation the provider that the user chose signs them in, and no other (D31.4)', async () => {
  const { provider, calls, expectations } = samlProvider({}, true)
  await provider.begin(chosen)
  await provider.finish('encoded', chosen)
  assert.deepEqual(calls, [
    ['find', 'urn:member'],
    ['find', 'urn:member'],
    ['verify', 'encoded'],
    ['find', IDP],
  ])
  assert.equal(expectations[0]?.issuer, 'urn:member')
  const reloading = samlProvider({ refusals: ['signature-key'], reloads: true }, true)
  await reloading.provider.finish('encoded', chosen)
  assert.deepEqual(reloading.calls[2], ['reloadMember', 'urn:member'])
  const none = samlProvider({ refusals: ['signature-key'] }, true)
  await assert.rejects(none.provider.finish('encoded', flow))
  assert.deepEqual(
    [none.calls[0], none.calls[2]],
    [
      ['find', ''],
      ['reloadMember', ''],
    ],
  )
})

test('a provider of a federation vouches for its own scopes only (D31.4)', async () => {
  const right = samlProvider({ scopes: ['uni.example'] }, true)
  assert.equal((await right.provider.finish('encoded', chosen)).name, 'anna@uni.example')
  assert.deepEqual(right.calls.at(-1), ['find', IDP])
  const wrong = samlProvider({ scopes: ['other.example'] }, true)
  await assert.rejects(wrong.provider.finish('encoded', chosen), {
    failed: {
      check: 'scope',
      expected: `a scope of ${IDP}: other.example`,
      received: 'anna@uni.example in the user name',
    },
  })
})

const received: ReceivedLogout = { binding: 'redirect', query: 'SAMLRequest=x' }
const logoutRequest = {
  kind: 'request',
  id: '_logout',
  issuer: IDP,
  name: 'anna-id',
  sessionIndexes: [],
  issued: 0,
  until: 1,
} as const

test('a message of single logout must come from the provider, for this address (D30.1)', async () => {
  const { provider, calls, expectations } = samlProvider({ logout: logoutRequest })
  assert.deepEqual(await provider.readLogout(received, undefined), logoutRequest)
  assert.deepEqual(calls, [['current'], ['verifyLogout', received]])
  const expected = {
    issuer: IDP,
    destination: options.logoutUrl,
    requestId: undefined,
    keys: ['key 1', 'key 2'],
    decryptionKeys: [],
    now: system.now(),
    clockSkew: 60_000,
  }
  assert.deepEqual(expectations, [expected])
  const answering = samlProvider({ logout: logoutRequest })
  await answering.provider.readLogout(received, flow)
  assert.deepEqual(answering.expectations, [{ ...expected, requestId: '_request' }])
  const reloading = samlProvider({ logout: logoutRequest, refusals: ['signature'], reloads: true })
  await reloading.provider.readLogout(received, undefined)
  assert.equal(reloading.calls.length, 5)
})

test('in a federation a message of single logout is checked with the keys of the provider that it names (D31.6)', async () => {
  const stated = samlProvider({ logout: logoutRequest }, true)
  await stated.provider.readLogout(received, undefined)
  assert.deepEqual(stated.calls.slice(0, 2), [
    ['statedIssuer', received],
    ['findStored', 'urn:stated'],
  ])
  assert.equal(stated.expectations[0]?.issuer, 'urn:stated')
  const own = samlProvider({ logout: logoutRequest }, true)
  await own.provider.readLogout(received, chosen)
  assert.deepEqual(own.calls, [
    ['findStored', 'urn:member'],
    ['verifyLogout', received],
  ])
})

const session = JSON.stringify({ issuer: 'urn:member', name: 'anna-id', nameId: { Format: 'f' }, sessionIndex: '_s' })
const at = (name: string) => ({ url: `https://idp.example/${name}`, responseUrl: `https://idp.example/${name}-answer` })
const both = { logout: { redirect: at('slo-get'), post: at('slo-post') } }

test('a sign-out asks the provider to end its session (D30.2)', async () => {
  const { provider, calls } = samlProvider({ metadata: both, changes: { signing } }, true)
  const { attribute, xml, ...sent } = sentBy(await provider.requestLogout(flow, session))
  assert.deepEqual(sent, {
    kind: 'redirect',
    to: 'https://idp.example/slo-get',
    RelayState: 'relay-state',
    isSigned: true,
    root: 'LogoutRequest',
  })
  const values = ['_request', '2026-11-21T10:00:00.000Z', 'https://idp.example/slo-get']
  assert.deepEqual(['ID', 'IssueInstant', 'Destination'].map(attribute), values)
  const named = '<saml:NameID Format="f">anna-id</saml:NameID><samlp:SessionIndex>_s</samlp:SessionIndex>'
  assert.ok(xml.includes(`<saml:Issuer>urn:stowage</saml:Issuer>${named}`), xml)
  assert.deepEqual(calls, [['findStored', 'urn:member']])
})

test('an answer to the request of a provider goes by redirect if it can (D30.1)', async () => {
  const setup = { metadata: both, changes: { signing, method: 'post' } } as const
  const redirect = await samlProvider(setup).provider.answerLogout('_answer', logoutRequest, 'their state')
  const { attribute, xml, ...sent } = sentBy(redirect)
  assert.deepEqual(sent, {
    kind: 'redirect',
    to: 'https://idp.example/slo-get-answer',
    RelayState: 'their state',
    isSigned: true,
    root: 'LogoutResponse',
  })
  const names = ['ID', 'IssueInstant', 'Destination', 'InResponseTo']
  const values = ['_answer', '2026-11-21T10:00:00.000Z', 'https://idp.example/slo-get-answer', '_logout']
  assert.deepEqual(names.map(attribute), values)
  assert.ok(xml.includes('<saml:Issuer>urn:stowage</saml:Issuer>'), xml)
  const member = samlProvider({ metadata: both }, true)
  const { RelayState } = sentBy(await member.provider.answerLogout('_answer', logoutRequest, undefined))
  assert.deepEqual([RelayState, member.calls], [undefined, [['findStored', IDP]]])
})

test('messages of single logout go by a way that the provider takes, or not at all (D30.2)', async () => {
  const ways = async (method: 'get' | 'post', metadata: Partial<IdpMetadata>) => {
    const { provider } = samlProvider({ changes: { method }, metadata })
    const sent = [
      await provider.requestLogout(flow, session),
      await provider.answerLogout('_answer', logoutRequest, undefined),
    ]
    return sent.map(one => one && sentBy(one).kind)
  }
  assert.deepEqual(await ways('get', both), ['redirect', 'redirect'])
  assert.deepEqual(await ways('post', both), ['form', 'redirect'])
  assert.deepEqual(await ways('post', { logout: { redirect: at('x') } }), ['redirect', 'redirect'])
  assert.deepEqual(await ways('get', { logout: { post: at('x') } }), ['form', 'form'])
  assert.deepEqual(await ways('get', { logout: {} }), [undefined, undefined])
  assert.deepEqual(await ways('get', {}), [undefined, undefined])
})

test('the metadata of this service say what the settings do (D8.6)', () => {
  const plain = samlProvider().provider.describeSelf()
  assert.match(plain, /entityID="urn:stowage"/)
  assert.match(plain, /Location="https:\/\/store\.example\/auth\/saml\?idp=a"/)
  assert.match(plain, /NameIDFormat/)
  assert.match(plain, /AuthnRequestsSigned="false"/)
  assert.doesNotMatch(plain, /Extensions|KeyDescriptor|SingleLogoutService/)
  const encryption = [{ key: '', certificate: '-----BEGIN CERTIFICATE-----\nEE\n-----END CERTIFICATE-----' }]
  const changes = { signing, encryption, logout: 'accept', nameAttribute: 'eppn' } as const
  const full = samlProvider({ changes }, true).provider.describeSelf()
  assert.match(full, /AuthnRequestsSigned="true"/)
  assert.match(full, /use="signing".*MII[^]*use="encryption".*>EE</)
  assert.match(full, /SingleLogoutService[^>]* Location="https:\/\/store\.example\/auth\/saml\/logout\/a"/)
  assert.match(full, /DiscoveryResponse [^>]*Location="https:\/\/store\.example\/auth\/saml"/)
  assert.doesNotMatch(full, /NameIDFormat/)
})

test('what others read of a provider', async () => {
  const { provider } = samlProvider({ changes: { logout: 'on' } })
  const { name, relyingPartyId, acsUrl, logout, logoutUrl, federation } = provider
  const own = ['a', 'urn:stowage', ACS, 'on', options.logoutUrl, undefined]
  assert.deepEqual([name, relyingPartyId, acsUrl, logout, logoutUrl, federation], own)
  assert.equal(await provider.issuer, IDP)
  assert.equal((await provider.metadataOf('urn:other')).entityId, IDP)
  assert.equal((await samlProvider({}, true).provider.metadataOf('urn:other')).entityId, 'urn:other')
})
