/** So many wait at most: the first of them waits for the work of the others. */
const MAX_WAITING = 32

/** What is left to do for a response; it gets the error if that fails. */
type Send = (error?: Error) => void

/**
 * Sends the responses that one turn of the event loop has made directly one after another. The first one wakes the client, and
 * finds it asleep: on a busy service that takes longer than making the response, and the others find it awake.
 */
export class ResponseBatch {
  #waiting: Send[] = []

  add(send: Send): void {
    if (this.#waiting.length === 0) setImmediate(() => this.sendAll())
    this.#waiting.push(send)
    if (this.#waiting.length >= MAX_WAITING) this.sendAll()
  }

  /** For what must not be sent before the responses that wait. */
  sendAll(): void {
    const all = this.#waiting
    this.#waiting = []
    for (const send of all) {
      try {
        send()
      } catch (error) {
        send(error as Error)
      }
    }
  }
}
