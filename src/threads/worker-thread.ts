import type { MessagePort } from 'node:worker_threads'
import { SharedCounters } from '../base/shared-counters.ts'
import { WriteTurn } from '../stores/shared/write-turn.ts'
import { LoadBoard } from './load-board.ts'
import { listenerFor } from './listening.ts'
import { type HttpServer, listenAt, sharePort } from './shared-port.ts'
import type { CallHandler, CallOptions, OtherThread, ThreadData } from './team.ts'
import { type Message, ThreadChannel } from './thread-channel.ts'

/** The data that the main thread passes to each of the others. */
export interface WorkerStart {
  readonly index: number
  readonly count: number
  readonly key: Uint8Array
  /** The descriptors of the listening sockets, one for each address. */
  readonly fds: readonly number[]
  readonly shared: {
    readonly turn: SharedArrayBuffer
    readonly counters: SharedArrayBuffer
    readonly board: SharedArrayBuffer
    readonly facts: SharedArrayBuffer | undefined
  }
  readonly data: ThreadData
}

/** The team in any thread except the first. */
export class WorkerThread implements OtherThread {
  readonly count: number
  readonly isFirst = false
  readonly base: string
  readonly data: ThreadData
  readonly turn: WriteTurn
  readonly counters: SharedCounters
  readonly key: Uint8Array
  facts: SharedArrayBuffer | undefined
  readonly #fds: readonly number[]
  readonly #board: LoadBoard
  readonly #handlers = new Map<string, CallHandler>()
  readonly #channel: ThreadChannel

  /** Resolves when the main thread starts this one. @param port to the main thread */
  static async of(port: MessagePort): Promise<WorkerThread> {
    return await new Promise(resolve => {
      port.once('message', (start: WorkerStart) => resolve(new WorkerThread(port, start)))
    })
  }

  private constructor(port: MessagePort, { index, count, key, fds, shared, data }: WorkerStart) {
    this.count = count
    this.base = data.base
    this.data = data
    this.key = key
    this.turn = new WriteTurn(shared.turn)
    this.counters = new SharedCounters(shared.counters)
    this.facts = shared.facts
    this.#fds = fds
    this.#board = new LoadBoard(index, count, shared.board)
    this.#channel = new ThreadChannel((message, moved) => port.postMessage(message, [...moved]), this.#handlers)
    port.on('message', (message: Message) => this.#channel.receive(message))
  }

  answer(name: string, handler: CallHandler): void {
    this.#handlers.set(name, handler)
  }

  callFirst<T>(name: string, argument?: unknown, options?: CallOptions): Promise<T> {
    return this.#channel.call<T>(name, argument, options)
  }

  collect<T>(name: string): Promise<T[]> {
    return this.#channel.call<T[]>('collect', name)
  }

  async listen(server: HttpServer): Promise<void> {
    sharePort(server, this.#board)
    for (const [index, fd] of this.#fds.entries()) await listenAt(index === 0 ? server : listenerFor(server), fd)
  }
}
