import assert from 'node:assert/strict'
import { test } from 'node:test'
import { basicAuth, codeOf, GOOD_PASSWORD, guess, NEXT_PASSWORD, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { addApp, pendingCookie, prove, signInWith } from '../support/second-factors.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'
import { linkOf, startSmtpServer } from '../support/smtp-server.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.auth.http-basic': 'on',
      'service.auth.temp.lockout.trusted-devices': 'on',
      'service.auth.password-reset': 'on',
      ...smtp.settings,
    },
  },
)
const { system } = service
const admin = await service.admin()
const nameOf = (answer: Answer): unknown => answer.json()['user']
const refusal = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)]

/** A user with an authenticator app. */
async function newGuarded() {
  const user = await newUser(service, admin)
  return { ...user, ...(await addApp(user.visitor, system)) }
}

async function firstStep(
  user: { name: string; password: string },
  visitor: Visitor = service.visitor(),
): Promise<string> {
  const answer = await visitor.signIn(user.name, user.password)
  assert.deepEqual(refusal(answer), [401, 'second-factor-required'])
  return pendingCookie(answer)
}

test('a code works once, also when it is sent several times at the same moment (D28.1)', async () => {
  const user = await newGuarded()
  const cookies = await Promise.all(Array.from({ length: 4 }, () => firstStep(user)))
  const code = user.app.code()
  const answers = await Promise.all(cookies.map(cookie => prove(service.visitor(), cookie, { code })))
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 403, 403, 403],
  )
  system.pass(30_000)
  assert.deepEqual(
    refusal(await signInWith(service.visitor(), user, code)),
    [403, 'second-factor-wrong'],
    'replayed later',
  )
  assert.equal((await signInWith(service.visitor(), user, user.app.code())).status, 200)
})

test('an earlier code is refused after a later one, and the code of the confirmation too (D28.1)', async () => {
  const user = await newGuarded()
  const earlier = user.app.code(-1)
  assert.equal((await signInWith(service.visitor(), user, earlier)).status, 403, 'it confirmed the app')
  const code = user.app.code()
  assert.equal((await signInWith(service.visitor(), user, user.app.code(1))).status, 200)
  assert.equal((await signInWith(service.visitor(), user, code)).status, 403)
})

