/**
 * A mail server in its own process, started by `smtp-server.ts`. It sends its parent the port and every
 * received mail.
 */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { SmtpBehaviour } from './smtp-server.ts'

const behaviour = JSON.parse(process.argv[2] ?? '{}') as SmtpBehaviour
const { tls, user, refused = [], busy = [] } = behaviour

const refusal = (address: string, responseCode: number): Error =>
  Object.assign(new Error(`<${address}> is not taken here`), { responseCode })

const server = new SMTPServer({
  ...tls,
  disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(user ? [] : ['AUTH'])],
  authOptional: user === undefined,
  logger: false,
  onAuth({ username, password }, _session, done) {
    if (username === user?.name && password === user?.password) done(null, { user: username })
    else done(new Error('wrong password'))
  },
  onRcptTo({ address }, _session, done) {
    if (refused.includes(address)) done(refusal(address, 550))
    else if (busy.includes(address)) done(refusal(address, 450))
    else done()
  },
  onData(stream, session, done) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const { mailFrom, rcptTo } = session.envelope
      process.send?.({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        secure: session.secure,
        source: Buffer.concat(chunks).toString('utf8'),
      })
      done()
    })
  },
})
server.on('error', () => undefined)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
