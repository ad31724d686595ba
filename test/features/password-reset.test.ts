import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type PasswordLoginOptions, PasswordLoginPolicy } from '../../src/accounts/login.ts'
import type { MailQueue } from '../../src/mails/mail-queue.ts'
import { linkMail, type MailTexts } from '../../src/mails/link-mail.ts'
import { type MailKind, PasswordReset } from '../../src/features/password-reset/password-reset.ts'
import { PasswordRules } from '../../src/accounts/password-rules.ts'
import { digestOf } from '../../src/accounts/tokens.ts'
import { changeUser } from '../../src/accounts/users.ts'
import { InvalidInput } from '../../src/base/errors.ts'
import type { Mail } from '../../src/mails/smtp-mailer.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { client, disable, keptAudit, presentUser, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const NORA = 'nora@example.org'
const DAY = 86_400_000
const ADDRESS = 'https://store.example.org/'
const textsOf = (kind: MailKind, language = 'none'): MailTexts => ({
  language,
  subject: kind,
  why: '{name} at {address}',
  how: 'Within {hours} hours.',
  button: 'Go <on>',
  otherwise: 'Nothing.',
})
const anyone: PasswordLoginOptions = { mode: 'on', whitelist: [], blacklist: [] }
const badToken = {
  constructor: InvalidInput,
  code: 'invalid-reset-token',
  message: 'This link was already used, has expired or is incomplete. Request a new one.',
}

/** nora (7) may reset her password. */
async function setUp(t: TestContext, policy = anyone) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const { audit, inserted } = keptAudit()
  const jobs: Array<() => Promise<Mail | undefined>> = []
  const cleared: string[] = []
  const rules = { lowercase: false, uppercase: false, number: false, symbol: false, minLength: 8, custom: [] }
  const reset = new PasswordReset({
    database,
    ephemeral: new MemoryEphemeralStore(system, { sweepInterval: 3_600_000 }),
    mails: { add: (write: () => Promise<Mail | undefined>) => jobs.push(write) } as unknown as MailQueue,
    passwordLogins: new PasswordLoginPolicy(policy),
    passwords: { hash: async (password: string) => `hash of ${password}` } as never,
    passwordRules: new PasswordRules({ ...rules, common: new Set() }),
    sessions: { clearAway: async (id: string) => void cleared.push(id) } as never,
    audit,
    system,
  })
  await storedUser(database, '7', { name: NORA })
  const tokens: string[] = []
  /** The mail that a request leads to, once the queue has come to it. */
  const mailFor = async (email: string): Promise<Mail | undefined> => {
    reset.request(email, client, {
      address: ADDRESS,
      linkTo: token => `${ADDRESS}?token=${tokens.push(token) && token}`,
      textsFor: textsOf,
    })
    return await jobs.pop()?.()
  }
  const tokenFor = async (email = NORA): Promise<string> => {
    await mailFor(email)
    return tokens.at(-1) ?? ''
  }
  const rows = async () => (await database.get<{ n: number }>(sql`SELECT count(*) AS n FROM password_resets`))?.n
  return { database, system, reset, jobs, inserted, cleared, mailFor, tokenFor, rows }
}

test('a mail goes to a user by the normal form of their name, with a link that holds a token (D5.7)', async t => {
  const { database, mailFor, inserted, jobs, reset } = await setUp(t)
  const mail = await mailFor(' Nora@EXAMPLE.org ')
  const token = /token=([\w-]{43})$/m.exec(mail?.text ?? '')?.[1] ?? ''
  const values = { name: NORA, link: `${ADDRESS}?token=${token}`, address: ADDRESS, hours: 24 }
  assert.deepEqual(mail, linkMail(textsOf('reset'), values))
  const row = await database.get<object>(sql`SELECT digest, user_id, epoch, address FROM password_resets`)
  assert.deepEqual({ ...row }, { digest: digestOf(token), user_id: '7', epoch: 1, address: NORA })
  const subject = { userId: '7', userName: NORA, address: client.address }
  assert.deepEqual(inserted, [{ event: 'password-reset-requested', ...subject }])
  assert.equal(await reset.isGood(token), true)
  // Nothing happens before the queue comes to it.
  reset.request(NORA, client, { address: ADDRESS, linkTo: () => assert.fail('the link was made'), textsFor: textsOf })
  assert.equal(jobs.length, 1)
})

