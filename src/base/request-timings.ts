import { AsyncLocalStorage } from 'node:async_hooks'
import { realSystem } from './system.ts'
import { type TraceContext, traceHeaders } from './trace-context.ts'
import type { Milliseconds } from './units.ts'

/**
 * The phases on which a request spends time besides computing. `waiting`: in a queue or for a connection. `client`: until the client has
 * sent the body or taken the response.
 */
export type Phase = 'waiting' | 'database' | 'files' | 'serialising' | 'client'

/** Ends a phase that was begun. Calling it again has no effect. */
export type EndPhase = (error?: unknown) => void

/** Told when a phase begins: where tracing adds spans. @param what names the step within its phase, such as `transaction` */
export type PhaseObserver = (phase: Phase, what: string) => EndPhase

/**
 * The time of each phase in milliseconds. The sum is at most the time of the request: time in a nested phase counts for the inner phase
 * only.
 */
export type PhaseTimes = Readonly<Record<Phase, Milliseconds>>

interface Running {
  readonly phase: Phase
  readonly observed: EndPhase | undefined
}

/** Where the time of one request goes. */
export class RequestTimings {
  readonly #spent: Record<Phase, Milliseconds> = { waiting: 0, database: 0, files: 0, serialising: 0, client: 0 }
  readonly #running: Running[] = []
  readonly #observer: PhaseObserver | undefined
  /** The trace that requests to other services continue. */
  readonly trace: TraceContext | undefined
  #since: Milliseconds = 0

  constructor(observer?: PhaseObserver, trace?: TraceContext) {
    this.#observer = observer
    this.trace = trace
  }

  get spent(): PhaseTimes {
    this.#settle()
    return this.#spent
  }

  begin(phase: Phase, what: string): EndPhase {
    this.#settle()
    const running = { phase, observed: this.#observer?.(phase, what) }
    this.#running.push(running)
    return error => {
      const place = this.#running.lastIndexOf(running)
      if (place < 0) return
      this.#settle()
      this.#running.splice(place, 1)
      running.observed?.(error)
    }
  }

  /** Ends what still runs, at the end of the request. */
  end(): void {
    this.#settle()
    for (const { observed } of this.#running.splice(0)) observed?.()
  }

  /** Adds what another thread has spent on this request. */
  add(spent: PhaseTimes): void {
    for (const phase of Object.keys(spent) as Phase[]) this.#spent[phase] += spent[phase]
  }

  /** The time since the last change goes to the phase that began last. */
  #settle(): void {
    const now = realSystem.monotonic()
    const running = this.#running.at(-1)
    if (running) this.#spent[running.phase] += now - this.#since
    this.#since = now
  }
}

const requests = new AsyncLocalStorage<RequestTimings>()

/** Runs a request: everything that it calls finds these timings. */
export const inRequest = <T>(timings: RequestTimings, request: () => T): T => requests.run(timings, request)

/** The timings of the request for which this code runs; `undefined` outside a request, or where nothing is measured. */
export const currentRequest = (): RequestTimings | undefined => requests.getStore()

/** Begins a phase of the current request that ends in a callback. Code that runs for several requests at once keeps the function. */
export const beginPhase = (phase: Phase, what: string): EndPhase => currentRequest()?.begin(phase, what) ?? nothing

const nothing = (): void => {}

/** Runs one phase of the current request, until what `work` returns has settled. */
export function timed<T>(phase: Phase, what: string, work: () => T): T {
  const request = currentRequest()
  if (!request) return work()
  const end = request.begin(phase, what)
  try {
    const result = work()
    if (result instanceof Promise) result.then(() => end(), end)
    else end()
    return result
  } catch (error) {
    end(error)
    throw error
  }
}

/** The headers by which a request to another service joins the trace of the current request; none where there is no trace. */
export function outgoingTraceHeaders(): Readonly<Record<string, string>> {
  const trace = currentRequest()?.trace
  return trace ? traceHeaders(trace) : {}
}
