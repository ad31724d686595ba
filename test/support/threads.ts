import { randomBytes } from 'node:crypto'
import { SharedCounters } from '../../src/base/shared-counters.ts'
import { createServer, type Server } from '../../src/assembly/server.ts'
import type { Machine } from '../../src/assembly/machine.ts'
import type { Settings } from '../../src/config/settings.ts'
import { WriteTurn } from '../../src/stores/shared/write-turn.ts'
import type { HttpServer } from '../../src/threads/shared-port.ts'
import type { CallHandler, CallOptions, FirstThread, OtherThread, ThreadData } from '../../src/threads/team.ts'
import { Moved } from '../../src/threads/thread-channel.ts'

/** `THREADS=4`: every service that a test starts answers with so many threads. A test that says itself how many is left alone. */
export const threads = Number(process.env['THREADS'] ?? 1)

/** For a service in a process of its own, whatever the number of cores. A second thread loads the whole program once more. */
export const threadSettings = (): Readonly<Record<string, string>> => ({ 'service.http.threads': String(threads) })

/**
 * For a service in the test's own process: as many services as there would be threads, on the same files and the same shared memory. Each
 * request goes to the next of them, whichever connection it came by, so that no two in a row meet the same caches.
 */
export function createTeamServer(settings: Settings, machine: Machine): Promise<Server> {
  const isPossible = threads > 1 && !settings['service.repository.store.url']
  return createServer(settings, machine, isPossible ? new TestTeam(settings, machine) : undefined)
}

/** Events by which an HTTP server hands on a request. */
const REQUESTS = new Set<string | symbol>(['request', 'checkContinue', 'checkExpectation'])

class TestTeam implements FirstThread {
  readonly isFirst = true
  readonly count = threads
  readonly turn = new WriteTurn()
  readonly counters = new SharedCounters()
  readonly key = randomBytes(32)
  readonly failure = new Promise<Error>(() => {})
  facts: SharedArrayBuffer | undefined
  readonly servers: HttpServer[] = []
  readonly #settings: Settings
  readonly #machine: Machine
  readonly #handlers = new Map<string, CallHandler>()
  #others: TestThread[] = []
  #requests = 0

  constructor(settings: Settings, machine: Machine) {
    this.#settings = settings
    this.#machine = machine
  }

  answer(name: string, handler: CallHandler): void {
    this.#handlers.set(name, handler)
  }

  async callFirst<T>(name: string, argument?: unknown, { signal, moved = [] }: CallOptions = {}): Promise<T> {
    const passed = structuredClone(argument, { transfer: [...moved] })
    const result = await this.#handlers.get(name)?.(passed as never, signal ?? new AbortController().signal)
    if (!(result instanceof Moved)) return result as T
    return structuredClone(result.value, { transfer: [...result.memory] }) as T
  }

  async collect<T>(name: string): Promise<T[]> {
    return await Promise.all([this.callFirst<T>(name), ...this.#others.map(other => other.call<T>(name))])
  }

  share(server: HttpServer): void {
    this.servers.push(server)
    const emit = server.emit.bind(server) as (event: string | symbol, ...values: unknown[]) => boolean
    server.emit = (event: string | symbol, ...values: unknown[]) => {
      const next = REQUESTS.has(event) ? this.servers[this.#requests++ % this.servers.length] : server
      if (!next || next === server) return emit(event, ...values)
      return (next.emit as typeof emit).call(next, event, ...values)
    }
  }

  async start(data: ThreadData): Promise<void> {
    this.#others = Array.from({ length: threads - 1 }, () => new TestThread(this, data.base))
    for (const other of this.#others) {
      other.server = await createServer(this.#settings, { ...this.#machine, adminPassword: undefined }, other)
      await other.server.listen()
    }
  }

  async tell(name: string): Promise<void> {
    for (const { server } of this.#others) await (name === 'drain' ? server?.drain() : server?.close())
  }

  async end(): Promise<void> {}
}

class TestThread implements OtherThread {
  readonly isFirst = false
  readonly count = threads
  readonly base: string
  readonly turn: WriteTurn
  readonly counters: SharedCounters
  readonly key: Uint8Array
  server: Server | undefined
  facts: SharedArrayBuffer | undefined
  readonly #first: TestTeam
  readonly #handlers = new Map<string, CallHandler>()

  constructor(first: TestTeam, base: string) {
    this.#first = first
    this.base = base
    this.turn = new WriteTurn(first.turn.shared)
    this.facts = first.facts
    this.counters = new SharedCounters(first.counters.shared)
    this.key = first.key
  }

  answer(name: string, handler: CallHandler): void {
    this.#handlers.set(name, handler)
  }

  async call<T>(name: string): Promise<T> {
    return (await this.#handlers.get(name)?.(undefined as never, new AbortController().signal)) as T
  }

  callFirst<T>(name: string, argument?: unknown, options?: CallOptions): Promise<T> {
    return this.#first.callFirst<T>(name, argument, options)
  }

  collect<T>(name: string): Promise<T[]> {
    return this.#first.collect<T>(name)
  }

  /** Requests come from the first one's server. */
  async listen(server: HttpServer): Promise<void> {
    this.#first.servers.push(server)
  }
}