test('no mail goes to texts that are no single address, to others than users, and to users who may not sign in so', async t => {
  const { database, mailFor, rows, inserted } = await setUp(t, { ...anyone, blacklist: ['Blocked@example.org'] })
  await storedUser(database, '8', { name: 'plain' })
  await storedUser(database, '9', { name: 'blocked@example.org' })
  await disable(database, await storedUser(database, '10', { name: 'disabled@example.org' }))
  const odd = ['a@b,nora@example.org', 'a b@example.org', '<a@example.org>', 'a@b@example.org', '@example.org', 'a@']
  odd.push('x:a@example.org', '"a"@example.org', '(a)@example.org', 'a@[192.0.2.1]', 'a@b;c', 'a\\@b', 'x a@b', 'a@b x')
  for (const [index, name] of odd.entries()) await storedUser(database, `odd-${index}`, { name })
  for (const email of [...odd, 'plain', 'blocked@example.org', 'disabled@example.org', 'other@example.org', '']) {
    assert.equal(await mailFor(email), undefined, email)
  }
  assert.deepEqual([await rows(), inserted], [0, []])
})

test('no mail goes out where passwords are off (D5.7)', async t => {
  const { mailFor } = await setUp(t, { ...anyone, mode: 'off' })
  assert.equal(await mailFor(NORA), undefined)
})

test('a mailbox gets three mails an hour, whoever asks; others are not affected (D5.7)', async t => {
  const { database, system, mailFor } = await setUp(t)
  await storedUser(database, '8', { name: 'bert@example.org' })
  for (const isSent of [true, true, true, false, false]) assert.equal((await mailFor(NORA)) !== undefined, isSent)
  assert.ok(await mailFor('bert@example.org'))
  system.pass(3_599_999)
  assert.equal(await mailFor(NORA), undefined)
  system.pass(1)
  assert.ok(await mailFor(NORA))
})

test('a token sets the password once, ends the sessions, trusts no device any more and lifts a lock (D5.7)', async t => {
  const { database, system, reset, inserted, cleared, tokenFor, rows } = await setUp(t)
  await database.run(sql`INSERT INTO trusted_devices (digest, user_id, last_used) VALUES ('d', '7', ${system.now()})`)
  const [first, second] = [await tokenFor(), await tokenFor()]
  inserted.length = 0
  const before = await presentUser(database, '7')
  await reset.reset(first, 'long enough', client)
  const user = await presentUser(database, '7')
  assert.deepEqual(user, { ...before, password: 'hash of long enough', epoch: 2, unlocks: 1 })
  assert.deepEqual(cleared, ['7'])
  assert.equal(await database.get(sql`SELECT 1 AS one FROM trusted_devices`), undefined)
  assert.deepEqual(inserted, [{ event: 'password-reset', userId: '7', userName: NORA, address: client.address }])
  assert.equal(await rows(), 0)
  for (const token of [first, second, 'unknown', '']) {
    assert.equal(await reset.isGood(token), false)
    await assert.rejects(reset.reset(token, 'long enough', client), badToken)
  }
})

test('a password that breaks the rules leaves the token as it is; the name of the user may not be part of it', async t => {
  const { reset, tokenFor, cleared } = await setUp(t)
  const token = await tokenFor()
  const rules = (names: readonly string[]) => ({ code: 'password-rules', extra: { rules: names } })
  await assert.rejects(reset.reset(token, 'short', client), rules(['min-length (8)']))
  await assert.rejects(reset.reset(token, `I am ${NORA}`, client), rules(['context']))
  assert.deepEqual([await reset.isGood(token), cleared], [true, []])
  await reset.reset(token, 'long enough', client)
})

