import { Worker } from 'node:worker_threads'
import { Counters } from '../base/concurrency.ts'
import { realSystem } from '../base/system.ts'
import { WriteTurn } from '../stores/shared/write-turn.ts'
import { LoadBoard } from './load-board.ts'
import { descriptorOf, type HttpServer, sharePort } from './shared-port.ts'
import type { Answer, CallOptions, FirstThread, ThreadData } from './team.ts'
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
  readonly counters = new Counters()
  readonly key: Uint8Array = realSystem.randomBytes(32)
  readonly failure: Promise<Error>
  facts: SharedArrayBuffer | undefined
  readonly #entry: URL
  readonly #extra: unknown
  readonly #board: LoadBoard
  readonly #answers = new Map<string, Answer>()
  #server: HttpServer | undefined
  #channels: readonly ThreadChannel[] = []
  #fail: (error: Error) => void = () => {}

  /**
   * @param entry the module of each other thread; it sends `READY` when it is ready
   * @param extra further data for that module; it is copied
   */
  constructor(count: number, entry: URL, extra: unknown) {
    this.count = count
    this.#entry = entry
    this.#extra = extra
    this.#board = new LoadBoard(0, count)
    this.failure = new Promise(resolve => (this.#fail = resolve))
    this.answer('collect', (name: string) => this.collect(name))
  }

  answer(name: string, answer: Answer): void {
    this.#answers.set(name, answer)
  }

  async callFirst<T>(name: string, argument?: unknown, { signal = NEVER }: CallOptions = {}): Promise<T> {
    const result = await this.#answers.get(name)?.(argument as never, signal)
    return (result instanceof Moved ? result.value : result) as T
  }

  async collect<T>(name: string): Promise<T[]> {
    return await Promise.all([this.callFirst<T>(name), ...this.#channels.map(channel => channel.call<T>(name))])
  }

  share(server: HttpServer): void {
    this.#server = server
    sharePort(server, this.#board)
  }

  async start(data: ThreadData): Promise<void> {
    const { count, turn, counters, key, facts } = this
    if (!this.#server) throw new Error('there is no server to share')
    const common = { count, key, data, extra: this.#extra, fd: descriptorOf(this.#server) }
    const shared = { turn: turn.shared, counters: counters.shared, board: this.#board.shared, facts }
    const starts = Array.from(
      { length: count - 1 },
      (_, index): WorkerStart => ({ ...common, shared, index: index + 1 }),
    )
    this.#channels = await Promise.all(starts.map(start => this.#startOne(start)))
  }

  async tell(name: string): Promise<void> {
    await Promise.all(this.#channels.map(channel => channel.call(name)))
  }

  async #startOne(workerData: WorkerStart): Promise<ThreadChannel> {
    const worker = new Worker(this.#entry, {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    })
    worker.once('error', error => this.#fail(error))
    worker.once('exit', code => this.#fail(new Error(`a serving thread has ended with status ${code}`)))
    const channel = new ThreadChannel((message, moved) => worker.postMessage(message, [...moved]), this.#answers)
    worker.on('message', (message: Message) => channel.receive(message))
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: Message) => void ('ready' in message && resolve()))
      void this.failure.then(reject)
    })
    return channel
  }
}
