import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Mail, Mailer } from '../stores/mailer.ts'

const MOST_WAITING = 1000
/** Pauses before the second, third and fourth try. */
const PAUSES: readonly Milliseconds[] = [5_000, 60_000, 600_000]

/** Sends mails one after another, so that nobody waits for a mail server (D5.7). */
export class MailQueue {
  readonly #mailer: Mailer
  readonly #log: Log
  readonly #pauses: readonly Milliseconds[]
  readonly #waiting: Array<() => Promise<Mail | undefined>> = []
  readonly #closed = new AbortController()
  #working: Promise<void> | undefined

  constructor(mailer: Mailer, log: Log, pauses: readonly Milliseconds[] = PAUSES) {
    this.#mailer = mailer
    this.#log = log
    this.#pauses = pauses
  }

  /** @param write makes the mail, or decides that there is none to send; runs in the background too. */
  add(write: () => Promise<Mail | undefined>): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#log.warn('too many mails wait: one has been dropped')
      return
    }
    this.#waiting.push(write)
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  /** Gives up what has not been sent. */
  async close(): Promise<void> {
    this.#waiting.length = 0
    this.#closed.abort()
    await this.#working
    await this.#mailer.close()
  }

  async #work(): Promise<void> {
    for (let write = this.#waiting.shift(); write; write = this.#waiting.shift()) {
      try {
        const mail = await write()
        if (mail) await this.#send(mail)
      } catch (error) {
        // The address is a person's: it stays out of the log.
        this.#log.error({ err: error }, 'a mail could not be sent')
      }
    }
  }

  async #send(mail: Mail): Promise<void> {
    for (const pause of [...this.#pauses, undefined]) {
      try {
        return await this.#mailer.send(mail)
      } catch (error) {
        if (pause === undefined || this.#closed.signal.aborted) throw error
        this.#log.warn({ err: error, retryInMs: pause }, 'a mail could not be sent yet')
        await wait(pause, undefined, { signal: this.#closed.signal, ref: false }).catch(() => undefined)
      }
    }
  }
}
