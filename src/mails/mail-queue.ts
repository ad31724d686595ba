import { setImmediate } from 'node:timers/promises'
import { FairQueue } from '../base/semaphore.ts'
import type { Log } from '../base/log.ts'
import type { Milliseconds } from '../base/units.ts'
import { type Mail, type Mailer, MailFailure } from './smtp-mailer.ts'

const MAX_WAITING = 1000
/** What has become of a mail that could not be sent at the first attempt. */
export interface MailOutcome {
  readonly to: string
  /** Absent when it has been sent after all. */
  readonly failure?: { readonly why: string; readonly isFinal: boolean }
}

/** Pauses before the second, third and fourth attempt. */
const PAUSES: readonly Milliseconds[] = [5_000, 60_000, 600_000]

/**
 * Sends mails one after another in the background, so that no request waits for a mail server (D5.7). A mail that cannot be
 * sent is tried again later and does not delay the others.
 */
export class MailQueue {
  readonly #mailer: Mailer
  readonly #log: Log
  readonly #pauses: readonly Milliseconds[]
  readonly #report: (outcome: MailOutcome) => void
  readonly #waiting = new FairQueue<() => Promise<void>>(() => MAX_WAITING - this.#pausing.size)
  readonly #pausing = new Set<NodeJS.Timeout>()
  #isClosed = false
  /** Stops waiting for the mail that is being sent. */
  #abandon: (() => void) | undefined
  #isWorking = false
  /** The latest run. */
  #working: Promise<void> | undefined

  /** @param report called when a mail fails at first and at last, and when it has been sent after a failure */
  constructor(
    mailer: Mailer,
    log: Log,
    pauses: readonly Milliseconds[] = PAUSES,
    report: (outcome: MailOutcome) => void = () => {},
  ) {
    this.#mailer = mailer
    this.#log = log
    this.#pauses = pauses
    this.#report = report
  }

  /**
   * @param write creates the mail, or returns `undefined` when there is none to send; also runs in the background
   * @param network the network that requested the mail. Networks are served round-robin; in a full queue, a mail of a network with few
   * mails displaces a mail of the network with the most
   */
  add(write: () => Promise<Mail | undefined>, network = ''): void {
    this.#enqueue(async () => {
      const mail = await write()
      if (mail && !this.#isClosed) await this.#send(mail, network)
    }, network)
  }

  /** Discards the mails that have not been sent, including the one that is being sent: its server may not respond. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#pausing) clearTimeout(timer)
    this.#abandon?.()
    await this.#working
    await this.#mailer.close()
  }

  #enqueue(job: () => Promise<void>, network: string): void {
    if (this.#waiting.add(job, { of: network })) this.#log.warn('too many mails are waiting: one was dropped')
    if (!this.#isWorking) this.#working = this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let job = this.#waiting.next(); job && !this.#isClosed; job = this.#waiting.next()) {
      try {
        await job()
      } catch (error) {
        // The log line leaves out the mail address, because it is personal data.
        this.#log.error({ err: error }, 'a mail could not be sent')
      }
      // Jobs that name nobody only look that up: a thousand in a row would hold up all requests.
      await setImmediate()
    }
    // Set in the same step that found the queue empty: mails added later start a new run. A flag, because a run without a mail ends before
    // its promise is stored.
    this.#isWorking = false
  }

  async #send(mail: Mail, network: string, failures = 0): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#abandon = resolve
        this.#mailer.send(mail).then(resolve, reject)
      })
      if (failures > 0 && !this.#isClosed) this.#report({ to: mail.to })
    } catch (error) {
      const pause = error instanceof MailFailure && error.isFinal ? undefined : this.#pauses[failures]
      const isFinal = pause === undefined
      if (!this.#isClosed && (isFinal || failures === 0))
        this.#report({ to: mail.to, failure: { why: error instanceof Error ? error.message : String(error), isFinal } })
      if (isFinal || this.#isClosed) throw error
      this.#log.warn({ err: error, retryInMs: pause }, 'a mail could not be sent yet')
      this.#sendLater(() => this.#send(mail, network, failures + 1), network, pause)
    }
  }

  #sendLater(job: () => Promise<void>, network: string, pause: Milliseconds): void {
    const timer = setTimeout(() => {
      this.#pausing.delete(timer)
      this.#enqueue(job, network)
    }, pause).unref()
    this.#pausing.add(timer)
  }
}
