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
import { errorCodes } from '../../base/error-codes.ts'
import { ServiceError } from '../../base/errors.ts'
import type { EndPhase, Phase, PhaseObserver } from '../../base/request-timings.ts'
import type { TraceContext } from '../../base/trace-context.ts'
import type { RequestOutcome, RequestSpan as Recorded, Tracing } from '../../http/request-records.ts'

/** A request may read many rows. Of steps beyond these only the time is recorded. */
const MAX_STEPS = 100

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Records each request as a span, with the phases of the request as spans below it. The attributes are those of OpenTelemetry's conventions
 * for HTTP servers, without those that describe the caller: address, user agent, query.
 */
export class RequestSpans implements Tracing {
  readonly #tracer: Tracer

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  begin({ method, scheme, parent }: Parameters<Tracing['begin']>[0]): RequestSpan {
    const isKnown = METHODS.has(method)
    const name = isKnown ? method : 'HTTP'
    const attributes = { 'http.request.method': isKnown ? method : '_OTHER', 'url.scheme': scheme }
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent)) : ROOT_CONTEXT
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, context)
    return new RequestSpan(this.#tracer, span, name)
  }
}

class RequestSpan implements Recorded {
  readonly trace: TraceContext
  readonly observer: PhaseObserver | undefined
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
    this.observer = span.isRecording() ? (phase, what) => this.#beginStep(phase, what) : undefined
  }

  end({ path, route, status, code, spent }: RequestOutcome): void {
    const span = this.#span
    span.setAttribute('url.path', path)
    if (route !== undefined) span.updateName(`${this.#name} ${route}`).setAttribute('http.route', route)
    if (status === undefined) span.setAttribute('error.type', 'client-left')
    else {
      span.setAttribute('http.response.status_code', status)
      // What the client did wrong is no failure of this service.
      if (status >= 500) fail(span, code ?? String(status))
    }
    for (const [phase, ms] of Object.entries(spent ?? {})) {
      if (ms > 0) span.setAttribute(`stowage.${phase}_ms`, Math.round(ms * 1000) / 1000)
    }
    span.end()
  }

  #beginStep(phase: Phase, what: string): EndPhase {
    if (++this.#steps > MAX_STEPS) return nothing
    const span = this.#tracer.startSpan(`${phase}: ${what}`, { attributes: { 'stowage.phase': phase } }, this.#context)
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
