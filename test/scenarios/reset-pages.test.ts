import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { loadSettings } from '../../src/config/load.ts'
import { sql } from '../../src/stores/sql.ts'
import { addUser, codeOf, GOOD_PASSWORD, NEXT_PASSWORD, openStore } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { startInProcess } from '../support/service.ts'
import { linkOf, startSmtpServer } from '../support/smtp-server.ts'

const smtp = await startSmtpServer({ after })
const reset = {
  'service.auth.password-reset': 'on',
  ...smtp.settings,
}
const service = await startInProcess({ after }, { settings: { ...reset, 'service.auth.password.profile': 'nist' } })
const admin = await service.admin()
const anyone = service.visitor()
const html = { accept: 'text/html,application/xhtml+xml' }

async function mailed(name: string): Promise<string> {
  await addUser(admin, name, 'correct horse battery')
  await anyone.post('auth/pwreset', { email: name })
  return linkOf(await smtp.take(name)).token
}

test('a person gets pages all the way: asking, the notice, the new password, the refusal, the end (D1.4, D14.4)', async () => {
  const asking = await anyone.get('auth/pwreset', html)
  assert.equal(asking.status, 200)
  assert.match(asking.text, /<form method="post"[^]*name="email"/)
  const token = await mailed('person@example.org')
  const sent = await anyone.ask('auth/pwreset', { form: { email: 'person@example.org' }, headers: html })
  assert.deepEqual([sent.status, sent.headers['content-type']], [202, 'text/html; charset=utf-8'])
  const weak = await anyone.ask('auth/pwreset', { form: { token, password: 'weak' }, headers: html })
  assert.deepEqual([weak.status, weak.headers['content-type']], [400, 'text/html; charset=utf-8'])
  const done = await anyone.ask('auth/pwreset', { form: { token, password: 'a new long password' }, headers: html })
  assert.deepEqual([done.status, done.headers['content-type']], [200, 'text/html; charset=utf-8'])
  assert.equal((await service.visitor().signIn('person@example.org', 'a new long password')).status, 200)
})

test('pages hold nothing of what was sent to them, escaped or not, and forbid scripts', async () => {
  const evil = '"><script>alert(1)</script>'
  const pages = [
    await anyone.get(`auth/pwreset?token=${encodeURIComponent(evil)}`, html),
    await anyone.ask('auth/pwreset', { form: { email: evil }, headers: html }),
    await anyone.ask('auth/pwreset', { form: { token: evil, password: evil }, headers: html }),
  ]
  for (const page of pages) {
    assert.match(page.headers['content-type'] ?? '', /^text\/html/)
    assert.doesNotMatch(page.text, /<script|alert\(1\)/)
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
    assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/)
  }
})

test('a page with a form allows the Origin header for the service only, and reveals the link to no other site (D2.9)', async () => {
  // Under `no-referrer` browsers send `Origin: null` with the form, which the guard against other sites refuses.
  const token = await mailed('origin@example.org')
  for (const path of ['auth/login', 'auth/pwreset', `auth/pwreset?token=${token}`]) {
    assert.equal((await anyone.get(path, html)).headers['referrer-policy'], 'strict-origin', path)
  }
  assert.equal((await anyone.get('auth/user')).headers['referrer-policy'], 'no-referrer')
})

test('a page of another site can neither ask for mails nor use a token (D2.9)', async () => {
  const token = await mailed('foreign@example.org')
  for (const form of [{ email: 'foreign@example.org' }, { token, password: 'a new long password' }]) {
    const refused = await anyone.ask('auth/pwreset', { form, headers: { origin: 'https://evil.example' } })
    assert.deepEqual([refused.status, codeOf(refused)], [403, 'cross-site-request'])
  }
  assert.equal((await service.visitor().signIn('foreign@example.org', 'correct horse battery')).status, 200)
})

test('the name of the user may not be part of the new password in the profile nist', async () => {
  const token = await mailed('theodora@example.org')
  const refused = await anyone.post('auth/pwreset', { token, password: 'I am theodora@example.org!' })
  assert.deepEqual([refused.status, refused.json()['rules']], [400, ['context']])
})

test('malformed requests are 400, other types 415, other methods 405', async () => {
  for (const body of [{}, [], null, { token: 'x' }, { password: 'x' }, { email: 1 }, { token: [], password: 'x' }]) {
    assert.equal((await anyone.post('auth/pwreset', body)).status, 400, JSON.stringify(body))
  }
  const text = await anyone.ask('auth/pwreset', {
    method: 'POST',
    body: 'x',
    headers: { 'content-type': 'text/plain' },
  })
  assert.equal(text.status, 415)
  assert.equal((await anyone.put('auth/pwreset', {})).status, 405)
  const token = await anyone.post('auth/pwreset', { token: 'x'.repeat(5000), password: NEXT_PASSWORD })
  assert.deepEqual([token.status, codeOf(token)], [400, 'invalid-reset-token'])
})

test('the store keeps a digest of the token only (D5.7)', async t => {
  const database = await openStore(t, service)
  const token = await mailed('digest@example.org')
  const rows = await database.all(sql`SELECT * FROM password_resets`)
  assert.ok(rows.length > 0)
  assert.ok(!JSON.stringify(rows).includes(token))
})

test('off by default: the address does not exist (D5.7)', async t => {
  const plain = await startInProcess(t)
  assert.equal((await plain.visitor().get('auth/pwreset')).status, 404)
  assert.equal((await plain.visitor().post('auth/pwreset', { email: 'a@example.org' })).status, 404)
  assert.equal((await plain.visitor().signIn('nobody', GOOD_PASSWORD)).status, 401)
})

test('the switch without a mail server or a sender stops the start and names what is missing (D5.7)', () => {
  for (const [missing, settings] of [
    ['service.smtp.host', ['service.smtp.from=a@example.org']],
    ['service.smtp.from', ['service.smtp.host=mail.example.org']],
    ['service.smtp.host', []],
  ] as const) {
    assert.throws(
      () => loadSettings({ overrides: ['service.auth.password-reset=on', ...settings] }),
      (error: unknown) => error instanceof StartupError && error.message.includes(missing),
    )
  }
  for (const wrong of ['service.smtp.username=me', 'service.smtp.password=secret', 'service.smtp.from=no address']) {
    const overrides = [...Object.entries(reset).map(([key, value]) => `${key}=${value}`), wrong]
    assert.throws(() => loadSettings({ overrides }), StartupError, wrong)
  }
})
