import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { type Mail, MailFailure, openSmtpMailer, type SmtpOptions } from '../../src/mails/smtp-mailer.ts'
import { freePort } from '../support/peers/peer-process.ts'

const mail: Mail = { to: 'anna@example.org', subject: 'A subject', text: 'the text', html: '<p>the page</p>' }

/** A mail server that says what `replies` has for the beginning of a command, and notes every line. */
async function serverWith(
  t: TestContext,
  replies: Readonly<Record<string, string>> = {},
  offers: readonly string[] = [],
) {
  const lines: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    let isMail = false
    let rest = ''
    const answer = (line: string): string => {
      const own = Object.keys(replies).find(start => line.startsWith(start))
      if (own !== undefined) return replies[own] ?? ''
      if (line.startsWith('EHLO'))
        return ['250-server', ...offers.map(name => `250-${name}`), '250 SIZE 1000000'].join('\r\n')
      if (line === 'DATA') isMail = true
      return line === 'DATA' ? '354 go on' : line.startsWith('AUTH') ? '235 welcome' : '250 fine'
    }
    socket.on('error', () => {})
    socket.write('220 server\r\n')
    socket.setEncoding('latin1').on('data', (text: string) => {
      rest += text
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end).replace(/\r$/, '')
        rest = rest.slice(end + 1)
        lines.push(line)
        if (isMail && line !== '.') continue
        isMail = false
        socket.write(`${answer(line)}\r\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, lines }
}

async function open(t: TestContext, options: Partial<SmtpOptions> & { readonly port: number }) {
  const defaults = { host: '127.0.0.1', security: 'off', username: undefined, password: undefined } as const
  const mailer = await openSmtpMailer({ ...defaults, from: 'Stowage <stowage@example.org>', ...options })
  t.after(() => mailer.close())
  return mailer
}

const failureOf = async (sending: Promise<void>): Promise<readonly [message: string, isFinal: boolean]> => {
  const error: unknown = await sending.then(
    () => assert.fail('it was sent'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof MailFailure)
  assert.equal(error.name, 'MailFailure')
  assert.doesNotMatch(JSON.stringify([error.message, error, error.cause]), /anna/)
  return [error.message, error.isFinal]
}

test('a mail is handed over with its sender, recipient, subject, text and page', async t => {
  const { port, lines } = await serverWith(t)
  await (await open(t, { port })).send(mail)
  const text = lines.join('\n')
  assert.ok(lines.includes('MAIL FROM:<stowage@example.org>'), text)
  assert.ok(lines.includes('RCPT TO:<anna@example.org>'))
  assert.ok(lines.includes('From: Stowage <stowage@example.org>'))
  assert.ok(lines.includes('To: anna@example.org'))
  assert.ok(lines.includes('Subject: A subject'))
  assert.ok(lines.includes('the text') && lines.includes('<p>the page</p>'))
  assert.ok(!lines.some(line => /^(AUTH|STARTTLS)/.test(line)))
})

test('a mail that the server refuses for good is final, and one that it refuses for now is not', async t => {
  for (const [command, reply, isFinal] of [
    ['RCPT', '550 no anna@example.org here', true],
    ['RCPT', '500 no', true],
    ['RCPT', '499 later', false],
    ['RCPT', '450 anna@example.org is busy', false],
    ['MAIL', '550 not from you', true],
    ['DATA', '554 no mails today', true],
    ['DATA', '451 later', false],
    ['.', '554 this is spam', true],
    ['.', '451 later', false],
  ] as const) {
    const { port } = await serverWith(t, { [command]: reply })
    const failure = await failureOf((await open(t, { port })).send(mail))
    assert.deepEqual(
      failure,
      [`the mail server refused the mail (${reply.slice(0, 3)})`, isFinal],
      `${command} ${reply}`,
    )
  }
})

test('a server that cannot be reached, or refuses the password, may take the mail later', async t => {
  const [message, isFinal] = await failureOf((await open(t, { port: await freePort() })).send(mail))
  assert.match(message, /ECONNREFUSED/)
  assert.equal(isFinal, false)
  const { port } = await serverWith(t, { AUTH: '535 wrong' }, ['AUTH PLAIN'])
  const mailer = await open(t, { port, username: 'name', password: 'secret' })
  const refused = await failureOf(mailer.send(mail))
  assert.equal(refused[1], false)
  assert.doesNotMatch(refused[0], /secret/)
})

test('name and password are sent where there is a name, and a password may be empty', async t => {
  for (const [password, sent] of [
    ['secret', 'secret'],
    ['', ''],
    [undefined, ''],
  ] as const) {
    const { port, lines } = await serverWith(t, {}, ['AUTH PLAIN'])
    const mailer = await open(t, { port, username: 'name', password })
    if (sent === '') await mailer.send(mail).catch(() => undefined)
    else await mailer.send(mail)
    const auth = lines.filter(line => line.startsWith('AUTH PLAIN'))
    if (sent !== '') assert.deepEqual(auth, [`AUTH PLAIN ${Buffer.from(`\0name\0${sent}`).toString('base64')}`])
    assert.ok(!lines.join('\n').includes('undefined'))
  }
})

test('a mail that is not sent in time fails and may be sent again, also if its server is not silent for long (D35.35)', async t => {
  // A reply of several lines, whose last one never comes.
  const { port, lines } = await serverWith(t, { EHLO: '250-server' })
  const mailer = await open(t, { port, sendTimeout: 100 })
  await assert.rejects(
    mailer.send(mail),
    (error: unknown) => error instanceof MailFailure && !error.isFinal && /not sent within 100 ms/.test(error.message),
  )
  assert.ok(!lines.includes('DATA'))
})

test('encryption is used as configured: never, required, or from the first byte', async t => {
  const offered = await serverWith(t, {}, ['STARTTLS'])
  await (await open(t, { port: offered.port, security: 'off' })).send(mail)
  assert.ok(!offered.lines.includes('STARTTLS'))

  // A server that does not offer it gets no mail.
  const plain = await serverWith(t, { STARTTLS: '502 not here' })
  const [, isFinal] = await failureOf((await open(t, { port: plain.port, security: 'starttls' })).send(mail))
  assert.equal(isFinal, false)
  assert.ok(plain.lines.includes('STARTTLS'))
  assert.ok(!plain.lines.some(line => line.startsWith('MAIL')))

  const bytes = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', first => {
      seen.push(first[0])
      socket.destroy()
    })
  })
  const seen: unknown[] = []
  bytes.listen(0, '127.0.0.1')
  await once(bytes, 'listening')
  t.after(() => void bytes.close())
  const { port } = bytes.address() as { port: number }
  await failureOf((await open(t, { port, security: 'tls' })).send(mail))
  assert.deepEqual(seen, [0x16], 'the first byte of a TLS handshake')
})
