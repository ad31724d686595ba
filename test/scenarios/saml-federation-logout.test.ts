import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { after } from '../support/after.ts'
import { aggregateXml, entityXml, signFederation, singleXml } from '../support/federation.ts'
import { type FederationBrowser, type FederationService, startWithFederation } from '../support/federation-service.ts'
import { findForm } from '../support/headless-browser.ts'
import type { Answer } from '../support/http-client.ts'
import { encode, type IdpKey, keyNamed, signElement } from '../support/saml-idp.ts'
import {
  type AboutLogout,
  buildLogoutRequest,
  buildLogoutResponse,
  type LogoutAtProvider,
  readOnwardPage,
  readRedirect,
  requestIdIn,
  signedQuery,
  signingSettings,
  type SignedQuery,
  SUCCESS,
} from '../support/saml-logout.ts'

const settings = { ...(await signingSettings()), 'service.auth.saml.idp.fed.single-logout': 'on' }

const EPPN = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.6'
const LOGOUT = 'https://store.example/auth/saml/logout/fed'
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'

/** A provider of the federation. */
interface Member {
  readonly entityId: string
  readonly scope: string
  readonly key: IdpKey
  readonly logout: { readonly redirect?: string; readonly post?: string; readonly responses?: string }
}

const uni: Member = {
  entityId: 'https://idp.uni.example/idp',
  scope: 'uni.example',
  key: keyNamed('idp'),
  logout: {
    redirect: 'https://idp.uni.example/logout',
    post: 'https://idp.uni.example/logout-post',
    responses: 'https://idp.uni.example/answer',
  },
}
const college: Member = {
  entityId: 'https://college.example/idp',
  scope: 'college.example',
  key: keyNamed('attacker'),
  logout: { post: 'https://college.example/logout-post' },
}
const silent: Member = {
  entityId: 'https://silent.example/idp',
  scope: 'silent.example',
  key: keyNamed('idp'),
  logout: {},
}
const entityOf = ({ entityId, scope, key, logout }: Member): string =>
  entityXml({ entityId, scopes: [scope], key, logout })

const fed = await startWithFederation(
  { after },
  {
    answer: () => signFederation(aggregateXml([uni, college, silent].map(entityOf))),
    settings,
  },
)

let count = 0
/** A user who signed in at this provider under a NameID that is new with each sign-on, as is usual in federations. */
async function signedIn(
  name: string,
  { nameId = `_transient${++count}`, index = `_session${++count}`, at = uni, service = fed } = {},
): Promise<{ readonly browser: FederationBrowser; readonly nameId: string; readonly index: string }> {
  const browser = service.browser()
  const user = `${name}@${at.scope}`
  const done = await browser.signInAt({
    entityId: at.entityId,
    key: at.key,
    attributes: { [EPPN]: user },
    edit: xml => xml.replace('_12345', nameId).replace('SessionIndex="_s"', `SessionIndex="${index}"`),
  })
  assert.equal(done.status, 200, done.text)
  assert.equal(await browser.whoAmI(), user)
  return { browser, nameId, index }
}

const about = (message: AboutLogout, service = fed): AboutLogout => ({
  id: `_logout${++count}`,
  issuer: uni.entityId,
  destination: LOGOUT,
  now: service.service.system.now(),
  ...message,
})

const fromElsewhere = {
  accept: 'text/html,application/xhtml+xml',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
}

async function byRedirect(xml: string, options: SignedQuery = {}, service = fed): Promise<Answer> {
  return await service.browser().ask(`auth/saml/logout/fed?${signedQuery(xml, options)}`, { headers: fromElsewhere })
}

