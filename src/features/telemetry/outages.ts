import type { Log } from '../../base/log.ts'

/** The result of an attempt to send something. */
interface Result {
  readonly error?: Error | undefined
  /** 0 is success. */
  readonly code: number
}

/** Logs when telemetry no longer arrives at the collector and when it does again, not each attempt. */
export class CollectorOutages {
  readonly #log: Log
  readonly #signal: 'traces' | 'metrics'
  #isDown = false

  constructor(log: Log, signal: 'traces' | 'metrics') {
    this.#log = log
    this.#signal = signal
  }

  /** Returns `done`, which also notes the result. */
  noting<R extends Result>(done: (result: R) => void): (result: R) => void {
    return result => {
      this.note(result.code === 0 ? undefined : (result.error ?? new Error('the export failed')))
      done(result)
    }
  }

  /** @param error `undefined` after a success */
  note(error: Error | undefined): void {
    if (this.#isDown === (error !== undefined)) return
    this.#isDown = error !== undefined
    if (error) {
      // The answer of the collector may be long, and is not ours to judge.
      const reason = error.message.slice(0, MAX_REASON)
      this.#log.warn({ signal: this.#signal, reason }, 'telemetry cannot be sent; each batch tries again')
    } else this.#log.info({ signal: this.#signal }, 'telemetry is sent again')
  }
}

const MAX_REASON = 300
