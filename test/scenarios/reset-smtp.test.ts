import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { addUser, NEXT_PASSWORD } from '../support/accounts.ts'
import { type Process, startProcess } from '../support/service.ts'
import { linkOf, selfSigned, type SmtpServer, startSmtpServer } from '../support/smtp-server.ts'
import { eventually, until } from '../support/waiting.ts'

const certificate = await selfSigned()
const user = { name: 'store', password: 'smtp-canary-password-1' }

const settingsFor = (port: number, more: Readonly<Record<string, string>> = {}) => ({
  'service.auth.password-reset': 'on',
  'service.smtp.host': '127.0.0.1',
  'service.smtp.port': String(port),
  'service.smtp.from': 'store@example.org',
  ...more,
})

/** Requests a mail. */
async function ask(service: Process, email: string): Promise<void> {
  assert.equal((await service.visitor().post('auth/pwreset', { email })).status, 202)
}

const logged = (service: Process, pattern: RegExp): Promise<string> =>
  until(service.output, output => pattern.test(output))

/** Requests a mail that cannot be sent. Resolves when the log contains the failure. */
async function fails(service: Process, smtp: SmtpServer): Promise<string> {
  await addUser(await service.admin(), 'bob@example.org')
  await ask(service, 'bob@example.org')
  const output = await logged(service, /a mail could not be sent/)
  assert.equal(smtp.mails.length, 0)
  return output
}

test('with STARTTLS, a certificate that is trusted and the right password the mail is sent encrypted (D5.7)', async t => {
  const smtp = await startSmtpServer(t, { tls: certificate, user })
  const service = await startProcess(t, {
    settings: settingsFor(smtp.port, { 'service.smtp.username': user.name, 'service.smtp.password': user.password }),
    env: { NODE_EXTRA_CA_CERTS: certificate.file },
  })
  await addUser(await service.admin(), 'bob@example.org')
  await ask(service, 'bob@example.org')
  const mail = await smtp.take('bob@example.org')
  assert.equal(mail.secure, true)
  const { token } = linkOf(mail)
  assert.equal((await service.visitor().get(`auth/pwreset?token=${token}`)).status, 200)
  assert.equal((await service.visitor().post('auth/pwreset', { token, password: NEXT_PASSWORD })).status, 204)
  assert.equal(await service.stop(), 0)
  for (const secret of [token, user.password, NEXT_PASSWORD]) assert.ok(!service.output().includes(secret))
})

test('an untrusted certificate is rejected: no mail is sent, and the log contains the reason (D5.7)', async t => {
  const smtp = await startSmtpServer(t, { tls: certificate, user })
  const service = await startProcess(t, {
    settings: settingsFor(smtp.port, { 'service.smtp.username': user.name, 'service.smtp.password': user.password }),
  })
  const output = await fails(service, smtp)
  assert.match(output, /self-signed certificate/)
  assert.ok(!output.includes(user.password))
})

test('a mail server without STARTTLS is not used if STARTTLS is required, which is the default (D5.7)', async t => {
  const smtp = await startSmtpServer(t)
  const service = await startProcess(t, { settings: settingsFor(smtp.port) })
  assert.match(await fails(service, smtp), /STARTTLS/)
})

test('a wrong password at the mail server fails no request; the log contains the failure without the password (D5.7)', async t => {
  const smtp = await startSmtpServer(t, { tls: certificate, user })
  const wrong = 'smtp-canary-password-2'
  const service = await startProcess(t, {
    settings: settingsFor(smtp.port, { 'service.smtp.username': user.name, 'service.smtp.password': wrong }),
    env: { NODE_EXTRA_CA_CERTS: certificate.file },
  })
  const output = await fails(service, smtp)
  assert.match(output, /535/)
  assert.ok(!output.includes(wrong) && !output.includes(Buffer.from(wrong).toString('base64')))
})

test('a recipient that is refused, temporarily or permanently, delays no other mail and is not named in the log (D5.7)', async t => {
  const smtp = await startSmtpServer(t, { refused: ['gone@example.org'], busy: ['busy@example.org'] })
  const service = await startProcess(t, { settings: settingsFor(smtp.port, { 'service.smtp.security': 'off' }) })
  const admin = await service.admin()
  for (const name of ['gone@example.org', 'busy@example.org', 'bob@example.org']) await addUser(admin, name)
  for (const name of ['gone@example.org', 'busy@example.org', 'bob@example.org']) await ask(service, name)
  await smtp.take('bob@example.org')
  const lines = (): string[] =>
    service
      .output()
      .split('\n')
      .filter(line => line.includes('a mail could not be sent'))
  await eventually('both refusals are in the log', () => lines().length >= 2)
  // Mails asked for at several threads can arrive in the queue in another order.
  const failures = lines().sort((a, b) => Number(/450/.test(a)) - Number(/450/.test(b)))
  assert.equal(failures.length, 2)
  assert.match(failures[0] ?? '', /550/)
  assert.doesNotMatch(failures[0] ?? '', /retryInMs/)
  assert.match(failures[1] ?? '', /450.*retryInMs|retryInMs.*450/)
  assert.doesNotMatch(failures.join('\n'), /gone@|busy@/)
})

test('a mail server that accepts connections and never answers delays neither responses nor the stop (D5.7)', async t => {
  const held = new Set<Socket>()
  const silent = createServer(socket => void held.add(socket))
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of held) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const service = await startProcess(t, { settings: settingsFor(port) })
  await addUser(await service.admin(), 'bob@example.org')
  for (let count = 0; count < 3; count++) await ask(service, 'bob@example.org')
  await until(
    () => held.size,
    size => size > 0,
  )
  assert.equal(await service.stop(), 0)
  // A response or a stop that waited for the mail server would come after its timeout, which is logged.
  assert.doesNotMatch(service.output(), /a mail could not be sent/)
})
