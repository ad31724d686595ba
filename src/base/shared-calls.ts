import { KeyedMutex } from './mutex.ts'

/**
 * A call that covers what was done before it, so that callers can share it: those who come while one for the same key is under way share
 * the next.
 */
export class SharedCalls {
  readonly #call: (key: string) => Promise<void>
  readonly #inTurn = new KeyedMutex()
  /** The calls that have not begun. */
  readonly #next = new Map<string, Promise<void>>()

  constructor(call: (key: string) => Promise<void>) {
    this.#call = call
  }

  /** Settles like a call that begins after this. */
  run(key: string): Promise<void> {
    const next = this.#next.get(key) ?? this.#inTurn.run(key, () => this.#begin(key))
    this.#next.set(key, next)
    return next
  }

  async #begin(key: string): Promise<void> {
    this.#next.delete(key)
    await this.#call(key)
  }
}
