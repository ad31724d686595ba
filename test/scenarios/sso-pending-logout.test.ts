import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { codeOf } from '../support/accounts.ts'
import { startWithCas } from '../support/cas-service.ts'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { type Answer, ask, Visitor } from '../support/http-client.ts'
import { CLIENT, loginAtProvider, logoutAtProvider, startWithOidc } from '../support/oidc-at-provider.ts'
import { buildLogoutRequest, signedQuery, signingSettings } from '../support/saml-logout.ts'
import { type SamlBrowser, startWithSaml } from '../support/saml-service.ts'
import { addApp, pendingCookie, prove } from '../support/second-factors.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

/** The answer to a right code: a session, or the refusal of a sign-in that is over. */
const outcome = (answer: Answer): unknown => (answer.status === 200 ? 'signed in' : [answer.status, codeOf(answer)])
const ENDED = [401, 'sign-in-expired']

test('a SAML logout ends a sign-in that still waits for its second factor, and no other (D28.11)', async t => {
  const saml = await startWithSaml(t, {
    ...(await signingSettings()),
    'service.auth.saml.idp.a.single-logout': 'accept',
  })
  const { service, idp } = saml
  let count = 0
  const signIn = async (browser: SamlBrowser, index: string): Promise<Answer> =>
    await browser.signInBy('anna@a.example', '', {
      assertionId: `_${++count}`,
      edit: xml => xml.replace('SessionIndex="_s"', `SessionIndex="${index}"`),
    })
  const logout = async (sessionIndexes: readonly string[]): Promise<number> => {
    const about = { id: `_l${++count}`, issuer: idp.entityId, destination: 'https://store.example/auth/saml/logout/a' }
    const xml = buildLogoutRequest({ ...about, name: 'anna@a.example', sessionIndexes, now: service.system.now() })
    return (await saml.browser().ask(`auth/saml/logout/a?${signedQuery(xml)}`)).status
  }
  const owner = saml.browser()
  await signIn(owner, '_first')
  const { app } = await addApp(owner, service.system)
  const waiting = async (index: string): Promise<[SamlBrowser, string]> => {
    const browser = saml.browser()
    const cookie = pendingCookie(await signIn(browser, index))
    assert.notEqual(cookie, '')
    return [browser, cookie]
  }
  const code = (): string => {
    service.system.pass(30_000)
    return app.code()
  }

  const [ended, cookie] = await waiting('_one')
  const [other, otherCookie] = await waiting('_two')
  assert.ok([200, 303].includes(await logout(['_one'])))
  assert.deepEqual(outcome(await prove(ended, cookie, { code: code() })), ENDED)
  assert.equal(outcome(await prove(other, otherCookie, { code: code() })), 'signed in')
  assert.equal(await other.whoAmI(), 'anna@a.example')

  const all = [await waiting('_three'), await waiting('_four')]
  assert.ok([200, 303].includes(await logout([])))
  for (const [browser, pending] of all)
    assert.deepEqual(outcome(await prove(browser, pending, { code: code() })), ENDED)
  const [later, laterCookie] = await waiting('_five')
  assert.equal(outcome(await prove(later, laterCookie, { code: code() })), 'signed in', 'a sign-in after the logout')
})

for (const [where, settings] of [
  ['as set', {}],
  [
    'in the database',
    {
      'service.auth.token.store': 'database',
      'service.auth.token.key-file': join(await temporaryFolder(), 'token.key'),
    },
  ],
] as const) {
  test(`a CAS logout ends a sign-in that waits for its second factor, with sessions ${where} (D28.11)`, async t => {
    const { service, cas, browser } = await startWithCas(t, settings)
    const owner = browser()
    await owner.signInBy(cas, 'anna')
    const { app } = await addApp(owner, service.system)
    const someone = browser()
    await someone.leave()
    const ticket = cas.issue('anna')
    const cookie = pendingCookie(await someone.step(`?ticket=${ticket}`))
    assert.notEqual(cookie, '')
    const message = `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"><samlp:SessionIndex>${ticket}</samlp:SessionIndex></samlp:LogoutRequest>`
    const answer = await new Visitor(service.base).ask('auth/cas', { form: { logoutRequest: message } })
    assert.equal(answer.status, 204)
    assert.deepEqual(outcome(await prove(someone, cookie, { code: app.code() })), ENDED)
  })
}

test('a back-channel logout ends a sign-in that still waits for its second factor, by sid and by sub (D28.11)', async t => {
  const pair = await startWithOidc(t)
  const { service, users, issuer } = pair
  users.set('anna', { email: 'anna@example.org', email_verified: true })
  const signIn = async (): Promise<HeadlessBrowser> => {
    const browser = new HeadlessBrowser()
    await loginAtProvider(pair, 'anna', { browser })
    return browser
  }
  const owner = new Visitor(service.base)
  owner.cookie = (await signIn()).cookies('127.0.0.1')['auth_token']
  const { app } = await addApp(owner, service.system)
  const waiting = async (): Promise<[HeadlessBrowser, string]> => {
    const browser = await signIn()
    const secret = browser.cookies('127.0.0.1')['stowage_2fa']
    assert.ok(secret !== undefined && secret !== '')
    return [browser, `stowage_2fa=${secret}`]
  }
  /** The page that asks for the factor leads to the login once the sign-in is over. */
  const isWaiting = async (cookie: string): Promise<boolean> =>
    (await ask(`${service.base}auth/factor`, { headers: { cookie, accept: 'text/html,application/xhtml+xml' } }))
      .status === 200

  const [browser, cookie] = await waiting()
  assert.equal(await isWaiting(cookie), true)
  await logoutAtProvider(pair, browser)
  // The provider sends its token while it answers the browser.
  await eventually('the logout token has arrived', async () => !(await isWaiting(cookie)))
  assert.deepEqual(outcome(await prove(new Visitor(service.base), cookie, { code: app.code() })), ENDED)

  const [, second] = await waiting()
  assert.equal(await isWaiting(second), true)
  const now = Math.floor(service.system.now() / 1000)
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const claims = { iss: issuer, aud: CLIENT, iat: now, exp: now + 120, jti: 'by-sub', sub: 'anna', events }
  const form = { logout_token: await pair.sign(claims, 'logout+jwt') }
  assert.equal((await ask(`${service.base}auth/oidc/backchannel-logout`, { method: 'POST', form })).status, 204)
  assert.deepEqual(outcome(await prove(new Visitor(service.base), second, { code: app.code() })), ENDED)

  const [, third] = await waiting()
  service.system.pass(30_000)
  const done = await prove(new Visitor(service.base), third, { code: app.code() })
  assert.equal(outcome(done), 'signed in', done.text)
})
