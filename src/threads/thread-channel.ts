import { Overloaded } from '../base/errors.ts'
import type { Answer } from './team.ts'

export type Message =
  | { readonly call: number; readonly name: string; readonly argument: unknown }
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
  readonly #send: (message: Message) => void
  readonly #answers: ReadonlyMap<string, Answer>
  readonly #waiting = new Map<number, Waiting>()
  #calls = 0

  /**
   * @param send passes a message to the other thread, which passes it to `receive` of its own channel
   * @param answers functions that the other thread may call, by name; more can be added later
   */
  constructor(send: (message: Message) => void, answers: ReadonlyMap<string, Answer>) {
    this.#send = send
    this.#answers = answers
  }

  receive(message: Message): void {
    if ('call' in message) void this.#answer(message)
    else if ('reply' in message) this.#settle(message)
  }

  /**
   * Rejects when the other thread rejects: an {@link Overloaded} keeps its class, any other error keeps only
   * its message.
   */
  call<T>(name: string, argument?: unknown): Promise<T> {
    const call = ++this.#calls
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(call, { resolve: value => resolve(value as T), reject })
      this.#send({ call, name, argument })
    })
  }

  async #answer({ call, name, argument }: Extract<Message, { call: number }>): Promise<void> {
    const answer = this.#answers.get(name)
    try {
      if (!answer) throw new Error(`no thread answers "${name}"`)
      this.#send({ reply: call, value: await answer(argument as never) })
    } catch (error) {
      this.#send(error instanceof Overloaded ? { reply: call, overloaded: error.message } : { reply: call, error })
    }
  }

  #settle(message: Extract<Message, { reply: number }>): void {
    const waiting = this.#waiting.get(message.reply)
    this.#waiting.delete(message.reply)
    if ('value' in message) waiting?.resolve(message.value)
    else waiting?.reject('overloaded' in message ? new Overloaded(message.overloaded) : message.error)
  }
}
