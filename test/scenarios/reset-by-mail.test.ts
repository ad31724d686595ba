import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addUser,
  addUserWithoutPassword,
  basicAuth,
  codeOf,
  GOOD_PASSWORD,
  guess,
  NEXT_PASSWORD,
  userPath,
} from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer } from '../support/http-client.ts'
import { startInProcess } from '../support/service.ts'
import { linkOf, partOf, startSmtpServer } from '../support/smtp-server.ts'
import { TICK } from '../support/token-store.ts'
import { until } from '../support/waiting.ts'

const DAY = 86_400_000
const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.auth.password-reset': 'on',
      'service.auth.http-basic': 'on',
      'service.auth.password.blacklist.1': 'Black@example.org',
      ...smtp.settings,
    },
  },
)
const admin = await service.admin()
const anyone = service.visitor()

const request = (email: string): Promise<Answer> => anyone.post('auth/pwreset', { email })
const reset = (token: string, password = NEXT_PASSWORD): Promise<Answer> =>
  anyone.post('auth/pwreset', { token, password })

const mailsTo = (name: string): number => smtp.mails.filter(({ to }) => to[0] === name).length

/** A user, and the link of a mail that was sent to them. */
async function mailed(name: string): Promise<{ id: string; link: string; token: string }> {
  const { id } = await addUser(admin, name)
  return { id, ...(await another(name)) }
}

async function another(name: string): Promise<{ link: string; token: string }> {
  const count = mailsTo(name)
  assert.equal((await request(name)).status, 202)
  return linkOf(await smtp.take(name, count + 1))
}

const dead = async (token: string, why: string): Promise<void> => {
  const refused = await reset(token)
  assert.deepEqual([refused.status, codeOf(refused)], [400, 'invalid-reset-token'], why)
  const page = await anyone.get(`auth/pwreset?token=${token}`)
  assert.equal(page.status, 400, why)
  assert.doesNotMatch(page.text, /type="password"/, why)
}

test('a request always gets the same 202, and only users who may sign in with a password get a mail (D5.7)', async () => {
  await addUser(admin, 'known@example.org')
  await addUser(admin, 'black@example.org')
  await addUser(admin, 'no-address')
  await addUserWithoutPassword(admin, 'fresh@example.org')
  await addUser(admin, 'one@example.org,two@example.org')
  await addUser(admin, 'a b@example.org')
  const off = await addUser(admin, 'off@example.org')
  await admin.put(userPath(off.id), { disabled: true })
  const asked = [
    'known@example.org',
    'unknown@example.org',
    'off@example.org',
    'black@example.org',
    'no-address',
    'admins',
    'one@example.org,two@example.org',
    'a b@example.org',
    'known@example.org\r\nBcc: eve@example.org',
    '',
    ' FRESH@Example.org ',
  ]
  const answers = []
  for (const email of asked) {
    const { status, headers, text } = await request(email)
    const { date: _date, 'x-request-id': _id, ...rest } = headers
    answers.push(JSON.stringify({ status, rest, text }))
  }
  assert.deepEqual(new Set(answers).size, 1, answers.join('\n'))
  assert.equal((JSON.parse(answers[0] ?? '') as { status: number }).status, 202)
  await smtp.take('fresh@example.org')
  assert.deepEqual(
    smtp.mails.map(({ to }) => to),
    [['known@example.org'], ['fresh@example.org']],
  )
})

test('the mail has a text and an HTML part with a link under the base address, whatever the Host header (D1.1, D5.7)', async () => {
  await addUser(admin, 'host@example.org')
  await anyone.ask('auth/pwreset', {
    json: { email: 'host@example.org' },
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
  })
  const mail = await smtp.take('host@example.org')
  assert.equal(mail.from, 'store@example.org')
  assert.match(mail.source, /^From: store@example\.org\r$/m)
  assert.match(mail.source, /^To: host@example\.org\r$/m)
  assert.match(mail.source, /^Subject: \S/m)
  assert.match(mail.source, /^Content-Type: multipart\/alternative/m)
  const { link, token } = linkOf(mail)
  assert.equal(link, `${service.base}auth/pwreset?token=${token}`)
  assert.match(token, /^[A-Za-z0-9_-]{43}$/)
  const html = partOf(mail, 'text/html')
  assert.equal(/href="([^"]+)"/.exec(html)?.[1], link)
  assert.doesNotMatch(mail.source, /evil/)
})

