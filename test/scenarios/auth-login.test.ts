import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Readable } from 'node:stream'
import { type Answer, ask } from '../support/http-client.ts'
import { ADMIN_PASSWORD, newUser, startInProcess } from '../support/service.ts'

// Many wrong passwords are sent here that are not what is tested.
const service = await startInProcess({ after }, { settings: { 'service.auth.temp.lockout.max.attempts': '-1' } })
const admin = await service.admin()
const bob = await newUser(service, admin)
const url = `${service.base}auth/cookie`
const right = { auth_username: bob.name, auth_password: bob.password }
const formType = 'application/x-www-form-urlencoded'

const cookieOf = (answer: Answer): string | undefined => answer.headers['set-cookie']?.[0]

test('the right name and password: 200, the user, and one Set-Cookie that begins with the token (D2.1)', async () => {
  const answer = await ask(url, { form: right })
  assert.equal(answer.status, 200)
  const { id, user, uri, authTokenExpires, clientAcceptLanguage, ...rest } = answer.json()
  assert.deepEqual([id, user], [bob.id, bob.name])
  assert.equal(uri, `${service.base}_principals/entry/${bob.id}`)
  assert.equal(authTokenExpires, 'Sun Nov 22 10:00:00 UTC 2026')
  assert.deepEqual(clientAcceptLanguage, {})
  assert.deepEqual(rest, {})
  assert.equal(answer.headers['set-cookie']?.length, 1)
  assert.match(
    cookieOf(answer) ?? '',
    /^auth_token=[A-Za-z0-9_-]{43}; Max-Age=86400; Expires=[^;]+ GMT; Path=\/; SameSite=Strict; HttpOnly; Secure$/,
  )
})

test('every login has a new token, also when the request contains one (no fixation)', async () => {
  const planted = 'x'.repeat(43)
  const one = await ask(url, { form: right, headers: { cookie: `auth_token=${planted}` } })
  const two = await ask(url, { form: right, headers: { cookie: cookieOf(one) ?? '' } })
  assert.notEqual(cookieOf(one), cookieOf(two))
  assert.ok(!cookieOf(one)?.includes(planted))
  assert.equal((await ask(`${service.base}auth/tokens`, { headers: { cookie: `auth_token=${planted}` } })).status, 401)
})

test('the name is taken in any case, width and with invisible characters (D1.7)', async () => {
  const wide = [...bob.name].map(c => String.fromCodePoint((c.codePointAt(0) ?? 0) + 0xfee0)).join('')
  for (const name of [bob.name.toUpperCase(), ` ${bob.name} `, wide, `${bob.name}\u200b`]) {
    assert.equal((await ask(url, { form: { ...right, auth_username: name } })).status, 200, JSON.stringify(name))
  }
})

test('the password is taken to the letter: not trimmed, not lowered, not normalised', async () => {
  for (const password of [` ${bob.password}`, `${bob.password} `, bob.password.toLowerCase(), `${bob.password}\0`]) {
    assert.equal((await ask(url, { form: { ...right, auth_password: password } })).status, 401)
  }
})

test('a wrong password, an unknown user, a group, a user without a password and the guest get the same 401 (D2.2)', async () => {
  const bare = await admin.post('_principals?graphtype=user', { resource: { name: 'bare' } })
  assert.equal(bare.status, 201, bare.text)
  const names = [
    bob.name,
    'nobody',
    'admins',
    'users',
    'guest',
    '_guest',
    '_admin',
    'bare',
    '',
    ' ',
    'a\0b',
    'x'.repeat(9000),
  ]
  const [first = '', ...others] = await Promise.all(
    names.map(async name => {
      const answer = await ask(url, { form: { auth_username: name, auth_password: 'Wrong-Password-12' } })
      assert.equal(answer.status, 401, name)
      assert.equal(cookieOf(answer), undefined)
      const { 'x-request-id': _id, date: _date, ...headers } = answer.headers
      return JSON.stringify([answer.text, headers])
    }),
  )
  for (const other of others) assert.equal(other, first)
  assert.equal(first.includes('wrong-credentials'), true)
})

test('quotes and statements in the name are a name (no injection)', async () => {
  for (const name of ["' OR '1'='1", 'admin"--', 'admin\\', '${admin}', '*', '%', 'admin%00']) {
    assert.equal((await ask(url, { form: { auth_username: name, auth_password: ADMIN_PASSWORD } })).status, 401, name)
  }
})

