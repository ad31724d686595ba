import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadlessBrowser, findForm } from '../support/headless-browser.ts'
import { type Answer, ask } from '../support/http-client.ts'
import { CLIENT, loginAtProvider, startWithOidc } from '../support/oidc-at-provider.ts'

const pair = await startWithOidc({ after }, { 'op.label': 'Example University' })
const { service, users, issuer } = pair

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const seconds = (): number => Math.floor(service.system.now() / 1000)

let tokens = 0

const logoutToken = (claims: Readonly<Record<string, unknown>>): Promise<string> =>
  pair.sign(
    {
      iss: issuer,
      aud: CLIENT,
      iat: seconds(),
      exp: seconds() + 120,
      jti: `token-${++tokens}`,
      events: { [EVENT]: {} },
      ...claims,
    },
    'logout+jwt',
  )

const report = (token: string): Promise<Answer> =>
  ask(`${service.base}auth/oidc/backchannel-logout`, { method: 'POST', form: { logout_token: token } })

async function login(name: string): Promise<HeadlessBrowser> {
  users.set(name, { email: `${name}@example.org`, email_verified: true })
  const browser = new HeadlessBrowser()
  const page = await loginAtProvider(pair, name, { browser })
  assert.equal(page.answer.status, 200, page.answer.text)
  return browser
}

const cookieOf = (browser: HeadlessBrowser): string => `auth_token=${browser.cookies('127.0.0.1')['auth_token'] ?? ''}`

const whoIs = async (browser: HeadlessBrowser): Promise<string> =>
  (await ask(`${service.base}auth/user`, { headers: { cookie: cookieOf(browser) } })).json<{ user: string }>().user

test('a logout token with `sub` only ends all sessions that the provider opened for the user, and no others (D26.5)', async () => {
  const [first, second, other] = [await login('anna'), await login('anna'), await login('bert')]
  const answer = await report(await logoutToken({ sub: 'anna' }))
  assert.equal(answer.status, 204, answer.text)
  assert.equal(answer.text, '')
  assert.deepEqual([await whoIs(first), await whoIs(second)], ['guest', 'guest'])
  assert.equal(await whoIs(other), 'bert@example.org')
})

test('a logout token for an unknown user is answered in the same way (D26.5)', async () => {
  assert.equal((await report(await logoutToken({ sub: 'nobody' }))).status, 204)
})

test('a logout token counts once: sent again, it ends no later session (D26.5)', async () => {
  await login('cleo')
  const token = await logoutToken({ sub: 'cleo' })
  assert.equal((await report(token)).status, 204)
  const later = await login('cleo')
  const again = await report(token)
  assert.equal(again.status, 400)
  assert.equal(again.json()['code'], 'invalid-logout-token')
  assert.equal(await whoIs(later), 'cleo@example.org')
  // The same id in another token is the same token.
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  const { jti } = JSON.parse(claims) as { jti: string }
  assert.equal((await report(await logoutToken({ sub: 'cleo', jti }))).status, 400)
  assert.equal(await whoIs(later), 'cleo@example.org')
})

test('of two copies that arrive at the same moment, one counts (D26.5)', async () => {
  const token = await logoutToken({ sub: 'dora' })
  const statuses = (await Promise.all([report(token), report(token), report(token)])).map(({ status }) => status)
  assert.deepEqual(
    statuses.sort((a, b) => a - b),
    [204, 400, 400],
  )
})

test('tokens that are no logout tokens of this provider end nothing (D26.5)', async () => {
  const browser = await login('emil')
  const wrong = [
    await logoutToken({ sub: 'emil', aud: 'another-client' }),
    await logoutToken({ sub: 'emil', iss: 'https://elsewhere.example' }),
    await logoutToken({ sub: 'emil', nonce: 'of-an-id-token' }),
    await logoutToken({ sub: 'emil', events: {} }),
    await logoutToken({ sub: 'emil', jti: undefined }),
    await logoutToken({}),
    `${(await logoutToken({ sub: 'emil' })).slice(0, -8)}AAAAAAAA`,
    'x.y.z',
  ]
  for (const token of wrong) assert.equal((await report(token)).status, 400, token)
  assert.equal((await ask(`${service.base}auth/oidc/backchannel-logout`, { method: 'POST', form: {} })).status, 400)
  assert.equal(await whoIs(browser), 'emil@example.org')
})

