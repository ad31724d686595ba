import type { Log } from '../base/log.ts'
import type { Milliseconds } from '../base/units.ts'

const INTERVAL: Milliseconds = 5000

/** While a store is away, most requests fail for the same reason: the first of them is logged, the others are counted. */
export class Outages {
  readonly #log: Log
  readonly #further = new Map<string, number>()

  constructor(log: Log) {
    this.#log = log
  }

  note(error: Error, requestId: string): void {
    const further = this.#further.get(error.message)
    if (further !== undefined) return void this.#further.set(error.message, further + 1)
    this.#further.set(error.message, 0)
    this.#log.warn({ err: error, requestId }, 'a store is unavailable')
    setTimeout(() => this.#report(error.message), INTERVAL).unref()
  }

  #report(reason: string): void {
    const requests = this.#further.get(reason) ?? 0
    this.#further.delete(reason)
    if (requests > 0) this.#log.warn({ reason, requests }, 'further requests failed because a store is unavailable')
  }
}
