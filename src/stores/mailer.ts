export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Hands mails to somebody who delivers them. */
export interface Mailer {
  /** Rejects when the mail could not be handed over; trying again later is for the caller. */
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}
