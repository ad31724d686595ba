import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { findForm } from '../support/headless-browser.ts'
import type { Answer } from '../support/http-client.ts'
import { encode, keyNamed, signElement } from '../support/saml-idp.ts'
import {
  type AboutLogout,
  buildLogoutRequest,
  buildLogoutResponse,
  type LogoutAtProvider,
  PARTIAL,
  readOnwardPage,
  readRedirect,
  requestIdIn,
  signedQuery,
  signingSettings,
  type SignedQuery,
  SUCCESS,
} from '../support/saml-logout.ts'
import { type SamlBrowser, startWithSaml } from '../support/saml-service.ts'

const ends: Array<() => Promise<void>> = []
after(async () => {
  for (const end of ends.reverse()) await end()
})
const t = { after: (work: () => Promise<void>) => void ends.push(work) }

const signing = await signingSettings()
const LOGOUT = 'https://store.example/auth/saml/logout/a'
const AT_IDP = 'https://idp.example/logout'

/** One service for most tests: provider `a` with both directions, `b` takes requests only, `c` has single logout off. */
const saml = await startWithSaml(
  t,
  {
    ...signing,
    'service.auth.saml.idp.a.single-logout': 'on',
    'service.auth.saml.idp.b.single-logout': 'accept',
    'service.auth.saml.idp.c.user-auto-provisioning': 'on',
  },
  ['a', 'b', 'c'],
)
for (const idp of saml.idps) {
  idp.publish({
    logout: { redirect: AT_IDP, post: 'https://idp.example/logout-post', responses: 'https://idp.example/answer' },
  })
}

let count = 0
/** A new browser that is signed in; the session at the provider has this index. */
async function signedIn(name: string, index: string, { service = saml, idp = 'a' } = {}): Promise<SamlBrowser> {
  const browser = service.browser()
  const found = service.idps.find(one => one.name === idp)
  assert.ok(found)
  const edit = (xml: string): string => xml.replace('SessionIndex="_s"', index === '' ? '' : `SessionIndex="${index}"`)
  const done = await browser.signInBy(name, `?idp=${idp}`, { idp: found, assertionId: `_${++count}`, edit })
  assert.equal(done.status, 200, done.text)
  assert.equal(await browser.whoAmI(), name)
  return browser
}

const about = (message: AboutLogout, { service = saml, idp = 'a' } = {}): AboutLogout => ({
  id: `_logout${++count}`,
  issuer: service.idps.find(one => one.name === idp)?.entityId ?? '',
  destination: LOGOUT.replace(/a$/, idp),
  now: service.service.system.now(),
  ...message,
})

/** A message by redirect, in a browser of its own: no cookie is needed. */
async function byRedirect(xml: string, options: SignedQuery = {}, { service = saml, idp = 'a' } = {}): Promise<Answer> {
  const headers = {
    accept: 'text/html,application/xhtml+xml',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
  }
  return await service.browser().ask(`auth/saml/logout/${idp}?${signedQuery(xml, options)}`, { headers })
}

/** How many listed refusals have this check. Their order says nothing: the clock stands still, and each thread has a list. */
async function refusals(check: string): Promise<number> {
  const admin = await saml.service.admin()
  const { failures } = (await admin.get('management/sso')).json<{ failures: Array<{ check: string }> }>()
  return failures.filter(failure => failure.check === check).length
}

