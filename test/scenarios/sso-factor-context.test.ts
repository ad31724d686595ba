import assert from 'node:assert/strict'
import { after } from '../support/after.ts'
import { test } from 'node:test'
import { HeadlessBrowser, type Page } from '../support/headless-browser.ts'
import { Visitor } from '../support/http-client.ts'
import { loginAtProvider, MFA, type OidcPair, PASSWORD, startWithOidc } from '../support/oidc-at-provider.ts'
import { type SamlBrowser, startWithSaml } from '../support/saml-service.ts'
import { addApp, pendingCookie } from '../support/second-factors.ts'

const asked = { 'op.acr-values': `${MFA} ${PASSWORD}` }
const counting = { ...asked, 'op.second-factor-acr.1': MFA, 'service.auth.second-factor': 'all' }

/** A user of the provider, for whom it states this class. */
function newUser({ users, classes }: OidcPair, name: string, acr: string | undefined): void {
  users.set(name, { email: `${name}@example.org`, email_verified: true })
  if (acr === undefined) classes.delete(name)
  else classes.set(name, acr)
}

interface SignedOn {
  readonly page: Page
  readonly browser: HeadlessBrowser
  /** With the login, if there is one. */
  readonly visitor: Visitor
}

async function signOn(pair: OidcPair, name: string): Promise<SignedOn> {
  const browser = new HeadlessBrowser()
  const page = await loginAtProvider(pair, name, { browser })
  const visitor = new Visitor(pair.service.base)
  visitor.cookie = browser.cookies('127.0.0.1')['auth_token']
  return { page, browser, visitor }
}

const factorOf = async (visitor: Visitor): Promise<unknown> => {
  const { user, secondFactor } = (await visitor.get('auth/user')).json()
  return [user, secondFactor]
}

const pair = await startWithOidc({ after }, counting)

test('acr_values go to the provider, and an acr that the settings name counts as second factor (D28.10)', async () => {
  newUser(pair, 'anna', MFA)
  const first = await new HeadlessBrowser().visit(`${pair.service.base}auth/oidc`)
  const request = first.trail.map(({ url }) => new URL(url)).find(url => url.searchParams.has('acr_values'))
  assert.equal(request?.searchParams.get('acr_values'), `${MFA} ${PASSWORD}`)
  const { visitor } = await signOn(pair, 'anna')
  assert.deepEqual(await factorOf(visitor), ['anna@example.org', undefined])
  assert.equal((await visitor.get('auth/user/contexts')).status, 200)
})

test('another acr that was requested opens a session, but does not count as second factor (D28.10)', async () => {
  newUser(pair, 'bert', PASSWORD)
  const { visitor } = await signOn(pair, 'bert')
  assert.deepEqual(await factorOf(visitor), ['bert@example.org', 'missing'])
  const refused = await visitor.get('auth/user/contexts')
  assert.deepEqual([refused.status, refused.json()['code']], [403, 'second-factor-missing'])
})

test('a user with a factor of their own is asked for it, unless the acr counts (D28.10)', async () => {
  newUser(pair, 'cleo', MFA)
  const owner = (await signOn(pair, 'cleo')).visitor
  await addApp(owner, pair.service.system)
  const again = await signOn(pair, 'cleo')
  assert.deepEqual(await factorOf(again.visitor), ['cleo@example.org', undefined])
  newUser(pair, 'cleo', PASSWORD)
  const weak = await signOn(pair, 'cleo')
  assert.match(weak.page.url, /auth\/factor$/)
  assert.deepEqual(await factorOf(weak.visitor), ['guest', undefined])
})

test('an acr that was not requested, or none, is refused (D26.7)', async () => {
  for (const acr of ['urn:example:other', undefined]) {
    newUser(pair, 'dora', acr)
    const { page, visitor } = await signOn(pair, 'dora')
    assert.equal(page.answer.status, 401)
    assert.deepEqual(await factorOf(visitor), ['guest', undefined])
  }
  const admin = await pair.service.admin()
  await addApp(admin, pair.service.system)
  const { failures } = (await admin.get('management/sso')).json<{ failures: Array<Record<string, string>> }>()
  const checks = failures.filter(({ check }) => check === 'token-acr')
  assert.deepEqual(
    new Set(checks.map(({ expected, received }) => `${expected}: ${received}`)),
    new Set([`${MFA} ${PASSWORD}: "urn:example:other"`, `${MFA} ${PASSWORD}: none`]),
  )
})

test('without the setting no acr counts as second factor (D28.10)', async t => {
  const strict = await startWithOidc(t, { ...asked, 'service.auth.second-factor': 'all' })
  newUser(strict, 'emil', MFA)
  const { visitor } = await signOn(strict, 'emil')
  assert.deepEqual(await factorOf(visitor), ['emil@example.org', 'missing'])
})

const CLASS = 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password'

test('the AuthnContext of SAML counts as second factor as the settings of its provider say (D28.10)', async t => {
  const saml = await startWithSaml(
    t,
    {
      'service.auth.second-factor': 'all',
      'service.auth.saml.idp.a.second-factor-acr.1': MFA,
      'service.auth.saml.idp.a.authn-context.1': MFA,
      'service.auth.saml.idp.a.authn-context.2': CLASS,
    },
    ['a', 'b'],
  )
  let count = 0
  const signIn = async (browser: SamlBrowser, name: string, context: string, idp = 'a') => {
    const found = saml.idps.find(one => one.name === idp)
    assert.ok(found)
    const edit = (xml: string): string => xml.replace(CLASS, context)
    return await browser.signInBy(name, `?idp=${idp}`, { idp: found, assertionId: `_${++count}`, edit })
  }
  const sent = await saml.browser().leave('?idp=a')
  assert.match(sent.xml, /<samlp:RequestedAuthnContext/)
  assert.ok(sent.xml.includes(MFA))
  const strong = saml.browser()
  await signIn(strong, 'anna@a.example', MFA)
  assert.deepEqual(await factorOf(strong), ['anna@a.example', undefined])
  const weak = saml.browser()
  await signIn(weak, 'bert@a.example', CLASS)
  assert.deepEqual(await factorOf(weak), ['bert@a.example', 'missing'])
  const other = saml.browser()
  await signIn(other, 'carl@b.example', MFA, 'b')
  assert.deepEqual(await factorOf(other), ['carl@b.example', 'missing'], 'the setting is that of another provider')
  assert.equal((await signIn(saml.browser(), 'dora@a.example', 'urn:example:other')).status, 401)

  await addApp(strong, saml.service.system)
  const again = saml.browser()
  await signIn(again, 'anna@a.example', MFA)
  assert.equal(await again.whoAmI(), 'anna@a.example')
  const waiting = saml.browser()
  assert.notEqual(pendingCookie(await signIn(waiting, 'anna@a.example', CLASS)), '')
  assert.equal(await waiting.whoAmI(), 'guest')
})
