import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { errorCodes } from '../base/error-codes.ts'
import { ServiceError } from '../base/errors.ts'
import type { EndPart, Part, PartObserver, SpentTime } from '../base/request-parts.ts'
import type { TraceContext } from '../base/trace-context.ts'

interface Beginning {
  readonly method: string
  readonly scheme: string
  /** The place of the caller in its trace, if the request has one. */
  readonly parent: TraceContext | undefined
}

interface Outcome {
  /** Without the query, and without secrets. */
  readonly path: string
  /** The pattern of the route; `undefined` for an unknown address. */
  readonly route: string | undefined
  /** `undefined` if the client left before the response began. */
  readonly status: number | undefined
  /** The code of the refusal, if it is one. */
  readonly code: string | undefined
  /** Also what other threads and steps that are not recorded took. */
  readonly spent: SpentTime | undefined
}

/** A request may read many rows. Of steps beyond these only the time is recorded. */
const MAX_STEPS = 100

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Records each request as a span, with the parts of the request as spans below it. The attributes are those of OpenTelemetry's conventions
 * for HTTP servers, without those that describe the caller: address, user agent, query.
 */
export class RequestSpans {
  readonly #tracer: Tracer

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  begin({ method, scheme, parent }: Beginning): RequestSpan {
    const isKnown = METHODS.has(method)
    const name = isKnown ? method : 'HTTP'
    const attributes = { 'http.request.method': isKnown ? method : '_OTHER', 'url.scheme': scheme }
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent)) : ROOT_CONTEXT
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, context)
    return new RequestSpan(this.#tracer, span, name)
  }
}

class RequestSpan {
  /** The place of this request, from which others descend. */
  readonly trace: TraceContext
  /** Records the parts of the request; `undefined` if the trace is not sampled. */
  readonly observer: PartObserver | undefined
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #name: string
  readonly #context: Context
  #steps = 0

  constructor(tracer: Tracer, span: Span, name: string) {
    this.#tracer = tracer
    this.#span = span
    this.#name = name
    this.#context = trace.setSpan(ROOT_CONTEXT, span)
    this.trace = traceContextOf(span)
    this.observer = span.isRecording() ? (part, what) => this.#beginStep(part, what) : undefined
  }

  end({ path, route, status, code, spent }: Outcome): void {
    const span = this.#span
    span.setAttribute('url.path', path)
    if (route !== undefined) span.updateName(`${this.#name} ${route}`).setAttribute('http.route', route)
    if (status === undefined) span.setAttribute('error.type', 'client-left')
    else {
      span.setAttribute('http.response.status_code', status)
      // What the client did wrong is no failure of this service.
      if (status >= 500) fail(span, code ?? String(status))
    }
    for (const [part, ms] of Object.entries(spent ?? {})) {
      if (ms > 0) span.setAttribute(`stowage.${part}_ms`, Math.round(ms * 1000) / 1000)
    }
    span.end()
  }

  #beginStep(part: Part, what: string): EndPart {
    if (++this.#steps > MAX_STEPS) return nothing
    const span = this.#tracer.startSpan(`${part}: ${what}`, { attributes: { 'stowage.part': part } }, this.#context)
    return error => {
      if (error !== undefined) failStep(span, error)
      span.end()
    }
  }
}

const nothing = (): void => {}

/** Texts of errors may contain names and addresses, so only the type is sent. */
function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
}

function failStep(span: Span, error: unknown): void {
  if (!(error instanceof ServiceError)) fail(span, error instanceof Error ? error.name : 'unknown')
  else if (errorCodes[error.code].status >= 500) fail(span, error.code)
  else span.setAttribute('error.type', error.code)
}

const spanContextOf = ({ traceId, spanId, isSampled, state }: TraceContext) => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
  ...(state === undefined ? {} : { traceState: createTraceState(state) }),
})

function traceContextOf(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  return {
    traceId,
    spanId,
    isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
    state: traceState?.serialize() || undefined,
  }
}
