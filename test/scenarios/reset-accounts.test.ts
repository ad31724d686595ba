import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import {
  addUser,
  addUserWithoutPassword,
  codeOf,
  GOOD_PASSWORD,
  NEXT_PASSWORD,
  openStore,
  userPath,
} from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer } from '../support/http-client.ts'
import { addApp, signInWith } from '../support/second-factors.ts'
import { newUser, startInProcess } from '../support/service.ts'
import { linkOf, startSmtpServer } from '../support/smtp-server.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.auth.password-reset': 'on',
      'service.auth.password.require-current-password': 'off',
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

/** The token of a mail that was sent to this address. */
async function mailed(name: string): Promise<string> {
  const count = mailsTo(name)
  assert.equal((await request(name)).status, 202)
  return linkOf(await smtp.take(name, count + 1)).token
}

const dead = async (token: string, why: string): Promise<void> => {
  const refused = await reset(token)
  assert.deepEqual([refused.status, codeOf(refused)], [400, 'invalid-reset-token'], why)
}

test('a link does not work any more once the user has another address, by whatever door (D5.7)', async () => {
  const { id } = await addUser(admin, 'before@example.org')
  const token = await mailed('before@example.org')
  assert.equal((await admin.put(userPath(id), { name: 'after@example.org' })).status, 204)
  await dead(token, 'renamed by the resource')
  const next = await mailed('after@example.org')
  const byName = await admin.put(`_principals/entry/${id}/name`, { name: 'later@example.org' })
  assert.ok(byName.status < 300, byName.text)
  await dead(next, 'renamed by the name')
  assert.equal((await reset(await mailed('later@example.org'))).status, 204)
})

test('an account that only a provider signs in gets no password, by no door (D5.7)', async t => {
  const database = await openStore(t, service)
  const link = (id: string): Promise<unknown> =>
    database.run(sql`INSERT INTO sso_links (issuer, subject, user_id) VALUES ('https://idp.example', ${id}, ${id})`)
  const invited = await addUserWithoutPassword(admin, 'invited@example.org')
  const token = await mailed('invited@example.org')
  await link(invited.id)
  await dead(token, 'the provider has signed the user in since')
  const both = await addUser(admin, 'both@example.org')
  await link(both.id)
  await request('invited@example.org')
  // Mails are sent in order, so the first would have come by now.
  assert.equal((await reset(await mailed('both@example.org'))).status, 204)
  assert.equal(mailsTo('invited@example.org'), 1)
  // With a session of the provider, where the current password is not asked for.
  const carl = await newUser(service, admin)
  await link(carl.id)
  assert.equal((await carl.visitor.put(userPath(carl.id), { password: NEXT_PASSWORD })).status, 204)
  await database.run(sql`UPDATE principals SET password = NULL WHERE id = ${carl.id}`)
  const refused = await carl.visitor.put(userPath(carl.id), { password: GOOD_PASSWORD })
  assert.deepEqual([refused.status, codeOf(refused)], [403, 'not-allowed'], refused.text)
})

test('neither a link nor a new password by an administrator gives new guesses at the code of an app (D5.7, D28.3)', async () => {
  const { id } = await addUser(admin, 'codes@example.org')
  const visitor = service.visitor()
  await visitor.signIn('codes@example.org', GOOD_PASSWORD)
  const { app } = await addApp(visitor, service.system)
  for (let count = 0; count < 50; count++) {
    const wrong = await visitor.post('auth/fresh', { code: app.wrongCode() })
    if (wrong.status === 429) service.system.pass(300_001)
    if (wrong.status === 429) count--
  }
  const root = await service.admin()
  const isLocked = async (password: string, why: string): Promise<void> => {
    const answer = await signInWith(service.visitor(), { name: 'codes@example.org', password }, app.code())
    assert.deepEqual([answer.status, codeOf(answer)], [403, 'codes-locked-out'], why)
  }
  assert.equal((await reset(await mailed('codes@example.org'))).status, 204)
  await isLocked(NEXT_PASSWORD, 'after a reset')
  assert.equal((await root.put(userPath(id), { password: GOOD_PASSWORD })).status, 204)
  await isLocked(GOOD_PASSWORD, 'after a new password by an administrator')
  assert.equal((await root.delete('management/lockouts?user=codes@example.org')).status, 204)
  const answer = await signInWith(service.visitor(), { name: 'codes@example.org', password: GOOD_PASSWORD }, app.code())
  assert.equal(answer.status, 200, answer.text)
})
