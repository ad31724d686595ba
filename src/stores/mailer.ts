export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The mail could not be handed over. The message is fit for a log: it names nobody. */
export class MailFailure extends Error {
  /** True when the server will not take this mail later either. */
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.name = 'MailFailure'
    this.isFinal = isFinal
  }
}

/** Hands mails to somebody who delivers them. */
export interface Mailer {
  /** @throws {MailFailure} when the mail could not be handed over; trying again later is for the caller. */
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}