async function byPost(xml: string, key = uni.key, service = fed): Promise<Answer> {
  const form = { SAMLRequest: encode(signElement(xml, / ID="([^"]*)"/.exec(xml)?.[1] ?? '', { key })) }
  return await service.browser().ask('auth/saml/logout/fed', { form, headers: fromElsewhere })
}

async function refusals(check: string, service: FederationService = fed): Promise<number> {
  const admin = await service.service.admin()
  const { failures } = (await admin.get('management/sso')).json<{ failures: Array<{ check: string }> }>()
  return failures.filter(failure => failure.check === check).length
}

test('in a federation a provider ends the sessions that it opened, and is answered at its own address (D31.6)', async () => {
  const [one, two] = [await signedIn('anna'), await signedIn('anna')]
  const named = { id: '_lr', name: one.nameId, sessionIndexes: [one.index] }
  const answer = await byRedirect(buildLogoutRequest(about(named)), { relayState: 'back' })
  assert.equal(answer.status, 303, answer.text)
  const { url, xml, relayState } = readRedirect(answer)
  assert.equal(url.origin + url.pathname, 'https://idp.uni.example/answer')
  assert.equal(relayState, 'back')
  assert.match(xml, /^<samlp:LogoutResponse .*InResponseTo="_lr"/)
  assert.ok(xml.includes(SUCCESS))
  assert.equal(await one.browser.whoAmI(), 'guest')
  assert.equal(await two.browser.whoAmI(), 'anna@uni.example', 'another NameID of the same user')
})

test('in a federation the same works by POST, and without a SessionIndex (D31.6)', async () => {
  const one = await signedIn('bert', { at: college })
  const two = await signedIn('bert', { at: college, nameId: one.nameId })
  const request = buildLogoutRequest(about({ issuer: college.entityId, name: one.nameId, sessionIndexes: [] }))
  const answer = await byPost(request, college.key)
  assert.equal(answer.status, 200, answer.text)
  const form = findForm({ url: `${fed.service.base}auth/saml/logout/fed`, answer, trail: [] }, 'SAMLResponse')
  assert.equal(form?.action, college.logout.post)
  assert.equal(await one.browser.whoAmI(), 'guest')
  assert.equal(await two.browser.whoAmI(), 'guest')
})

test('no provider of a federation ends a session of another one, whatever it names (D31.6)', async () => {
  const { browser, nameId, index } = await signedIn('carl')
  const own = about({ issuer: college.entityId, name: nameId, sessionIndexes: [index] })
  assert.equal((await byPost(buildLogoutRequest(own), college.key)).status, 200)
  const all = about({ issuer: college.entityId, name: nameId, sessionIndexes: [] })
  assert.equal((await byPost(buildLogoutRequest(all), college.key)).status, 200)
  assert.equal(await browser.whoAmI(), 'carl@uni.example')
})

/** Messages about a session of `uni`, none of which may end it: the check that refuses each, and how it is sent. */
const attacks: Readonly<Record<string, (good: AboutLogout) => readonly [check: string, send: () => Promise<Answer>]>> =
  {
    'signed by another provider of the federation, by redirect': good => [
      'signature',
      () => byRedirect(buildLogoutRequest(good), { key: college.key }),
    ],
    'signed by another provider of the federation, by POST': good => [
      'signature',
      () => byPost(buildLogoutRequest(good), college.key),
    ],
    'signed by the key of the federation': good => [
      'signature',
      () => byRedirect(buildLogoutRequest(good), { key: keyNamed('other') }),
    ],
    'signed by our own key': good => ['signature', () => byPost(buildLogoutRequest(good), keyNamed('service'))],
    'signed by a key of another kind': good => [
      'signature-key',
      () =>
        byRedirect(buildLogoutRequest(good), {
          key: keyNamed('P-256'),
          algorithm: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
        }),
    ],
    'an issuer that the federation does not have': good => [
      'unknown-entity',
      () => byRedirect(buildLogoutRequest({ ...good, issuer: 'https://unknown.example/idp' })),
    ],
    'an issuer with a blank inside': good => [
      'unknown-entity',
      () => byPost(buildLogoutRequest({ ...good, issuer: `${uni.entityId} x` })),
    ],
    'an issuer in capitals': good => [
      'unknown-entity',
      () => byRedirect(buildLogoutRequest({ ...good, issuer: uni.entityId.toUpperCase() })),
    ],
    'an issuer that is longer than an entity id': good => [
      'issuer',
      () => byPost(buildLogoutRequest({ ...good, issuer: `https://${'x'.repeat(1_100)}.example/` })),
    ],
    'an empty issuer': good => ['issuer', () => byRedirect(buildLogoutRequest({ ...good, issuer: ' ' }))],
    'no issuer': good => [
      'issuer',
      () => byRedirect(buildLogoutRequest(good).replace(/<saml:Issuer>.*<\/saml:Issuer>/, '')),
    ],
    'two issuers': good => [
      'issuer',
      () =>
        byRedirect(
          buildLogoutRequest(good).replace(
            /<saml:Issuer>/,
            `<saml:Issuer>${college.entityId}</saml:Issuer><saml:Issuer>`,
          ),
          { key: college.key },
        ),
    ],
    'an issuer inside the extensions': good => [
      'signature',
      () =>
        byRedirect(
          buildLogoutRequest(good).replace(
            '</saml:Issuer>',
            `</saml:Issuer><samlp:Extensions><saml:Issuer>${college.entityId}</saml:Issuer></samlp:Extensions>`,
          ),
          { key: college.key },
        ),
    ],
    'an issuer in another format': good => [
      'issuer',
      () => byRedirect(buildLogoutRequest(good).replace('<saml:Issuer>', '<saml:Issuer Format="urn:x">')),
    ],
    'not signed, by redirect': good => ['signature-missing', () => unsigned(buildLogoutRequest(good))],
    'not signed, by POST': good => [
      'signature-missing',
      () =>
        fed.browser().ask('auth/saml/logout/fed', {
          form: { SAMLRequest: encode(buildLogoutRequest(good)) },
          headers: fromElsewhere,
        }),
    ],
    'another destination': good => [
      'destination',
      () => byRedirect(buildLogoutRequest({ ...good, destination: `${LOGOUT}2` })),
    ],
    'eleven minutes old': good => [
      'expired',
      () => byPost(buildLogoutRequest({ ...good, now: fed.service.system.now() - 661_000 })),
    ],
    'a response that nobody waits for': good => [
      'in-response-to',
      () => byRedirect(buildLogoutResponse(good), { kind: 'SAMLResponse' }),
    ],
    'an external entity': good => [
      'xml-doctype',
      () =>
        byRedirect(
          `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${buildLogoutRequest({ ...good, issuer: 'x' })}`,
        ),
    ],
    '5 MB in a few bytes': () => ['size', () => byRedirect('a'.repeat(5_000_000))],
    'no base64': good => ['base64', () => byRedirect(buildLogoutRequest(good), { message: '%%%' })],
  }

async function unsigned(xml: string): Promise<Answer> {
  const message = encodeURIComponent(deflateRawSync(xml).toString('base64'))
  return await fed.browser().ask(`auth/saml/logout/fed?SAMLRequest=${message}`, { headers: fromElsewhere })
}

const victim = await signedIn('dora')
// The first wrong signature of an hour has the aggregate loaded again.
assert.equal((await byRedirect(buildLogoutRequest(about({})), { key: college.key })).status, 400)
for (const [title, attack] of Object.entries(attacks)) {
  test(`in a federation a logout message is refused: ${title} (D31.6)`, async () => {
    const good = about({ name: victim.nameId, sessionIndexes: [victim.index] })
    const [check, send] = attack(good)
    const [asked, before] = [fed.server.asked.length, await refusals(check)]
    const answer = await send()
    assert.equal(answer.status, 400, answer.text)
    assert.ok(answer.text.includes(check), answer.text)
    assert.equal(await refusals(check), before + 1)
    assert.equal(await victim.browser.whoAmI(), 'dora@uni.example')
    assert.equal(
      fed.server.asked.length,
      asked,
      'no message leads to a request for metadata while a reload has to wait',
    )
  })
}

test('in a federation a request counts once, also over both bindings; requests of two providers can have one ID (D31.6)', async () => {
  const good = about({ name: '_nobody' })
  const before = await refusals('replay')
  assert.equal((await byRedirect(buildLogoutRequest(good))).status, 303)
  assert.equal((await byRedirect(buildLogoutRequest(good))).status, 400)
  assert.equal((await byPost(buildLogoutRequest(good))).status, 400)
  assert.equal(await refusals('replay'), before + 2)
  const ofOther = buildLogoutRequest({ ...good, issuer: college.entityId })
  assert.equal((await byPost(ofOther, college.key)).status, 200)
})

test('in a federation an assertion of a session that its provider has ended opens no session; one of another provider does (D31.6)', async () => {
  const ended = { nameId: '_late', index: '_late' }
  const request = buildLogoutRequest(about({ name: ended.nameId, sessionIndexes: [ended.index] }))
  assert.equal((await byRedirect(request)).status, 303)
  const before = await refusals('session-ended')
  await assert.rejects(signedIn('emil', ended))
  assert.equal(await refusals('session-ended'), before + 1)
  await signedIn('emil', { ...ended, at: college })
})

async function signOut(browser: FederationBrowser): Promise<Answer> {
  const page = await browser.ask('auth/logout', {
    method: 'POST',
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(await browser.whoAmI(), 'guest')
  return page
}

/** A sign-out here, as it arrives at `uni`. */
async function signOutAtUni(
  name: string,
): Promise<LogoutAtProvider & { readonly nameId: string; readonly index: string }> {
  const { browser, nameId, index } = await signedIn(name)
  return { ...readOnwardPage(await signOut(browser)), nameId, index }
}

test('a sign-out here goes to the provider of the session, with the NameID that it gave (D31.6)', async () => {
  const { url, xml, relayState, nameId, index } = await signOutAtUni('fred')
  assert.equal(url.origin + url.pathname, uni.logout.redirect)
  assert.ok(xml.includes(`<saml:NameID Format="${TRANSIENT}">${nameId}</saml:NameID>`), xml)
  assert.ok(xml.includes(`<samlp:SessionIndex>${index}</samlp:SessionIndex>`), xml)
  const response = buildLogoutResponse(about({ requestId: requestIdIn(xml) }))
  const back = await byRedirect(response, { kind: 'SAMLResponse', relayState })
  assert.deepEqual([back.status, back.headers.location?.endsWith('auth/login?out=fed')], [303, true])

  const byForm = await signedIn('fred', { at: college })
  const page = await signOut(byForm.browser)
  const form = findForm({ url: `${fed.service.base}auth/logout`, answer: page, trail: [] }, 'SAMLRequest', 'RelayState')
  assert.equal(form?.action, college.logout.post)
  const request = Buffer.from(form?.fields['SAMLRequest'] ?? '', 'base64').toString()
  const id = requestIdIn(request)
  const answer = buildLogoutResponse(about({ id: '_answer', issuer: college.entityId, requestId: id }))
  const posted = {
    SAMLResponse: encode(signElement(answer, '_answer', { key: college.key })),
    RelayState: form?.fields['RelayState'] ?? '',
  }
  const done = await byForm.browser.ask('auth/saml/logout/fed', { form: posted, headers: fromElsewhere })
  assert.deepEqual([done.status, done.headers.location?.endsWith('auth/login?out=fed')], [303, true], done.text)
})

test('a provider without an address for single logout is left alone: the page says so (D31.6)', async () => {
  const { browser } = await signedIn('gina', { at: silent })
  const left = await browser.ask('auth/logout', { headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.deepEqual([left.status, left.headers.location?.endsWith('auth/login?left=fed')], [303, true])
})

test('the response of another provider ends no sign-out: the page says that the session may be open (D31.6)', async () => {
  const forged: ReadonlyArray<readonly [string, AboutLogout, SignedQuery]> = [
    ['signature', {}, { key: college.key }],
    ['signature', { issuer: college.entityId }, { key: college.key }],
    ['issuer', { issuer: college.entityId }, {}],
    ['in-response-to', { requestId: '_other' }, {}],
  ]
  for (const [check, changes, signed] of forged) {
    const { xml, relayState } = await signOutAtUni('hans')
    const before = await refusals(check)
    const response = buildLogoutResponse(about({ requestId: requestIdIn(xml), ...changes }))
    const back = await byRedirect(response, { kind: 'SAMLResponse', relayState, ...signed })
    assert.deepEqual([back.status, back.headers.location?.endsWith('auth/login?left=fed')], [303, true], back.text)
    assert.equal(await refusals(check), before + 1, JSON.stringify(changes))
  }
})

test('with a query service, a logout message asks for no provider that is not in the store, and for a new key once a minute (D31.6)', async t => {
  const path = `/metadata/entities/${encodeURIComponent(uni.entityId)}`
  let { key } = uni
  const valid = ' validUntil="2026-12-21T10:00:00Z" cacheDuration="P7D"'
  const queries = await startWithFederation(t, {
    answer: asked =>
      asked === path
        ? signFederation(singleXml({ entityId: uni.entityId, key, logout: uni.logout }, valid))
        : undefined,
    settings: { ...settings, 'service.auth.saml.idp.fed.federation': 'mdq' },
  })
  const { browser, nameId } = await signedIn('ines', { service: queries })
  assert.equal(queries.server.asked.length, 1)
  const send = async (changes: AboutLogout, signer: IdpKey): Promise<number> => {
    const message = about({ name: nameId, sessionIndexes: [], ...changes }, queries)
    return (await byRedirect(buildLogoutRequest(message), { key: signer }, queries)).status
  }
  for (let at = 0; at < 5; at++) assert.equal(await send({ issuer: `https://invented${at}.example/` }, key), 400)
  assert.equal(queries.server.asked.length, 1, 'strangers cause no queries')
  for (let at = 0; at < 5; at++) assert.equal(await send({}, college.key), 400)
  assert.equal(queries.server.asked.length, 2, 'a wrong signature causes one')
  assert.equal(await browser.whoAmI(), 'ines@uni.example')
  // The provider has a new key.
  key = college.key
  queries.service.system.pass(60_000)
  assert.equal(await send({}, college.key), 303)
  assert.equal(queries.server.asked.length, 3)
  assert.equal(await browser.whoAmI(), 'guest')
})

test('the metadata of this service name the address of single logout for a federation (D31.6)', async () => {
  const { text } = await fed.browser().get('auth/saml/metadata?idp=fed')
  const services = text.match(/<md:SingleLogoutService [^>]*>/g) ?? []
  assert.equal(services.length, 2)
  for (const one of services) assert.ok(one.includes(`Location="${LOGOUT}"`), one)
})
