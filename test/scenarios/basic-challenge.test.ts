import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, addUserWithoutPassword, basicAuth, codeOf, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const CHALLENGE = 'Basic realm="Stowage", charset="UTF-8"'
const service = await startInProcess({ after }, { settings: { 'service.auth.http-basic': 'on' } })
const admin = await service.admin()
const anyone = service.visitor()
const bob = await addUser(admin, 'bob')

test('off by default: /auth/basic is 404 and the header is ignored, right or wrong (I5.1, D4.1)', async t => {
  const plain = await startInProcess(t)
  await addUser(await plain.admin(), 'bob')
  for (const headers of [
    {},
    basicAuth('bob', GOOD_PASSWORD),
    basicAuth('bob', 'wrong'),
    { authorization: 'nonsense' },
  ]) {
    const answer = await plain.visitor().get('auth/basic', headers)
    assert.equal(answer.status, 404)
    assert.equal(answer.headers['www-authenticate'], undefined)
    const user = await plain.visitor().get('auth/user', headers)
    assert.deepEqual([user.status, user.json()['user']], [200, 'guest'])
  }
  const signedIn = plain.visitor()
  await signedIn.signIn('bob', GOOD_PASSWORD)
  const user = await signedIn.get('auth/user', basicAuth('admin', 'wrong'))
  assert.equal(user.json()['user'], 'bob', 'nor does it disturb a login by cookie')
})

test('without credentials /auth/basic is 401 with the challenge, and auth_challenge=false suppresses it (D4.1)', async () => {
  const asked = await anyone.get('auth/basic')
  assert.deepEqual([asked.status, asked.headers['www-authenticate'], codeOf(asked)], [401, CHALLENGE, 'not-signed-in'])
  assert.equal(asked.headers['cache-control'], 'no-store')
  const quiet = await anyone.get('auth/basic?auth_challenge=false')
  assert.deepEqual([quiet.status, quiet.headers['www-authenticate']], [401, undefined])
  const loud = await anyone.get('auth/basic?auth_challenge=true')
  assert.equal(loud.headers['www-authenticate'], CHALLENGE)
})

test('a cookie does not answer the challenge of /auth/basic (D4.1)', async () => {
  assert.equal((await admin.get('auth/basic')).status, 401)
})

test('right credentials are the user, at /auth/basic and anywhere else, and set no cookie (D4.1)', async () => {
  for (const path of ['auth/basic', 'auth/user']) {
    const answer = await anyone.get(path, basicAuth('bob', GOOD_PASSWORD))
    assert.equal(answer.status, 200)
    const { id, user, uri, authTokenExpires } = answer.json()
    assert.deepEqual([id, user, uri], [bob.id, 'bob', `${service.base}_principals/entry/${bob.id}`])
    assert.equal(authTokenExpires, undefined)
    assert.equal(answer.headers['set-cookie'], undefined)
  }
})

test('the scheme is taken in any case, and the name in any form (RFC 7617, D1.7)', async () => {
  const encoded = Buffer.from(` BoB :${GOOD_PASSWORD}`).toString('base64')
  for (const scheme of ['Basic', 'basic', 'BASIC']) {
    assert.equal((await anyone.get('auth/basic', { authorization: `${scheme} ${encoded}` })).status, 200, scheme)
  }
})

test("other routes without credentials are a guest's (D4.1)", async () => {
  const user = await anyone.get('auth/user')
  assert.deepEqual([user.status, user.json()['user'], user.headers['www-authenticate']], [200, 'guest', undefined])
})

test('a program without credentials is asked for them wherever it must be signed in (D4.1)', async () => {
  const context = await newContext(admin)
  const entry = `${context}/entry/${await newEntry(admin, context)}`
  for (const [method, path] of [
    ['GET', entry],
    ['HEAD', entry],
    ['PUT', entry],
    ['DELETE', entry],
    ['GET', 'auth/tokens'],
    ['GET', `${entry}?ignoreAuth`],
    ['POST', context],
  ] as const) {
    const { status, headers } = await anyone.ask(path, { method })
    assert.deepEqual([status, headers['www-authenticate']], [401, CHALLENGE], `${method} ${path}`)
  }
  const visiting = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const led = await anyone.get(entry.replace('/entry/', '/resource/'), visiting)
  assert.deepEqual([led.status, led.headers['www-authenticate']], [303, undefined], 'a browser signs in on a page')
})

test('pages, scripts and requests whose credentials do not count are not asked (D4.1)', async t => {
  const context = await newContext(admin)
  const entry = `${context}/entry/${await newEntry(admin, context)}`
  const form = { auth_username: 'bob', auth_password: 'wrong' }
  for (const [what, answer] of [
    ['auth_challenge', anyone.get(`${entry}?auth_challenge=false`)],
    ['auth_challenge, twice', anyone.get(`${entry}?auth_challenge=false&auth_challenge=true`)],
    ['fetch', anyone.get(entry, { 'sec-fetch-mode': 'cors' })],
    ['a picture', anyone.get(entry, { 'sec-fetch-mode': 'no-cors' })],
    ['XMLHttpRequest', anyone.get(entry, { 'x-requested-with': 'XMLHttpRequest' })],
    ['an ended session', anyone.get(entry, { cookie: `auth_token=${'x'.repeat(43)}` })],
    ['the sign-in', anyone.ask('auth/cookie', { form })],
  ] as const) {
    const { status, headers } = await answer
    assert.deepEqual([status, headers['www-authenticate']], [401, undefined], what)
  }
  const plain = await startInProcess(t)
  assert.equal((await plain.visitor().get('auth/tokens')).headers['www-authenticate'], undefined, 'Basic is off')
})