test('one sign-in that waits opens one session, also with two right answers at once (D28.2)', async () => {
  const user = await newGuarded()
  const cookie = await firstStep(user)
  const answers = await Promise.all(
    [user.app.code(), user.app.code(1), ...user.recoveryCodes.slice(0, 2)].map(code =>
      prove(service.visitor(), cookie, { code }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('wrong codes and wrong passwords add up, and a right password in between clears nothing (D28.3)', async () => {
  const user = await newGuarded()
  await guess(service.visitor(), user.name, 2)
  for (let count = 0; count < 2; count++) {
    assert.equal((await signInWith(service.visitor(), user, user.app.wrongCode())).status, 403)
  }
  const cookie = await firstStep(user)
  assert.equal((await prove(service.visitor(), cookie, { code: user.app.wrongCode() })).status, 403)
  assert.deepEqual(refusal(await prove(service.visitor(), cookie, { code: user.app.code() })), [429, 'locked-out'])
  assert.equal((await service.visitor().signIn(user.name, user.password)).status, 429)
  system.pass(300_001)
  assert.equal((await signInWith(service.visitor(), user, user.app.code())).status, 200)
  await guess(service.visitor(), user.name, 4)
  assert.equal(
    (await signInWith(service.visitor(), user, user.app.code(1))).status,
    200,
    'a whole sign-in clears the count',
  )
})

test('a sign-in that waits has five attempts, whoever is locked out, and ends after five minutes (D28.2)', async () => {
  const user = await newGuarded()
  const cookie = await firstStep(user)
  const empty = await prove(service.visitor(), cookie, {})
  assert.deepEqual(refusal(empty), [400, 'invalid-form'])
  await admin.delete(`management/lockouts?user=${user.name}`)
  for (let count = 0; count < 5; count++) {
    assert.deepEqual(refusal(await prove(service.visitor(), cookie, { code: user.app.wrongCode() })), [
      403,
      'second-factor-wrong',
    ])
    await admin.delete(`management/lockouts?user=${user.name}`)
  }
  assert.deepEqual(refusal(await prove(service.visitor(), cookie, { code: user.app.code() })), [401, 'sign-in-expired'])
  const late = await firstStep(user)
  system.pass(300_001)
  assert.deepEqual(refusal(await prove(service.visitor(), late, { code: user.app.code() })), [401, 'sign-in-expired'])
})

test('without the cookie of the first step, or with another one, no code signs in (D28.2)', async () => {
  const [anna, bea] = [await newGuarded(), await newGuarded()]
  const cookie = await firstStep(anna)
  for (const wrong of [
    '',
    'stowage_2fa=',
    `stowage_2fa=${'a'.repeat(43)}`,
    `${cookie}; stowage_2fa=${'b'.repeat(43)}`,
  ]) {
    assert.deepEqual(
      refusal(await prove(service.visitor(), wrong, { code: anna.app.code() })),
      [401, 'sign-in-expired'],
      wrong,
    )
  }
  assert.equal(
    (await prove(service.visitor(), await firstStep(bea), { code: anna.app.code() })).status,
    403,
    'the code of another user',
  )
  assert.equal((await prove(service.visitor(), cookie, { code: bea.recoveryCodes[0] })).status, 403)
  const asSession = await service.visitor().get('auth/user', { cookie: cookie.replace('stowage_2fa', 'auth_token') })
  assert.equal(nameOf(asSession), 'guest', 'the token is no session')
})

test('a sign-in that waits ends with a new password, a disabled account and a deleted one (D28.2)', async () => {
  const ends: ReadonlyArray<(user: { id: string }) => Promise<Answer>> = [
    ({ id }) => admin.put(userPath(id), { password: NEXT_PASSWORD }),
    ({ id }) => admin.put(userPath(id), { disabled: true }),
    ({ id }) => admin.delete(`_principals/entry/${id}`),
  ]
  for (const end of ends) {
    const user = await newGuarded()
    const cookie = await firstStep(user)
    assert.ok((await end(user)).status < 300)
    assert.deepEqual(refusal(await prove(service.visitor(), cookie, { code: user.app.code() })), [
      401,
      'sign-in-expired',
    ])
  }
})

test('HTTP Basic, a reset by e-mail and a trusted device are no way around the factor (D28.5)', async () => {
  const name = 'mail@example.org'
  const created = await admin.post('_principals?graphtype=user', { resource: { name, password: GOOD_PASSWORD } })
  assert.equal(created.status, 201)
  const owner = service.visitor()
  const signedIn = await owner.signIn(name, GOOD_PASSWORD)
  const device = /stowage_device=[^;]+/.exec(String(signedIn.headers['set-cookie']))?.[0] ?? ''
  const basic = basicAuth(name, GOOD_PASSWORD)
  assert.equal(nameOf(await service.visitor().get('auth/user', basic)), name, 'the check is remembered')
  const { app } = await addApp(owner, system)
  for (const path of ['auth/user', 'auth/basic', 'auth/cookie']) {
    const answer = await service.visitor().get(path, basic)
    assert.ok([401, 405].includes(answer.status), path)
  }
  assert.deepEqual(refusal(await service.visitor().get('auth/user', basic)), [401, 'second-factor-required'])
  const form = { auth_username: name, auth_password: GOOD_PASSWORD }
  const trusted = await service.visitor().ask('auth/cookie', { form, headers: { cookie: device } })
  assert.deepEqual(refusal(trusted), [401, 'second-factor-required'])
  assert.ok(!String(trusted.headers['set-cookie']).includes('stowage_device'), 'no device is trusted before the factor')
  await service.visitor().post('auth/pwreset', { email: name })
  const { token } = linkOf(await smtp.take(name))
  const reset = await service.visitor().post('auth/pwreset', { token, password: NEXT_PASSWORD })
  assert.deepEqual([reset.status, reset.headers['set-cookie']], [204, undefined])
  assert.equal((await signInWith(service.visitor(), { name, password: NEXT_PASSWORD }, app.code())).status, 200)
})

test('an access token manages no factors and completes no sign-in; one from before the factor works on (D28.5)', async () => {
  const user = await newGuarded()
  const expires = new Date(system.now() + 86_400_000).toISOString()
  const created = await user.visitor.post('auth/access-tokens', { name: 'program', expires, scopes: ['write'] })
  const headers = { authorization: `Bearer ${created.json<{ token: string }>().token}` }
  assert.equal(nameOf(await service.visitor().get('auth/user', headers)), user.name)
  for (const [method, path] of [
    ['GET', 'auth/factors'],
    ['POST', 'auth/factors'],
    ['DELETE', `auth/factors/${user.app.id}`],
    ['DELETE', `auth/factors?user=${user.name}`],
    ['POST', 'auth/recovery-codes'],
    ['POST', 'auth/fresh'],
  ] as const) {
    const answer = await service
      .visitor()
      .ask(path, { method, headers, ...(method === 'POST' ? { json: { name: 'x', kind: 'totp' } } : {}) })
    assert.deepEqual(refusal(answer), [403, 'access-token-scope'], `${method} ${path}`)
  }
})

test('who has a factor shows only after the right password: until then all answers are the same (D28.2)', async () => {
  const guarded = await newGuarded()
  const plain = await newUser(service, admin)
  const answers = await Promise.all(
    [guarded.name, plain.name, 'nobody-of-this-name'].map(name => service.visitor().signIn(name, 'Wrong-Password-99')),
  )
  const shown = answers.map(({ status, text, headers }) => [status, text, headers['set-cookie']])
  assert.deepEqual(shown, [shown[0], shown[0], shown[0]])
  const byBasic = await Promise.all(
    [guarded.name, plain.name].map(name => service.visitor().get('auth/user', basicAuth(name, 'Wrong-Password-99'))),
  )
  assert.equal(byBasic[0]?.text, byBasic[1]?.text)
})

test('a session from before the factor, kept by another client, changes nothing any more (D28.4)', async () => {
  const user = await newUser(service, admin)
  const context = await newContext(admin, [user.id])
  const thief = service.visitor()
  await thief.signIn(user.name, user.password)
  await addApp(user.visitor, system)
  assert.equal((await thief.post(`${context}?graphtype=none`)).status, 401)
  assert.equal((await thief.get('auth/factors')).status, 401)
  assert.equal((await user.visitor.post(context)).status, 201)
})
