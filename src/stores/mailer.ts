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