test('a token is good for a day to the millisecond, and expired ones are deleted (D5.7)', async t => {
  const { system, reset, tokenFor, rows } = await setUp(t)
  const token = await tokenFor()
  system.pass(DAY - 1)
  await reset.expire()
  assert.deepEqual([await reset.isGood(token), await rows()], [true, 1])
  system.pass(1)
  assert.equal(await reset.isGood(token), false)
  await assert.rejects(reset.reset(token, 'long enough', client), badToken)
  assert.equal(await rows(), 1)
  await reset.expire()
  assert.equal(await rows(), 0)
})

test('a token ends with any other change of the password, and with disabling, also while it is used (D5.7)', async t => {
  const { database, reset, tokenFor } = await setUp(t)
  const token = await tokenFor()
  const nora = await presentUser(database, '7')
  await disable(database, nora)
  assert.equal(await reset.isGood(token), false)
  await database.run(sql`UPDATE principals SET disabled = 0, epoch = ${nora.epoch} WHERE id = '7'`)
  assert.equal(await reset.isGood(token), true)
  const earlier = await tokenFor()
  await changeUser(database, nora, { password: 'new' })
  assert.equal(await reset.isGood(earlier), false)
  await assert.rejects(reset.reset(earlier, 'long enough', client), badToken)
  await database.run(sql`UPDATE principals SET epoch = ${nora.epoch} WHERE id = '7'`)
  const asked = reset.reset(token, 'long enough', client)
  await changeUser(database, nora, { password: 'other' })
  await asked.then(
    () => undefined,
    () => undefined,
  )
  const { password } = await presentUser(database, '7')
  assert.ok(password === 'other' || password === 'hash of long enough')
  assert.equal(await reset.isGood(token), false)
  const [again, late] = [await tokenFor(), await tokenFor()]
  const outcomes = await Promise.allSettled([again, late].map(one => reset.reset(one, 'long enough', client)))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  const refused = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason as InvalidInput] : []))
  assert.deepEqual(
    refused.map(({ code }) => code),
    [badToken.code],
  )
})

test('the mail has the same words as text and as HTML, where nothing of the values is markup', () => {
  const values = { name: 'a@example.org', link: 'https://s/?a=1&b="<', address: 'https://s/{name}', hours: 24 }
  assert.deepEqual(linkMail(textsOf('reset', 'sv'), values), {
    to: 'a@example.org',
    subject: 'reset',
    text: `a@example.org at https://s/{name}

Within 24 hours.

https://s/?a=1&b="<

Nothing.
`,
    html: `<!doctype html>
<html lang="sv"><body style="font: 16px/1.5 sans-serif">
<p>a@example.org at https://s/{name}</p>
<p>Within 24 hours.</p>
<p><a href="https://s/?a=1&#38;b=&#34;&#60;">Go &#60;on&#62;</a></p>
<p style="font-size: 13px">https://s/?a=1&#38;b=&#34;&#60;</p>
<p>Nothing.</p>
</body></html>
`,
  })
})

test('a user without a password is invited, in their own language (D5.7)', async t => {
  const { database, mailFor } = await setUp(t)
  await database.run(sql`UPDATE principals SET language = 'de' WHERE id = '7'`)
  const { subject, html } = (await mailFor(NORA)) ?? assert.fail('no mail')
  assert.deepEqual([subject, /lang="(\w+)"/.exec(html)?.[1]], ['reset', 'de'])
  await storedUser(database, '8', { name: 'new@example.org' })
  await database.run(sql`UPDATE principals SET password = NULL WHERE id = '8'`)
  assert.equal((await mailFor('new@example.org'))?.subject, 'invitation')
})