test('a reset and an invitation have texts of their own, in the language of the user, else of the request (D5.7)', async () => {
  const known = await addUser(admin, 'kerstin@example.org')
  await admin.put(userPath(known.id), { language: 'sv-SE' })
  const invited = await addUserWithoutPassword(admin, 'neu@example.org')
  await admin.put(userPath(invited.id), { language: 'de' })
  const other = await addUser(admin, 'autre@example.org')
  await admin.put(userPath(other.id), { language: 'fr' })
  await addUserWithoutPassword(admin, 'plain@example.org')
  const texts = []
  for (const name of ['kerstin@example.org', 'neu@example.org', 'autre@example.org', 'plain@example.org']) {
    const headers = { 'accept-language': name.startsWith('autre') ? 'de' : 'xx' }
    await anyone.ask('auth/pwreset', { json: { email: name }, headers })
    const mail = await smtp.take(name)
    texts.push(partOf(mail, 'text/plain').split(/\r?\n/)[0])
    assert.match(partOf(mail, 'text/html'), /<html lang="(?:sv|de|en)">/)
  }
  assert.deepEqual(texts, [
    `Någon har begärt ett nytt lösenord för ditt konto kerstin@example.org på ${service.base}.`,
    `Unter ${service.base} wurde ein Konto für Sie erstellt. Ihr Benutzername ist neu@example.org. Legen Sie ein Passwort fest, um sich anzumelden.`,
    `Für Ihr Konto autre@example.org unter ${service.base} wurde ein neues Passwort angefordert.`,
    `An account has been created for you at ${service.base}. Your user name is plain@example.org. Choose a password to sign in.`,
  ])
})

test('opening the link shows a form and changes nothing, however often a scanner does it (D5.7)', async () => {
  const { link, token } = await mailed('scanned@example.org')
  const path = link.slice(service.base.length)
  for (const method of ['GET', 'HEAD', 'GET']) {
    const page = await anyone.ask(path, { method })
    assert.equal(page.status, 200)
    assert.match(page.headers['content-type'] ?? '', /^text\/html/)
    assert.equal(page.headers['cache-control'], 'no-store')
    if (method === 'HEAD') continue
    assert.match(page.text, new RegExp(`<form method="post" action="${service.base}auth/pwreset">`))
    assert.match(page.text, new RegExp(`name="token" value="${token}"`))
    assert.match(page.text, /type="password"/)
  }
  assert.equal((await service.visitor().signIn('scanned@example.org', GOOD_PASSWORD)).status, 200)
  assert.equal((await reset(token)).status, 204)
})

test('the new password must meet the rules, and after a refusal the link stays valid (D5.7)', async () => {
  const { token } = await mailed('ruled@example.org')
  for (const [password, code] of [
    ['weak', 'password-rules'],
    ['', 'password-missing'],
    ['Aa1'.repeat(700), 'password-too-long'],
  ] as const) {
    const refused = await reset(token, password)
    assert.deepEqual([refused.status, codeOf(refused)], [400, code])
  }
  assert.equal((await service.visitor().signIn('ruled@example.org', GOOD_PASSWORD)).status, 200)
  assert.equal((await reset(token)).status, 204)
  assert.equal((await service.visitor().signIn('ruled@example.org', NEXT_PASSWORD)).status, 200)
  assert.equal((await service.visitor().signIn('ruled@example.org', GOOD_PASSWORD)).status, 401)
})

test('a link works once, also when it is used ten times at the same moment (D5.7)', async () => {
  const { token } = await mailed('once@example.org')
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => reset(token, `${NEXT_PASSWORD}-${index}`)))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter(status => status === 204).length, 1, statuses.join(', '))
  assert.equal(statuses.filter(status => status === 400).length, 9)
  await dead(token, 'used')
  const password = `${NEXT_PASSWORD}-${statuses.indexOf(204)}`
  assert.equal((await service.visitor().signIn('once@example.org', password)).status, 200)
})

test('a link is good for a day to the millisecond (D5.7)', async () => {
  const early = await mailed('early@example.org')
  service.system.pass(DAY - 1)
  assert.equal((await reset(early.token)).status, 204)
  const fresh = await service.admin()
  await addUser(fresh, 'late@example.org')
  const late = await another('late@example.org')
  service.system.pass(DAY)
  await dead(late.token, 'a day old')
  assert.equal((await service.visitor().signIn('late@example.org', GOOD_PASSWORD)).status, 200)
})

