import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadlessBrowser, findForm } from '../support/headless-browser.ts'
import { type Answer, ask } from '../support/http-client.ts'
import { CLIENT, loginAtProvider, startWithOidc } from '../support/oidc-at-provider.ts'

const pair = await startWithOidc({ after }, { 'op.label': 'Example University', 'op.label.sv': 'Exempeluniversitetet' })
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
    headers: { cookie: cookieOf(browser), accept: 'text/html' },
  })
  assert.equal(left.status, 303, left.text)
  const page = await ask(left.headers.location ?? '', { headers: { accept: 'text/html' } })
  const link = /href="([^"]*\/session\/end[^"]*)"/.exec(page.text)?.[1]?.replaceAll(/&amp;|&#38;/g, '&') ?? ''
  const url = new URL(link)
  assert.equal(url.origin, issuer)
  assert.equal(url.searchParams.get('client_id'), CLIENT)
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${service.base}auth/login`)
  // A token of the user would lie in histories and logs: the provider asks the user instead (D26.8).
  assert.equal(url.searchParams.get('id_token_hint'), null)
  const question = await browser.visit(link)
  const form = findForm(question, 'xsrf')
  assert.ok(form, question.answer.text)
  const back = await browser.submit(question, form, { logout: 'yes' })
  assert.equal(back.url, `${service.base}auth/login`)
  const again = await browser.visit(`${service.base}auth/oidc`)
  assert.ok(findForm(again, 'prompt', 'login'), 'the provider asks for the password again')
})

test('the sign-in page names the provider in the language of the browser', async () => {
  const page = async (language: string): Promise<string> =>
    (await ask(`${service.base}auth/login`, { headers: { accept: 'text/html', 'accept-language': language } })).text
  assert.match(await page('en'), /auth\/oidc\?idp=op[^>]*>[^<]*Example University/)
  assert.match(await page('sv'), /Exempeluniversitetet/)
})
