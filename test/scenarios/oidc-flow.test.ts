import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { ask } from '../support/http-client.ts'
import { loginAtProvider, logoutAtProvider, startWithOidc } from '../support/oidc-at-provider.ts'
import { eventually } from '../support/waiting.ts'

const pair = await startWithOidc(
  { after },
  { 'op.domains.1': 'example.org', 'op.required.groups': 'staff|guests', 'op.user-name-claim': 'email' },
)
const { service, users } = pair

users.set('anna', { email: 'anna@example.org', email_verified: true, groups: ['staff'], name: 'Anna' })
users.set('bert', { email: 'bert@example.org', email_verified: false, groups: ['staff'] })
users.set('cleo', { email: 'cleo@example.org', email_verified: true, groups: ['students'] })
users.set('dora', { email: 'dora@elsewhere.example', email_verified: true, groups: ['staff'] })

const whoIs = async (browser: HeadlessBrowser): Promise<string> => {
  const { auth_token: token = '' } = browser.cookies('127.0.0.1')
  return (await ask(`${service.base}auth/user`, { headers: { cookie: `auth_token=${token}` } })).json<{
    user: string
  }>().user
}

const failures = async (at = pair): Promise<ReadonlyArray<{ check: string; expected?: string; received?: string }>> => {
  const admin = await at.service.admin()
  return (await admin.get('management/sso')).json<{ failures: Array<{ check: string }> }>().failures
}

test('a real provider signs what its userinfo endpoint says, also with a key that is new (D26.7)', async t => {
  const signing = await startWithOidc(t, {}, {}, { userinfo_signed_response_alg: 'RS256' })
  signing.users.set('anna', { email: 'anna@example.org', email_verified: true })
  assert.equal((await loginAtProvider(signing, 'anna')).answer.status, 200)
  await signing.changeKey()
  assert.equal((await loginAtProvider(signing, 'anna')).answer.status, 200)
})

test('to a real provider and back: PKCE, state, nonce, userinfo; a user is created and found again (D26.1)', async () => {
  const browser = new HeadlessBrowser()
  const page = await loginAtProvider(pair, 'anna', { browser })
  assert.equal(page.answer.status, 200, page.answer.text)
  assert.equal(await whoIs(browser), 'anna@example.org')
  const [redirect] = page.trail.length > 0 ? [await ask(`${service.base}auth/oidc`)] : []
  const url = new URL(redirect?.headers.location ?? '')
  assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
  assert.equal(url.searchParams.get('response_type'), 'code')
  for (const name of ['state', 'nonce', 'code_challenge'])
    assert.match(url.searchParams.get(name) ?? '', /^[\w-]{43,44}$/)
  // Renamed here or there, it stays the same account, because of the link.
  users.set('anna', { email: 'anna.new@example.org', email_verified: true, groups: ['staff'] })
  const again = new HeadlessBrowser()
  await loginAtProvider(pair, 'anna', { browser: again })
  assert.equal(await whoIs(again), 'anna@example.org')
})

test('an address that the provider has not verified takes over no account and makes none (D26.3)', async () => {
  const admin = await service.admin()
  await admin.ask('_principals?graphtype=user', { json: { resource: { name: 'bert@example.org' } } })
  const browser = new HeadlessBrowser()
  const page = await loginAtProvider(pair, 'bert', { browser })
  assert.equal(page.answer.status, 401)
  assert.equal((await failures())[0]?.check, 'email-verified')
  assert.equal(await whoIs(browser), 'guest')
})

test('required values and domains are refused with what was expected and received (D26.6)', async () => {
  assert.equal((await loginAtProvider(pair, 'cleo')).answer.status, 401)
  const [failure] = await failures()
  assert.deepEqual(
    { check: failure?.check, expected: failure?.expected, received: failure?.received },
    { check: 'required-claim', expected: 'groups: staff|guests', received: 'students' },
  )
  assert.equal((await loginAtProvider(pair, 'dora')).answer.status, 401)
  assert.equal((await failures())[0]?.check, 'domain')
})

test('the address of a former user does not give a new subject the account (D26.3)', async () => {
  users.set('emil', { email: 'emil@example.org', email_verified: true, groups: ['staff'] })
  assert.equal((await loginAtProvider(pair, 'emil')).answer.status, 200)
  users.set('other', { email: 'emil@example.org', email_verified: true, groups: ['staff'] })
  assert.equal((await loginAtProvider(pair, 'other')).answer.status, 401)
  assert.equal((await failures())[0]?.check, 'account-linked')
})

