import { Overloaded } from '../base/errors.ts'
import type { Answer, CallOptions } from './team.ts'

/** A result with memory that is moved to the caller's thread instead of copied. */
export class Moved<T> {
  readonly value: T
  readonly memory: readonly ArrayBuffer[]

  constructor(value: T, memory: readonly ArrayBuffer[]) {
    this.value = value
    this.memory = memory
  }
}

export type Message =
  | { readonly call: number; readonly name: string; readonly argument: unknown }
  | { readonly cancel: number }
  | { readonly reply: number; readonly value: unknown }
  | { readonly reply: number; readonly overloaded: string }
  | { readonly reply: number; readonly error: unknown }
  | typeof READY

/** Sent once by a thread when it serves requests. */
export const READY = { ready: true } as const

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Calls between two threads, in both directions. Arguments and results are copied as by `structuredClone`. */
export class ThreadChannel {
  readonly #send: (message: Message, moved: readonly ArrayBuffer[]) => void
  readonly #answers: ReadonlyMap<string, Answer>
  readonly #waiting = new Map<number, Waiting>()
  /** Calls of the other thread that are not answered yet. */
  readonly #answering = new Map<number, AbortController>()
  #calls = 0

  /**
   * @param send passes a message to the other thread, which passes it to `receive` of its own channel
   * @param answers functions that the other thread may call, by name; more can be added later
   */
  constructor(send: (message: Message, moved: readonly ArrayBuffer[]) => void, answers: ReadonlyMap<string, Answer>) {
    this.#send = send
    this.#answers = answers
  }

  receive(message: Message): void {
    if ('call' in message) void this.#answer(message)
    else if ('cancel' in message) this.#answering.get(message.cancel)?.abort(new Error('The caller has cancelled.'))
    else if ('reply' in message) this.#settle(message)
  }

  /**
   * Rejects when the other thread rejects: an {@link Overloaded} keeps its class, any other error keeps only
   * its message.
   */
  async call<T>(name: string, argument?: unknown, { signal, moved = [] }: CallOptions = {}): Promise<T> {
    signal?.throwIfAborted()
    const call = ++this.#calls
    const onAbort = (): void => {
      this.#send({ cancel: call }, [])
      this.#waiting.get(call)?.reject(signal?.reason)
      this.#waiting.delete(call)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#waiting.set(call, { resolve: value => resolve(value as T), reject })
        this.#send({ call, name, argument }, moved)
      })
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  async #answer({ call, name, argument }: Extract<Message, { call: number }>): Promise<void> {
    const answer = this.#answers.get(name)
    const cancelling = new AbortController()
    this.#answering.set(call, cancelling)
    try {
      if (!answer) throw new Error(`no thread answers "${name}"`)
      const result = await answer(argument as never, cancelling.signal)
      if (result instanceof Moved) this.#send({ reply: call, value: result.value }, result.memory)
      else this.#send({ reply: call, value: result }, [])
    } catch (error) {
      this.#send(error instanceof Overloaded ? { reply: call, overloaded: error.message } : { reply: call, error }, [])
    } finally {
      this.#answering.delete(call)
    }
  }

  #settle(message: Extract<Message, { reply: number }>): void {
    // A cancelled call has been settled.
    const waiting = this.#waiting.get(message.reply)
    this.#waiting.delete(message.reply)
    if ('value' in message) waiting?.resolve(message.value)
    else waiting?.reject('overloaded' in message ? new Overloaded(message.overloaded) : message.error)
  }
}