const ages: ReadonlyArray<readonly [age: string, life: number | undefined]> = [
  ['1', 1],
  ['60', 60],
  ['0060', 60],
  ['86400', 86_400],
  ['86401', 86_400],
  ['604800', 86_400],
  ['9007199254740993', 86_400],
  ['9'.repeat(400), 86_400],
  ['0', undefined],
  ['000', undefined],
  ['-1', undefined],
  ['abc', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  ['1.5', undefined],
  ['+60', undefined],
  [' 60', undefined],
  ['60s', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['٦٠', undefined],
]
for (const [age, life] of ages) {
  test(`auth_maxage=${age.slice(0, 20)} ${life === undefined ? 'is refused: 400' : `gives ${life} s`} (D2.3)`, async () => {
    const answer = await ask(url, { form: { ...right, auth_maxage: age } })
    assert.equal(answer.status, life === undefined ? 400 : 200, answer.text)
    if (life === undefined) assert.equal(cookieOf(answer), undefined)
    else assert.match(cookieOf(answer) ?? '', new RegExp(`; Max-Age=${life};`))
  })
}

test('an auth_maxage left empty, as a form sends it, is none (D2.3)', async () => {
  const answer = await ask(url, { form: { ...right, auth_maxage: '' } })
  assert.match(cookieOf(answer) ?? '', /; Max-Age=86400;/)
})

const pct = encodeURIComponent
const name = `auth_username=${pct(bob.name)}`
const word = `auth_password=${pct(bob.password)}`
const bodies: ReadonlyArray<readonly [what: string, body: string, status: number]> = [
  ['a trailing &, as a client of ours sends it', `${name}&${word}&auth_maxage=60&`, 200],
  ['other fields beside', `x=1&${name}&${word}&csrf=abc`, 200],
  ['no fields', '', 400],
  ['no name', word, 400],
  ['no password', name, 400],
  ['an empty password', `${name}&auth_password=`, 400],
  ['a bare password', `${name}&auth_password`, 400],
  ['two names', `${name}&${name}&${word}`, 400],
  ['two passwords', `${name}&${word}&auth_password=x`, 400],
  ['two max ages', `${name}&${word}&auth_maxage=1&auth_maxage=2`, 400],
  ['an array', `auth_username[]=${bob.name}&${word}`, 400],
  ['a bad escape', `${name}&auth_password=%zz`, 400],
  ['bytes that are not UTF-8 behind the escapes', `${name}&auth_password=%ff`, 400],
  ['2048 characters', `${name}&auth_password=${'x'.repeat(2048)}`, 401],
  ['2049 characters', `${name}&auth_password=${'x'.repeat(2049)}`, 400],
  ['2048 astral characters', `${name}&auth_password=${pct('🗝'.repeat(2048))}`, 401],
  ['2049 astral characters for nobody', `auth_username=nobody&auth_password=${pct('🗝'.repeat(2049))}`, 400],
]
for (const [what, body, status] of bodies) {
  test(`a login with ${what}: ${status} (D2.3)`, async () => {
    const answer = await ask(url, { body, method: 'POST', headers: { 'content-type': formType } })
    assert.equal(answer.status, status, answer.text)
    assert.equal(cookieOf(answer) !== undefined, status === 200)
  })
}

test('bytes that are not UTF-8 in the body are refused (D1.5)', async () => {
  const body = Buffer.concat([Buffer.from(`${name}&auth_password=`), Buffer.from([0xff, 0xfe])])
  assert.equal((await ask(url, { body, headers: { 'content-type': formType } })).status, 400)
})

test('credentials count in the body only, never in the query (I5.1)', async () => {
  const answer = await ask(`${url}?${name}&${word}`, {
    method: 'POST',
    body: '',
    headers: { 'content-type': formType },
  })
  assert.equal(answer.status, 400)
  assert.equal((await ask(`${url}?${name}&${word}`)).status, 405)
})

const types: ReadonlyArray<readonly [type: string | undefined, status: number]> = [
  [formType, 200],
  [`${formType}; charset=UTF-8`, 200],
  ['Application/X-WWW-Form-UrlEncoded', 200],
  [undefined, 415],
  ['application/json', 415],
  ['text/plain', 415],
  ['multipart/form-data; boundary=x', 415],
  [`${formType}x`, 415],
  ['///', 415],
]
for (const [type, status] of types) {
  test(`a login as ${type ?? 'untyped'}: ${status} (D1.5)`, async () => {
    const headers = type === undefined ? {} : { 'content-type': type }
    assert.equal((await ask(url, { method: 'POST', body: `${name}&${word}`, headers })).status, status)
  })
}

test('a form of 32 KiB is read, one byte more is refused, with a length and without (D2.1)', async () => {
  const fill = (size: number): string => `${name}&${word}&x=`.padEnd(size, 'x')
  for (const [size, status] of [
    [32_768, 200],
    [32_769, 413],
    [100_000, 413],
  ] as const) {
    const headers = { 'content-type': formType }
    assert.equal((await ask(url, { body: fill(size), headers })).status, status, `${size}`)
    const chunked = await ask(url, { method: 'POST', body: Readable.from([fill(size)]), headers })
    assert.equal(chunked.status, status, `${size}, chunked`)
    if (status === 413) assert.equal(chunked.json()['limit'], 32_768)
  }
})

const landings: ReadonlyArray<readonly [given: string, location: string | undefined]> = [
  ['/app/start?x=1#top', `${service.base}app/start?x=1#top`],
  ['app', `${service.base}app`],
  [`${service.base}app`, `${service.base}app`],
  ['https://evil.example/', undefined],
  ['//evil.example/', undefined],
  ['///evil.example/', undefined],
  ['/\\evil.example/', undefined],
  ['\\\\evil.example/', undefined],
  ['http:looks-foreign', `${service.base}looks-foreign`],
  ['/\t/evil.example/', undefined],
  ['\u0000//evil.example', undefined],
  ['/x\r\nSet-Cookie: auth_token=planted', undefined],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  [`blob:${service.base}0-0-0`, undefined],
  [`filesystem:${service.base}temporary/x`, undefined],
  [`${service.base.slice(0, -1)}.evil.example/`, undefined],
  [`${service.base.slice(0, -1)}@evil.example/`, undefined],
  [service.base.replace('http://', 'http://user:pass@'), undefined],
  [service.base.replace('http://', 'https://'), undefined],
  [service.base.replace('127.0.0.1', 'localhost'), undefined],
  ['http://[', undefined],
  ['/\u202e/evil', undefined],
]
for (const [given, location] of landings) {
  test(`successurl=${JSON.stringify(given)} ${location === undefined ? 'is refused' : 'is followed'} (D2.1)`, async () => {
    const answer = await ask(url, {
      form: { ...right, successurl: given },
      headers: { accept: 'text/html,application/xhtml+xml' },
    })
    assert.equal(answer.status, location === undefined ? 400 : 303)
    assert.equal(answer.headers.location, location)
    assert.equal(cookieOf(answer) !== undefined, location !== undefined)
  })
}

test('a browser is sent to the login page, which then names the user; scripts get JSON (D2.1, D1.4)', async () => {
  const visitor = service.visitor()
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const answer = await visitor.ask('auth/cookie', { form: right, headers: { accept } })
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.location, `${service.base}auth/login`)
  assert.ok((await visitor.get('auth/login')).text.includes(`<strong>${bob.name}</strong>`))
  for (const other of ['*/*', 'application/json', 'application/json,text/html;q=0.9', '']) {
    assert.equal((await ask(url, { form: right, headers: { accept: other } })).status, 200, other)
  }
  const refused = await ask(url, { form: { ...right, auth_password: 'x' }, headers: { accept } })
  assert.equal(refused.status, 401)
  assert.match(refused.headers['content-type'] ?? '', /^text\/html/)
})

/** What `HttpURLConnection` sends by default. */
const ofJava = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'

test('a program that prefers HTML gets the cookie with a short page, because it would lose that of a redirect (D2.1)', async () => {
  for (const headers of [{ accept: ofJava }, { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'cors' }]) {
    const answer = await ask(url, { form: right, headers })
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/html; charset=utf-8'])
    assert.match(cookieOf(answer) ?? '', /^auth_token=[\w-]{43};/)
    assert.ok(answer.text.includes(`<strong>${bob.name}</strong>`))
    const refused = await ask(url, { form: { ...right, auth_password: 'x' }, headers })
    assert.deepEqual([refused.status, refused.json()['code']], [401, 'wrong-credentials'])
  }
})

test('the form of a browser is answered with a redirect: it navigates, or says where to go (D2.1)', async () => {
  const navigating = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const toLogin = await ask(url, { form: right, headers: navigating })
  assert.deepEqual([toLogin.status, toLogin.headers.location], [303, `${service.base}auth/login`])
  const successurl = `${service.base}ui/`
  const onward = await ask(url, { form: { ...right, successurl }, headers: { accept: 'text/html' } })
  assert.deepEqual([onward.status, onward.headers.location], [303, successurl])
  const program = await ask(url, { form: { ...right, successurl } })
  assert.deepEqual([program.status, program.json()['user']], [200, bob.name])
})

test('a stale or foreign cookie never stops a login or a logout (D2.4)', async () => {
  for (const cookie of [
    'auth_token=',
    'auth_token=x',
    `auth_token=${'x'.repeat(43)}`,
    `auth_token=${'x'.repeat(5000)}`,
  ]) {
    assert.equal((await ask(url, { form: right, headers: { cookie } })).status, 200, cookie.slice(0, 30))
    assert.equal((await ask(`${service.base}auth/logout`, { headers: { cookie } })).status, 204)
  }
})

test('only the right password reveals that an account is disabled (D2.2)', async () => {
  const eve = await newUser(service, admin)
  assert.equal((await admin.put(`_principals/resource/${eve.id}`, { disabled: true })).status, 204)
  const response = await service.visitor().signIn(eve.name, eve.password)
  assert.deepEqual([response.status, response.json()['code'], cookieOf(response)], [403, 'account-disabled', undefined])
  assert.equal((await service.visitor().signIn(eve.name, 'Wrong-Password-12')).json()['code'], 'wrong-credentials')
  assert.equal((await eve.visitor.get('auth/user')).json()['user'], 'guest')
  assert.equal((await admin.put(`_principals/resource/${eve.id}`, { disabled: false })).status, 204)
  assert.equal((await service.visitor().signIn(eve.name, eve.password)).status, 200)
  assert.equal((await eve.visitor.get('auth/user')).json()['user'], 'guest')
})

test('passwords beyond the queue get 503 with Retry-After, and none is accepted unchecked (D5.1)', async t => {
  const narrow = await startInProcess(t, {
    settings: { 'service.auth.temp.lockout.max.attempts': '-1' },
    hashing: { limits: { concurrency: 1, queue: 1 } },
  })
  const attempts = Array.from({ length: 20 }, () => narrow.visitor().signIn('admin', 'Wrong-Password-12'))
  const answers = await Promise.all(attempts)
  const refused = answers.filter(({ status }) => status === 503)
  assert.ok(refused.length > 0)
  for (const answer of refused) {
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    assert.equal(answer.json()['code'], 'overloaded')
  }
  for (const { status } of answers) assert.ok(status === 503 || status === 401)
  assert.equal((await narrow.visitor().signIn('admin', ADMIN_PASSWORD)).status, 200)
})

test('the login page offers every way in that is configured, and a refusal leads back to it (D1.4, D14.1)', async t => {
  const settings = {
    'service.auth.cas': 'on',
    'service.auth.cas.server.url': 'https://cas.example/cas',
    'service.auth.password-reset': 'on',
    'service.smtp.host': '127.0.0.1',
    'service.smtp.from': 'store@example.org',
  }
  const rich = await startInProcess(t, { settings })
  const html = { accept: 'text/html,application/xhtml+xml' }
  const page = (await rich.visitor().get('auth/login', html)).text
  for (const path of ['auth/cookie', 'auth/cas', 'auth/pwreset'])
    assert.ok(page.includes(`"${rich.base}${path}"`), path)
  const plain = (await service.visitor().get('auth/login', html)).text
  assert.equal(/auth\/cas|auth\/pwreset|auth\/saml/.test(plain), false)
  const form = { auth_username: 'nobody', auth_password: 'nothing' }
  const refused = await rich.visitor().ask('auth/cookie', { form, headers: html })
  assert.equal(refused.status, 401)
  assert.ok(refused.text.includes(`href="${rich.base}auth/login"`))
})

test('where passwords are off the login page shows no form for one (I5.8)', async t => {
  const off = await startInProcess(t, { settings: { 'service.auth.password': 'off' } })
  const page = await off.visitor().get('auth/login', { accept: 'text/html,application/xhtml+xml' })
  assert.equal(page.status, 200)
  assert.equal(page.text.includes('auth_password'), false)
})