test('a sign-out at the provider ends the login of that session and no other, and is answered with a signature (D30.2)', async () => {
  const [one, two, other] = [
    await signedIn('anna@a.example', '_one'),
    await signedIn('anna@a.example', '_two'),
    await signedIn('bert@a.example', '_one'),
  ]
  const request = buildLogoutRequest(about({ id: '_lr', name: 'anna@a.example', sessionIndexes: ['_one'] }))
  const answer = await byRedirect(request, { relayState: 'back/to&you' })
  assert.equal(answer.status, 303, answer.text)
  const { url, xml, relayState } = readRedirect(answer)
  assert.equal(url.origin + url.pathname, 'https://idp.example/answer')
  assert.equal(relayState, 'back/to&you')
  assert.match(xml, /^<samlp:LogoutResponse /)
  assert.match(xml, /InResponseTo="_lr"/)
  assert.match(xml, /Destination="https:\/\/idp\.example\/answer"/)
  assert.ok(xml.includes(SUCCESS))
  assert.deepEqual(
    [await one.whoAmI(), await two.whoAmI(), await other.whoAmI()],
    ['guest', 'anna@a.example', 'bert@a.example'],
  )
})

test('by POST, and for all sessions of the user that this provider opened, however many (D30.2)', async () => {
  const all = [await signedIn('carl@a.example', '_1'), await signedIn('carl@a.example', '')]
  const request = buildLogoutRequest(about({ id: '_all', name: 'carl@a.example', sessionIndexes: [] }))
  const form = { SAMLRequest: encode(signElement(request, '_all')), RelayState: 'x' }
  const elsewhere = {
    origin: 'https://a.example',
    'sec-fetch-site': 'cross-site',
    accept: 'text/html,application/xhtml+xml',
  }
  const answer = await saml.browser().ask('auth/saml/logout/a', { form, headers: elsewhere })
  assert.equal(answer.status, 303, answer.text)
  readRedirect(answer)
  for (const browser of all) assert.equal(await browser.whoAmI(), 'guest')
})

test('a session whose assertion had no SessionIndex ends with any session of its user', async () => {
  const browser = await signedIn('dora@a.example', '')
  const request = buildLogoutRequest(about({ name: 'dora@a.example', sessionIndexes: ['_unknown'] }))
  assert.equal((await byRedirect(request)).status, 303)
  assert.equal(await browser.whoAmI(), 'guest')
})

test('no provider ends the logins of another one, nor logins with a password (D30.2)', async () => {
  const browser = await signedIn('emil@a.example', '_e')
  const other = { idp: 'b' }
  const request = buildLogoutRequest(about({ name: 'emil@a.example', sessionIndexes: [] }, other))
  assert.equal((await byRedirect(request, {}, other)).status, 303)
  const indexed = buildLogoutRequest(about({ name: 'emil@a.example', sessionIndexes: ['_e'] }, other))
  assert.equal((await byRedirect(indexed, {}, other)).status, 303)
  assert.equal(await browser.whoAmI(), 'emil@a.example')
  const admin = await saml.service.admin()
  const ofAdmin = buildLogoutRequest(about({ name: 'admin', sessionIndexes: [] }))
  assert.equal((await byRedirect(ofAdmin)).status, 303)
  assert.equal((await admin.get('auth/user')).json()['user'], 'admin')
})

test('a message that is refused ends nothing, and administrators see why (D30.1)', async () => {
  const browser = await signedIn('fred@a.example', '_f')
  const good = about({ name: 'fred@a.example', sessionIndexes: ['_f'] })
  const refused: ReadonlyArray<readonly [string, () => Promise<Answer>]> = [
    ['signature', () => byRedirect(buildLogoutRequest(good), { key: keyNamed('attacker') })],
    ['issuer', () => byRedirect(buildLogoutRequest({ ...good, issuer: 'https://b.example/metadata' }))],
    ['destination', () => byRedirect(buildLogoutRequest({ ...good, destination: LOGOUT.replace(/a$/, 'b') }))],
    ['single-logout', () => byRedirect(buildLogoutRequest(about({}, { idp: 'c' })), {}, { idp: 'c' })],
    ['relay-state', () => byRedirect(buildLogoutRequest(good), { relayState: 'x'.repeat(1_025) })],
    ['in-response-to', () => byRedirect(buildLogoutResponse(good), { kind: 'SAMLResponse', relayState: 'x' })],
  ]
  for (const [check, send] of refused) {
    const before = await refusals(check)
    const answer = await send()
    assert.equal(answer.status, 400, check)
    assert.ok(answer.text.includes(check), answer.text)
    assert.equal(await refusals(check), before + 1, check)
  }
  const missing = await saml.browser().ask('auth/saml/logout/a', { form: { RelayState: 'x' } })
  assert.equal(missing.json()['code'], 'invalid-logout-message')
  const unknown = await saml.browser().ask(`auth/saml/logout/unknown?${signedQuery(buildLogoutRequest(good))}`)
  assert.equal(unknown.status, 404)
  assert.equal(await browser.whoAmI(), 'fred@a.example')
})

