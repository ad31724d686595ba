import type { Milliseconds } from '../base/units.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The mail could not be handed over. The message may be logged: it contains no address. */
export class MailFailure extends Error {
  /** True when the server will not accept this mail later either. */
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.name = 'MailFailure'
    this.isFinal = isFinal
  }
}

/** Hands mails to a server that delivers them. */
export interface Mailer {
  /** @throws {MailFailure} when the mail could not be handed over; the caller decides about another attempt. */
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}

export interface SmtpOptions {
  readonly host: string
  readonly port: number
  /** `off`: unencrypted; `starttls`: required after connecting; `tls`: from the first byte. */
  readonly security: 'off' | 'starttls' | 'tls'
  readonly username: string | undefined
  readonly password: string | undefined
  readonly from: string
  /** Limit for one mail, 60 s by default: a server that keeps replying without an end is never silent (D35.35). */
  readonly sendTimeout?: Milliseconds
}

/** How long the server may be silent. */
const TIMEOUT: Milliseconds = 15_000
const SEND_TIMEOUT: Milliseconds = 60_000

/** Sends mails over SMTP. The library is loaded when the first mailer is created. */
export async function openSmtpMailer(options: SmtpOptions): Promise<Mailer> {
  const { createTransport } = await import('nodemailer')
  const { host, port, security, username, password, from, sendTimeout = SEND_TIMEOUT } = options
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'off',
    ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
    // The text is ours; no part of a mail may be fetched or read from disk.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text, html }: Mail) {
      const signal = AbortSignal.timeout(sendTimeout)
      try {
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text, html, signal })
      } catch (error) {
        if (signal.aborted) throw new MailFailure(`the mail was not sent within ${sendTimeout} ms`, false)
        throw failureOf(error)
      }
    },
    async close() {
      transport.close()
    },
  }
}

/** The library's error contains the recipient, in its message and in its members, when the server rejects them. */
function failureOf(error: unknown): MailFailure {
  const { code, responseCode = 0, message } = error as Error & { code?: string; responseCode?: number }
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return new MailFailure(message, false)
  return new MailFailure(`the mail server refused the mail (${responseCode})`, responseCode >= 500)
}
