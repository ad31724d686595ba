import { type PlainRefusal, plainRefusal, refusalFrom } from '../base/refusals.ts'
import type { CallHandler, CallOptions } from './team.ts'

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
  | { readonly reply: number; readonly refused: PlainRefusal }
  | { readonly reply: number; readonly failed: PlainError }
  | typeof READY

/** What is passed of an error: what else it has, or its cause, may be something that cannot be copied. */
interface PlainError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}

/** Sent once by a thread when it serves requests. */
export const READY = { ready: true } as const

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Calls between two threads, in both directions. Arguments and results are copied as by `structuredClone`. */
export class ThreadChannel {
  readonly #send: (message: Message, moved: readonly ArrayBuffer[]) => void
  readonly #handlers: ReadonlyMap<string, CallHandler>
  readonly #waiting = new Map<number, Waiting>()
  /** Calls of the other thread that are not answered yet. */
  readonly #answering = new Map<number, AbortController>()
  #calls = 0

  /**
   * @param send passes a message to the other thread, which passes it to `receive` of its own channel
   * @param handlers functions that the other thread may call, by name; more can be added later
   */
  constructor(
    send: (message: Message, moved: readonly ArrayBuffer[]) => void,
    handlers: ReadonlyMap<string, CallHandler>,
  ) {
    this.#send = send
    this.#handlers = handlers
  }

  receive(message: Message): void {
    if ('call' in message) void this.#answer(message)
    else if ('cancel' in message) this.#answering.get(message.cancel)?.abort(new Error('The caller has cancelled.'))
    else if ('reply' in message) this.#settle(message)
  }

  /**
   * Rejects when the other thread rejects: a refusal arrives as one (`base/refusals.ts`), any other error with its message and stack.
   */
  async call<T>(
    name: string,
    argument?: unknown,
    { signal, keepsAnswer = false, moved = [] }: CallOptions = {},
  ): Promise<T> {
    signal?.throwIfAborted()
    const call = ++this.#calls
    const onAbort = (): void => {
      this.#send({ cancel: call }, [])
      if (keepsAnswer) return
      this.#waiting.get(call)?.reject(signal?.reason)
      this.#waiting.delete(call)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#send({ call, name, argument }, moved)
        this.#waiting.set(call, { resolve: value => resolve(value as T), reject })
      })
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  async #answer({ call, name, argument }: Extract<Message, { call: number }>): Promise<void> {
    const handler = this.#handlers.get(name)
    const cancelling = new AbortController()
    this.#answering.set(call, cancelling)
    try {
      if (!handler) throw new Error(`no thread answers "${name}"`)
      const result = await handler(argument as never, cancelling.signal)
      if (result instanceof Moved) this.#send({ reply: call, value: result.value }, result.memory)
      else this.#send({ reply: call, value: result }, [])
    } catch (error) {
      this.#fail(call, error)
    } finally {
      this.#answering.delete(call)
    }
  }

  #fail(call: number, error: unknown): void {
    const refused = plainRefusal(error)
    if (refused) return this.#send({ reply: call, refused }, [])
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
    this.#send({ reply: call, failed: { name, message, stack } }, [])
  }

  #settle(message: Extract<Message, { reply: number }>): void {
    // A cancelled call has been settled.
    const waiting = this.#waiting.get(message.reply)
    this.#waiting.delete(message.reply)
    if ('value' in message) waiting?.resolve(message.value)
    else if ('refused' in message) waiting?.reject(refusalFrom(message.refused))
    else waiting?.reject(Object.assign(new Error(message.failed.message), message.failed))
  }
}