test('after a sign-out here the page leads to the sign-out at the provider, which leads back (RP-Initiated Logout)', async () => {
  const browser = await login('fred')
  const left = await ask(`${service.base}auth/logout`, {
    headers: { cookie: cookieOf(browser), accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(left.status, 303, left.text)
  const page = await ask(left.headers.location ?? '', { headers: { accept: 'text/html,application/xhtml+xml' } })
  const link = /href="([^"]*\/session\/end[^"]*)"/.exec(page.text)?.[1]?.replaceAll(/&amp;|&#38;/g, '&') ?? ''
  const url = new URL(link)
  assert.equal(url.origin, issuer)
  assert.equal(url.searchParams.get('client_id'), CLIENT)
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${service.base}auth/login`)
  assert.equal(
    url.searchParams.get('id_token_hint'),
    null,
    'without single-logout no session keeps its ID token (D26.8)',
  )
  const question = await browser.visit(link)
  const form = findForm(question, 'xsrf')
  assert.ok(form, question.answer.text)
  const back = await browser.submit(question, form, { logout: 'yes' })
  assert.equal(back.url, `${service.base}auth/login`)
  const again = await browser.visit(`${service.base}auth/oidc`)
  assert.ok(findForm(again, 'prompt', 'login'), 'the provider asks for the password again')
})

test('the sign-in page has the label of the provider', async () => {
  const { text } = await ask(`${service.base}auth/login`, { headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.match(text, /auth\/oidc\?idp=op[^>]*>[^<]*Example University/)
})

/** Signs out in a browser and returns where the page leads on to. */
async function signOut(base: string, cookie: string): Promise<URL> {
  const page = await ask(`${base}auth/logout`, {
    method: 'POST',
    headers: { cookie, accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(page.status, 200, page.text)
  const url = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(page.text)?.[1] ?? ''
  return new URL(url.replaceAll(/&amp;|&#38;/g, '&'))
}

test('with single-logout a sign-out here goes on to the provider with the ID token of the session, and comes back (D26.8)', async t => {
  const onward = await startWithOidc(t, { 'op.single-logout': 'on' })
  onward.users.set('anna', { email: 'anna@example.org', email_verified: true })
  const browser = new HeadlessBrowser()
  assert.equal((await loginAtProvider(onward, 'anna', { browser })).answer.status, 200)
  const url = await signOut(onward.service.base, cookieOf(browser))
  assert.equal(url.origin + url.pathname, `${onward.issuer}/session/end`)
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${onward.service.base}auth/login`)
  const hint = url.searchParams.get('id_token_hint') ?? ''
  const claims = JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>
  assert.deepEqual([claims['iss'], claims['aud'], claims['sub']], [onward.issuer, CLIENT, 'anna'])
  assert.equal(
    (await ask(`${onward.service.base}auth/user`, { headers: { cookie: cookieOf(browser) } })).json()['user'],
    'guest',
  )

  const forged = new URL(url)
  forged.searchParams.set('id_token_hint', `${hint.slice(0, -8)}AAAAAAAA`)
  assert.equal((await browser.visit(forged.href)).answer.status, 400, 'this provider checks the hint')
  const question = await browser.visit(url.href)
  const form = findForm(question, 'xsrf')
  assert.ok(form, question.answer.text)
  const back = await browser.submit(question, form, { logout: 'yes' })
  assert.equal(back.url, `${onward.service.base}auth/login`)
  const again = await browser.visit(`${onward.service.base}auth/oidc`)
  assert.ok(findForm(again, 'prompt', 'login'), 'the session at the provider has ended')

  const program = new HeadlessBrowser()
  await loginAtProvider(onward, 'anna', { browser: program })
  const quiet = await ask(`${onward.service.base}auth/logout`, { headers: { cookie: cookieOf(program) } })
  assert.equal(quiet.status, 204, 'programs are not sent anywhere')
})

test('an ID token that is too long for an address is not kept: the provider asks the user (D26.8)', async t => {
  const onward = await startWithOidc(t, { 'op.single-logout': 'on' }, { conformIdTokenClaims: false })
  const groups = Array.from({ length: 1_000 }, (_, at) => `group-${at}`)
  onward.users.set('anna', { email: 'anna@example.org', email_verified: true, groups })
  const browser = new HeadlessBrowser()
  assert.equal((await loginAtProvider(onward, 'anna', { browser })).answer.status, 200)
  const url = await signOut(onward.service.base, cookieOf(browser))
  assert.equal(url.searchParams.get('client_id'), CLIENT)
  assert.equal(url.searchParams.get('id_token_hint'), null)
})