test('a link is dead after another password change, another reset, disabling and deleting (D5.7)', async () => {
  const admin = await service.admin()
  const make = async (name: string) => ({ ...(await addUser(admin, name)), ...(await another(name)) })
  const changed = await make('changed@example.org')
  await admin.put(userPath(changed.id), { password: 'Third-Password-56' })
  await dead(changed.token, 'changed')

  const twice = await make('twice@example.org')
  const second = await another('twice@example.org')
  assert.equal((await reset(second.token)).status, 204)
  await dead(twice.token, 'another link was used')

  const off = await make('disabled@example.org')
  await admin.put(userPath(off.id), { disabled: true })
  await dead(off.token, 'disabled')
  await admin.put(userPath(off.id), { disabled: false })
  await dead(off.token, 'enabled again')

  const gone = await make('deleted@example.org')
  await admin.delete(`_principals/entry/${gone.id}`)
  await dead(gone.token, 'deleted')
  await addUser(admin, 'deleted@example.org')
  await dead(gone.token, 'somebody else has the name')
})

test('a reset ends all sessions and remembered Basic credentials and lifts a lock (D5.7)', async () => {
  const admin = await service.admin()
  const name = 'sessions@example.org'
  await addUser(admin, name)
  const visitors = [service.visitor(), service.visitor()]
  for (const visitor of visitors) assert.equal((await visitor.signIn(name, GOOD_PASSWORD)).status, 200)
  assert.equal((await anyone.get('auth/basic', basicAuth(name, GOOD_PASSWORD))).status, 200)
  const { token } = await another(name)
  assert.deepEqual(await guess(anyone, name, 6), [401, 401, 401, 401, 401, 429])
  assert.equal((await reset(token)).status, 204)
  for (const visitor of visitors) assert.equal((await visitor.get('auth/user')).json()['user'], 'guest')
  assert.equal((await anyone.get('auth/basic', basicAuth(name, GOOD_PASSWORD))).status, 401)
  assert.equal((await service.visitor().signIn(name, NEXT_PASSWORD)).status, 200)
})

test('a mailbox gets at most three mails per hour; other mailboxes are not affected (D5.7)', async () => {
  const admin = await service.admin()
  await addUser(admin, 'flooded@example.org')
  await addUser(admin, 'neighbour@example.org')
  // Each thread sends mails in the order in which they were asked for: once the neighbour has theirs, further ones would mostly be sent.
  const settle = () => another('neighbour@example.org')
  const flooded = (count: number) =>
    until(
      () => mailsTo('flooded@example.org'),
      sent => sent >= count,
    )
  for (let count = 0; count < 10; count++) assert.equal((await request('flooded@example.org')).status, 202)
  await flooded(3)
  await settle()
  assert.equal(mailsTo('flooded@example.org'), 3)
  service.system.pass(3_600_000 - TICK)
  await request('flooded@example.org')
  await settle()
  assert.equal(mailsTo('flooded@example.org'), 3)
  service.system.pass(TICK)
  await request('flooded@example.org')
  await flooded(4)
  assert.equal(mailsTo('flooded@example.org'), 4)
})

test('what is sent as JSON is as short as a form, and holds whole characters (D5.7)', async () => {
  const long = await request(`${'x'.repeat(40_000)}@example.org`)
  assert.deepEqual([long.status, codeOf(long)], [413, 'body-too-large'])
  const half = await anyone.ask('auth/pwreset', {
    method: 'POST',
    body: '{"token": "x", "password": "Half-Pair-1234\\ud800"}',
    headers: { 'content-type': 'application/json' },
  })
  assert.deepEqual([half.status, codeOf(half)], [400, 'invalid-json'])
})

test('a new password by e-mail replaces a temporary one, and is final (D33.4)', async () => {
  const name = 'temporary@example.org'
  // The session of the tests above has ended: days have passed.
  const present = await service.admin()
  const { id } = await addUser(present, name)
  const change = { password: `${GOOD_PASSWORD}!`, temporaryPassword: true }
  assert.equal((await present.put(userPath(id), change)).status, 204)
  const { token } = await another(name)
  assert.equal((await reset(token)).status, 204)
  assert.equal((await service.visitor().signIn(name, NEXT_PASSWORD)).status, 200)
})