test('passwords are UTF-8, or else Latin-1, hold colons, and may be 2048 characters of any kind long (D4.2)', async () => {
  const passwords = [
    'Größe-über-12-€',
    'Colon:in:the:middle-12',
    `Aa1${'\u{1F511}'.repeat(2045)}`,
    ' Blanks-around-12 ',
  ]
  for (const [index, password] of passwords.entries()) {
    await addUser(admin, `utf8-${index}`, password)
    assert.equal(
      (await anyone.get('auth/basic', basicAuth(`utf8-${index}`, password))).status,
      200,
      password.slice(0, 20),
    )
  }
  await addUser(admin, 'latin1', 'Größe-über-12-Ä')
  for (const [password, status] of [
    ['Größe-über-12-Ä', 200],
    ['Größe-über-12-Å', 401],
  ] as const) {
    const latin1 = Buffer.from(`latin1:${password}`, 'latin1').toString('base64')
    assert.equal((await anyone.get('auth/basic', { authorization: `Basic ${latin1}` })).status, status, password)
  }
})

test('any other content of the header is 401, on every route and method, without effect (D4.2)', async () => {
  const context = await newContext(admin, [bob.id])
  const entry = await newEntry(admin, context)
  const file = `${context}/resource/${entry}`
  assert.equal(
    (await admin.ask(file, { method: 'PUT', body: 'old', headers: { 'content-type': 'text/plain' } })).status,
    201,
  )
  const encode = (text: string): string => Buffer.from(text).toString('base64')
  const headers = [
    '',
    'Basic',
    'Basic ',
    'Basic !!!!',
    'Basic Zg===',
    'Basic Ym9i Ym9i',
    `Basic ${encode('')}`,
    `Basic ${encode('no-colon')}`,
    `Basic ${encode(':')}`,
    `Basic ${encode('bob:')}`,
    `Basic ${encode(`:${GOOD_PASSWORD}`)}`,
    `Basic ${encode(`bob:${'x'.repeat(2049)}`)}`,
    `Basic ${encode(`bob:${'\u{1F511}'.repeat(2049)}`)}`,
    `Basic ${encode(`bob\0:${GOOD_PASSWORD}`)}`,
    `Basic ${encode(`admins:${GOOD_PASSWORD}`)}`,
    `Basic ${encode(`guest:${GOOD_PASSWORD}`)}`,
    `Basic ${encode(`_admin:${GOOD_PASSWORD}`)}`,
    `Basic ${Buffer.from([0xff, 0xfe, 0x3a, 0x41]).toString('base64')}`,
    'Bearer abcdef',
    'Digest username="bob"',
    `Basic${encode(`bob:${GOOD_PASSWORD}`)}`,
    encode(`bob:${GOOD_PASSWORD}`),
  ]
  for (const authorization of headers) {
    for (const [method, path] of [
      ['GET', 'auth/basic'],
      ['GET', 'auth/user'],
      ['PUT', file],
      ['DELETE', `${context}/entry/${entry}`],
    ] as const) {
      const body = method === 'PUT' ? 'new' : undefined
      const type = body === undefined ? {} : { 'content-type': 'text/plain' }
      const answer = await anyone.ask(path, { method, body, headers: { authorization, ...type } })
      assert.deepEqual(
        [answer.status, codeOf(answer), answer.headers['www-authenticate']],
        [401, 'wrong-credentials', CHALLENGE],
        `${method} ${path} with ${authorization.slice(0, 60)}`,
      )
    }
  }
  assert.equal((await admin.get(file)).text, 'old')
})

test('a password-less user is refused like a wrong password (D2.2)', async () => {
  await addUserWithoutPassword(admin, 'no-password')
  const none = await anyone.get('auth/basic', basicAuth('no-password', 'x'))
  const wrong = await anyone.get('auth/basic', basicAuth('bob', 'x'))
  assert.deepEqual([none.status, none.text], [wrong.status, wrong.text])
})

test('wrong credentials are refused even where guests are allowed, and with a valid cookie', async () => {
  assert.equal((await anyone.get('management/status', basicAuth('bob', 'wrong'))).status, 401)
  assert.equal((await admin.get('auth/user', basicAuth('bob', 'wrong'))).status, 401)
})

test('a stale header does not hinder a login or a logout (D2.4)', async () => {
  const visitor = service.visitor()
  const form = { auth_username: 'bob', auth_password: GOOD_PASSWORD }
  const signedIn = await visitor.ask('auth/cookie', { form, headers: basicAuth('bob', 'wrong') })
  assert.equal(signedIn.status, 200)
  assert.equal((await visitor.get('auth/logout', { authorization: 'Bearer x' })).status, 204)
})

test('a page of another site may not write with the Basic credentials a browser adds (D2.9)', async () => {
  const context = await newContext(admin, [bob.id])
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  ]
  for (const headers of foreign) {
    const answer = await anyone.ask(context, {
      method: 'POST',
      headers: { ...basicAuth('bob', GOOD_PASSWORD), ...headers },
    })
    assert.deepEqual([answer.status, codeOf(answer)], [403, 'cross-site-request'])
  }
  const own = {
    ...basicAuth('bob', GOOD_PASSWORD),
    origin: new URL(service.base).origin,
    'sec-fetch-site': 'same-origin',
  }
  assert.equal((await anyone.ask(context, { method: 'POST', headers: own })).status, 201)
})