test('a request counts once, also when it comes twenty times at once (D30.1)', async () => {
  const request = buildLogoutRequest(about({ name: 'nobody@a.example', sessionIndexes: ['_n'] }))
  const answers = await Promise.all(Array.from({ length: 20 }, () => byRedirect(request)))
  assert.equal(answers.filter(({ status }) => status === 303).length, 1)
  assert.equal(answers.filter(({ status }) => status === 400).length, 19)
  assert.equal(await refusals('replay'), 19)
})

test('an assertion of a session that the provider has ended opens no session any more (D30.2)', async () => {
  const browser = saml.browser()
  const sent = await browser.leave('?idp=a')
  const response = browser.answerTo(sent, {
    name: 'gina@a.example',
    assertionId: '_late',
    edit: xml => xml.replace('SessionIndex="_s"', 'SessionIndex="_late"'),
  })
  const request = buildLogoutRequest(about({ name: 'gina@a.example', sessionIndexes: ['_late'] }))
  assert.equal((await byRedirect(request)).status, 303)
  const late = await browser.bring(response, '?idp=a', { accept: 'application/json' })
  assert.deepEqual([late.status, late.json()['check']], [401, 'session-ended'])
  await signedIn('gina@a.example', '_next')
})

/** Signs out and returns the way to the provider. */
async function signOut(browser: SamlBrowser): Promise<LogoutAtProvider> {
  const page = await browser.ask('auth/logout', {
    method: 'POST',
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(page.status, 200, page.text)
  assert.equal(await browser.whoAmI(), 'guest')
  return readOnwardPage(page)
}

test('a sign-out here ends the session here first, then the one at the provider (D30.3)', async () => {
  const browser = await signedIn('hans@a.example', '_h')
  const { url, xml, relayState } = await signOut(browser)
  assert.equal(url.origin + url.pathname, AT_IDP)
  assert.match(xml, /^<samlp:LogoutRequest .*<saml:Issuer>urn:stowage<\/saml:Issuer>/)
  assert.match(xml, /<saml:NameID Format="[^"]*emailAddress">hans@a\.example<\/saml:NameID>/)
  assert.match(xml, /<samlp:SessionIndex>_h<\/samlp:SessionIndex>/)
  assert.ok(relayState && Buffer.byteLength(relayState) <= 80)

  const message = about({ requestId: requestIdIn(xml) })
  const back = await byRedirect(buildLogoutResponse(message), { kind: 'SAMLResponse', relayState })
  assert.equal(back.status, 303, back.text)
  assert.match(back.headers.location ?? '', /auth\/login\?out=a$/)
  const page = await browser.ask(`auth/login?out=a`, { headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.match(page.text, /You are signed out here and at a\./)
  // The sign-out is over: the same response is refused.
  const again = await byRedirect(buildLogoutResponse(message), { kind: 'SAMLResponse', relayState })
  assert.equal(again.status, 400)
})

test('a response that is refused, or tells of a partial logout, leads to the page that says so (D30.3)', async () => {
  const outcomes: ReadonlyArray<readonly [string, AboutLogout, SignedQuery]> = [
    ['logout-status', { codes: [SUCCESS, PARTIAL] }, {}],
    ['logout-status', { codes: ['urn:oasis:names:tc:SAML:2.0:status:Responder'] }, {}],
    ['signature', {}, { key: keyNamed('attacker') }],
    ['in-response-to', { requestId: '_other' }, {}],
  ]
  for (const [check, changes, signed] of outcomes) {
    const { xml, relayState } = await signOut(await signedIn('ines@a.example', `_i${++count}`))
    const message = about({ requestId: requestIdIn(xml), ...changes })
    const state = { kind: 'SAMLResponse', relayState: relayState ?? '' } as const
    const before = await refusals(check)
    const back = await byRedirect(buildLogoutResponse(message), { ...state, ...signed })
    assert.equal(back.status, 303, back.text)
    assert.match(back.headers.location ?? '', /auth\/login\?left=a$/, check)
    assert.equal(await refusals(check), before + 1, check)
  }
})

test('the RelayState of a sign-out completes no login, and that of a login no sign-out', async () => {
  const { relayState } = await signOut(await signedIn('jana@a.example', '_j'))
  const someone = saml.browser()
  const sent = await someone.leave('?idp=a')
  const taken = await someone.bring(someone.answerTo({ ...sent, relayState: relayState ?? '' }), '?idp=a', {
    accept: 'application/json',
  })
  assert.equal(taken.json()['check'], 'relay-state')
  const message = about({ requestId: sent.requestId })
  const wrong = await byRedirect(buildLogoutResponse(message), { kind: 'SAMLResponse', relayState: sent.relayState })
  assert.equal(wrong.status, 400)
})

test('programs sign out with 204, and with single-logout=accept nobody is sent to the provider (D30.3)', async () => {
  const program = await signedIn('karl@a.example', '_k')
  assert.equal((await program.ask('auth/logout')).status, 204)
  const browser = await signedIn('karl@a.example', '_k2', { service: saml, idp: 'b' })
  const left = await browser.ask('auth/logout', { headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.deepEqual([left.status, left.headers.location?.endsWith('auth/login?left=b')], [303, true])
})

test('with POST the request goes in a form; a provider without an address for it is left alone (D30.3)', async () => {
  const byPost = await startWithSaml(t, {
    ...signing,
    'service.auth.saml.idp.a.single-logout': 'on',
    'service.auth.saml.idp.a.redirect-method': 'post',
  })
  byPost.idp.publish({ logout: { post: 'https://idp.example/logout-post' } })
  const where = { service: byPost, idp: 'a' }
  const browser = await signedIn('lena@a.example', '_l', where)
  const page = await browser.ask('auth/logout', { headers: { accept: 'text/html,application/xhtml+xml' } })
  const form = findForm({ url: `${byPost.service.base}auth/logout`, answer: page, trail: [] }, 'SAMLRequest')
  assert.equal(form?.action, 'https://idp.example/logout-post')
  const xml = Buffer.from(form?.fields['SAMLRequest'] ?? '', 'base64').toString()
  assert.match(xml, /<\/saml:Issuer><ds:Signature /)

  byPost.idp.publish({})
  byPost.service.system.pass(8 * 86_400_000)
  const another = await signedIn('lena@a.example', '_l2', where)
  const left = await another.ask('auth/logout', { headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.deepEqual([left.status, left.headers.location?.endsWith('auth/login?left=a')], [303, true])
})

test('the metadata of this service name the address of single logout while it is on (D30.2)', async () => {
  const text = async (idp: string): Promise<string> => (await saml.browser().get(`auth/saml/metadata?idp=${idp}`)).text
  const services = (xml: string): string[] => xml.match(/<md:SingleLogoutService [^>]*>/g) ?? []
  assert.deepEqual(services(await text('c')), [])
  const found = services(await text('a'))
  assert.equal(found.length, 2)
  for (const one of found) assert.ok(one.includes(`Location="${LOGOUT}"`), one)
})