test('a login is completed once, and only in the browser that began it (D26.2)', async () => {
  users.set('fred', { email: 'fred@example.org', email_verified: true, groups: ['staff'] })
  const browser = new HeadlessBrowser()
  const page = await loginAtProvider(pair, 'fred', { browser })
  const callback = page.trail.find(({ url }) => url.includes('/callback'))?.url ?? ''
  assert.notEqual(callback, '')
  assert.equal((await browser.visit(callback)).answer.status, 401)
  assert.equal((await failures())[0]?.check, 'state')
  // The login of one browser, completed in another.
  const { headers } = await ask(`${service.base}auth/oidc`)
  const state = new URL(headers.location ?? '').searchParams.get('state') ?? ''
  const stolen = await ask(`${service.base}auth/oidc/callback?code=x&state=${state}`)
  assert.equal(stolen.status, 401)
  assert.equal((await failures())[0]?.check, 'browser')
  assert.equal((await ask(`${service.base}auth/oidc/callback?code=x&state=${state}`)).status, 401)
})

test('two logins in two tabs of one browser are both completed', async () => {
  users.set('gina', { email: 'gina@example.org', email_verified: true, groups: ['staff'] })
  const browser = new HeadlessBrowser()
  const first = await browser.visit(`${service.base}auth/oidc`)
  await loginAtProvider(pair, 'gina', { browser })
  assert.equal(await whoIs(browser), 'gina@example.org')
  assert.equal(first.answer.status, 200)
})

test('a sign-out at the provider ends the login here (Back-Channel Logout, D26.5)', async () => {
  users.set('hugo', { email: 'hugo@example.org', email_verified: true, groups: ['staff'] })
  const browser = new HeadlessBrowser()
  const elsewhere = new HeadlessBrowser()
  await loginAtProvider(pair, 'hugo', { browser })
  await loginAtProvider(pair, 'hugo', { browser: elsewhere })
  assert.equal(await whoIs(browser), 'hugo@example.org')
  await logoutAtProvider(pair, browser)
  await eventually('the login is ended', async () => (await whoIs(browser)) === 'guest')
  // Another session at the provider is not meant.
  assert.equal(await whoIs(elsewhere), 'hugo@example.org')
})

test('a provider changes its key: the next login reads the new one (D26.4)', async () => {
  users.set('ines', { email: 'ines@example.org', email_verified: true, groups: ['staff'] })
  await pair.changeKey()
  const browser = new HeadlessBrowser()
  const page = await loginAtProvider(pair, 'ines', { browser })
  assert.equal(page.answer.status, 200, page.answer.text)
  assert.equal(await whoIs(browser), 'ines@example.org')
})

test('a provider changes its key while 20 users sign on at the same moment: all of them get in (D26.4)', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `rush${n}`)
  for (const name of names) users.set(name, { email: `${name}@example.org`, email_verified: true, groups: ['staff'] })
  await pair.changeKey()
  const logins = await Promise.all(
    names.map(async name => {
      const browser = new HeadlessBrowser()
      const { answer } = await loginAtProvider(pair, name, { browser })
      return [answer.status, await whoIs(browser)]
    }),
  )
  assert.deepEqual(
    logins,
    names.map(name => [200, `${name}@example.org`]),
  )
})

test('the secret is sent in the way that the provider offers, where the settings name none (D26.1)', async t => {
  for (const method of ['client_secret_basic', 'client_secret_post']) {
    const only = { clientAuthMethods: [method], clientDefaults: { token_endpoint_auth_method: method } }
    const one = await startWithOidc(t, { 'op.user-name-claim': 'name' }, only)
    one.users.set('anna', { name: 'anna' })
    const page = await loginAtProvider(one, 'anna')
    assert.equal(page.answer.status, 200, `${method}: ${page.answer.text}`)
  }
})

test('nobody is sent to an address without TLS on another host than that of a provider on this machine (D26.1)', async t => {
  const other = await startWithOidc(t)
  const document = await ask(`${other.issuer}/.well-known/openid-configuration`)
  for (const [name, address] of [
    ['authorization_endpoint', 'http://elsewhere.example/auth'],
    ['token_endpoint', 'http://elsewhere.example/token'],
    ['jwks_uri', 'http://elsewhere.example/jwks'],
  ] as const) {
    other.publish({ ...document.json(), [name]: address })
    other.service.system.pass(60_000)
    const answer = await ask(`${other.service.base}auth/oidc`)
    assert.equal(answer.headers.location, undefined, name)
    assert.deepEqual([answer.status, (await failures(other))[0]?.check], [401, 'metadata'], name)
  }
  other.publish(undefined)
  other.service.system.pass(60_000)
  assert.match((await ask(`${other.service.base}auth/oidc`)).headers.location ?? '', new RegExp(`^${other.issuer}/`))
})

