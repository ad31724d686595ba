import { AsyncLocalStorage } from 'node:async_hooks'
import { realSystem } from './system.ts'
import { type TraceContext, traceHeaders } from './trace-context.ts'
import type { Milliseconds } from './units.ts'

/**
 * What a request spends time on besides computing. `waiting`: for its turn, in a queue or for a connection. `client`: for the client to
 * send the body or to take the response.
 */
export type Part = 'waiting' | 'database' | 'files' | 'serialising' | 'client'

/** Ends a part that was begun. Calling it again has no effect. */
export type EndPart = (error?: unknown) => void

/** Told when a part begins: where tracing adds spans. @param what names the step within its part, such as `transaction` */
export type PartObserver = (part: Part, what: string) => EndPart

/** The time of each part in milliseconds. Their sum is at most the time of the request: of parts within parts, the inner one counts. */
export type SpentTime = Readonly<Record<Part, Milliseconds>>

interface Running {
  readonly part: Part
  readonly observed: EndPart | undefined
}

/** Where the time of one request goes. */
export class RequestParts {
  readonly #spent: Record<Part, Milliseconds> = { waiting: 0, database: 0, files: 0, serialising: 0, client: 0 }
  readonly #running: Running[] = []
  readonly #observer: PartObserver | undefined
  /** The trace that requests to other services continue. */
  readonly trace: TraceContext | undefined
  #since: Milliseconds = 0

  constructor(observer?: PartObserver, trace?: TraceContext) {
    this.#observer = observer
    this.trace = trace
  }

  get spent(): SpentTime {
    this.#settle()
    return this.#spent
  }

  begin(part: Part, what: string): EndPart {
    this.#settle()
    const running = { part, observed: this.#observer?.(part, what) }
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
  add(spent: SpentTime): void {
    for (const part of Object.keys(spent) as Part[]) this.#spent[part] += spent[part]
  }

  /** The time since the last change goes to the part that began last. */
  #settle(): void {
    const now = realSystem.monotonic()
    const running = this.#running.at(-1)
    if (running) this.#spent[running.part] += now - this.#since
    this.#since = now
  }
}

const requests = new AsyncLocalStorage<RequestParts>()

/** Runs a request: everything that it calls finds its parts. */
export const inRequest = <T>(parts: RequestParts, request: () => T): T => requests.run(parts, request)

/** The parts of the request for which this code runs; `undefined` outside a request, or where nothing is measured. */
export const currentRequest = (): RequestParts | undefined => requests.getStore()

/** Begins a part of the current request that ends in a callback. Code that runs for several requests at once keeps the function. */
export const beginPart = (part: Part, what: string): EndPart => currentRequest()?.begin(part, what) ?? nothing

const nothing = (): void => {}

/** Runs one part of the current request, until what `work` returns has settled. */
export function timed<T>(part: Part, what: string, work: () => T): T {
  const request = currentRequest()
  if (!request) return work()
  const end = request.begin(part, what)
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
