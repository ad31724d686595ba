import type { Server } from 'node:net'
import { Worker } from 'node:worker_threads'
import { SharedCounters } from '../base/shared-counters.ts'
import { realSystem } from '../base/system.ts'
import { WriteTurn } from '../stores/shared/write-turn.ts'
import { LoadBoard } from './load-board.ts'
import { descriptorOf, type HttpServer, keepOpen, sharePort } from './shared-port.ts'
import type { CallHandler, CallOptions, FirstThread, ThreadData } from './team.ts'
import { type Message, Moved, ThreadChannel } from './thread-channel.ts'
import type { WorkerStart } from './worker-thread.ts'

/** For short-lived objects. By default a busy thread takes 48 MB for them and is hardly faster. */
const YOUNG_MEGABYTES = 12

/** The signal of a call that is not cancelled. */
const NEVER = new AbortController().signal

/** The team in the main thread, which starts the others and notices when one ends. */
export class MainThread implements FirstThread {
  readonly count: number
  readonly isFirst = true
  readonly turn = new WriteTurn()
  readonly counters = new SharedCounters()
  readonly key: Uint8Array = realSystem.randomBytes(32)
  readonly failure: Promise<Error>
  facts: SharedArrayBuffer | undefined
  readonly #workers: readonly Worker[]
  readonly #board: LoadBoard
  readonly #handlers = new Map<string, CallHandler>()
  #listeners: readonly Server[] = []
  #channels: readonly ThreadChannel[] = []
  #fail: (error: Error) => void = () => {}

  /**
   * The threads load their code from here on, while this one opens the store.
   * @param entry the module of each other thread: it waits for its start (`WorkerThread.of`), and sends `READY` when it serves requests
   * @param extra further data for that module; it is copied
   */
  constructor(count: number, entry: URL, extra: unknown) {
    this.count = count
    this.#board = new LoadBoard(0, count)
    this.failure = new Promise(resolve => (this.#fail = resolve))
    this.answer('collect', (name: string) => this.collect(name))
    this.#workers = Array.from({ length: count - 1 }, () => this.#load(entry, extra))
  }

  answer(name: string, handler: CallHandler): void {
    this.#handlers.set(name, handler)
  }

  async callFirst<T>(name: string, argument?: unknown, { signal = NEVER }: CallOptions = {}): Promise<T> {
    const result = await this.#handlers.get(name)?.(argument as never, signal)
    return (result instanceof Moved ? result.value : result) as T
  }

  async collect<T>(name: string): Promise<T[]> {
    return await Promise.all([this.callFirst<T>(name), ...this.#channels.map(channel => channel.call<T>(name))])
  }

  share(server: HttpServer, second?: Server): void {
    this.#listeners = second ? [server, second] : [server]
    sharePort(server, this.#board)
    if (second) keepOpen(second)
  }

  async start(data: ThreadData): Promise<void> {
    const { count, turn, counters, key, facts } = this
    const listening = this.#listeners.filter(each => each.listening)
    const common = { count, key, data, fds: listening.map(descriptorOf) }
    const shared = { turn: turn.shared, counters: counters.shared, board: this.#board.shared, facts }
    this.#channels = await Promise.all(
      this.#workers.map((worker, index) => this.#startOne(worker, { ...common, shared, index: index + 1 })),
    )
  }

  async end(): Promise<void> {
    await Promise.all(this.#workers.map(worker => worker.terminate()))
  }

  async tell(name: string): Promise<void> {
    await Promise.all(this.#channels.map(channel => channel.call(name)))
  }

  #load(entry: URL, extra: unknown): Worker {
    const worker = new Worker(entry, {
      workerData: extra,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    })
    worker.once('error', error => this.#fail(error))
    worker.once('exit', code => this.#fail(new Error(`a serving thread has ended with status ${code}`)))
    return worker
  }

  async #startOne(worker: Worker, start: WorkerStart): Promise<ThreadChannel> {
    const channel = new ThreadChannel((message, moved) => worker.postMessage(message, [...moved]), this.#handlers)
    worker.on('message', (message: Message) => channel.receive(message))
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: Message) => void ('ready' in message && resolve()))
      void this.failure.then(reject)
      worker.postMessage(start)
    })
    return channel
  }
}