test('unknown providers and addresses of others are refused before anyone is sent away', async () => {
  assert.equal((await ask(`${service.base}auth/oidc?idp=nobody`)).status, 400)
  assert.equal((await ask(`${service.base}auth/oidc?successurl=https://evil.example/`)).status, 400)
  const { headers } = await ask(`${service.base}auth/oidc?username=x@example.org`)
  assert.equal(new URL(headers.location ?? '').searchParams.get('login_hint'), 'x@example.org')
})

test('a name that only normalisation makes equal to that of a user is refused, whatever claim has it (D1.7)', async t => {
  const chosen = await startWithOidc(t, { 'op.user-name-claim': 'name' })
  const admin = await chosen.service.admin()
  for (const name of ['curator', 'victim@example.org', 'jörg@example.org']) {
    const made = await admin.ask('_principals?graphtype=user', { json: { resource: { name } } })
    assert.equal(made.status, 201, made.text)
  }
  const disguises = [
    'victim＠example.org',
    'ｖictim@example.org',
    'victim@ｅxample.org',
    'ｃurator',
    'cura\u200Btor',
    'curator ',
    ' curator',
    'curator\u00A0',
    '\uFEFFcurator',
    'cur\u212Btor',
    'jo\u0308rg@ｅxample.org',
  ]
  for (const [at, name] of disguises.entries()) {
    chosen.users.set(`user-${at}`, { name, email: name, email_verified: true })
    const page = await loginAtProvider(chosen, `user-${at}`)
    assert.equal(page.answer.status, 401, JSON.stringify(name))
    assert.equal((await failures(chosen))[0]?.check, 'name', JSON.stringify(name))
  }
  chosen.users.set('honest', { name: 'Curator' })
  assert.equal((await loginAtProvider(chosen, 'honest')).answer.status, 200)
  // Letters with accents as two characters, as a Mac writes them.
  const name = 'Jo\u0308rg@example.org'
  chosen.users.set('mac', { name, email: name, email_verified: true })
  assert.equal((await loginAtProvider(chosen, 'mac')).answer.status, 200)
})

test('a sign-on counts as fresh from the time at which the provider says that the user authenticated (D28.6)', async t => {
  const steps = { 'service.auth.step-up': 'all', 'op.user-name-claim': 'name' }
  const silent = await startWithOidc(t, steps)
  const stating = await startWithOidc(t, { ...steps, 'op.max-authentication-age': '3600' })
  for (const [pair, passed, status] of [
    [silent, 0, 403],
    [stating, 0, 201],
    [stating, 301_000, 403],
  ] as const) {
    pair.users.set('anna', { name: 'anna' })
    const browser = new HeadlessBrowser()
    const page = await loginAtProvider(pair, 'anna', { browser })
    assert.equal(page.answer.status, 200, page.answer.text)
    pair.service.system.pass(passed)
    const { auth_token: token = '' } = browser.cookies('127.0.0.1')
    const expires = new Date(pair.service.system.now() + 86_400_000).toISOString()
    const answer = await ask(`${pair.service.base}auth/access-tokens`, {
      method: 'POST',
      json: { name: 'program', expires, scopes: ['read'] },
      headers: { cookie: `auth_token=${token}` },
    })
    assert.equal(answer.status, status, answer.text)
  }
})

test('values of any length and any characters from outside are refused, never an error of the service', async () => {
  const odd = ['x'.repeat(5000), 'x'.repeat(10_000), '\0', '\uD800', '']
  for (const text of odd) {
    const answer = await ask(
      `${service.base}auth/oidc/callback?code=x&state=${encodeURIComponent(text.toWellFormed())}`,
    )
    assert.equal(answer.status, text === '\0' ? 400 : 401, `state of ${text.length} characters: ${answer.text}`)
  }
  const admin = await service.admin()
  for (const text of [...odd, `${'x'.repeat(43)}.${'y'.repeat(5000)}`, `a.${'y'.repeat(5000)}`, 'a.\0']) {
    const answer = await admin.ask('auth/tokens', { method: 'DELETE', json: { token: text } })
    assert.ok([400, 404].includes(answer.status), `token of ${text.length} characters: ${answer.text}`)
  }
  const now = Math.floor(service.system.now() / 1000)
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  for (const text of odd.slice(0, 4)) {
    const claims = { iss: pair.issuer, aud: 'stowage', iat: now, exp: now + 60, jti: text, sub: text, events }
    const form = { logout_token: await pair.sign(claims, 'logout+jwt') }
    const answer = await ask(`${service.base}auth/oidc/backchannel-logout`, { method: 'POST', form })
    assert.ok(answer.status < 500, `jti of ${text.length} characters: ${answer.text}`)
  }
})
