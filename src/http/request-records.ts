import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PhaseObserver, RequestTimings, PhaseTimes } from '../base/request-timings.ts'
import type { Milliseconds } from '../base/units.ts'
import { parseTraceContext, type TraceContext } from '../base/trace-context.ts'

/** Records requests. A feature fills it when it is opened. */
export interface RequestRecords {
  /** Absent when no traces are sent. */
  tracing?: Tracing | undefined
  answered?: (request: AnsweredRequest) => void
}

interface AnsweredRequest {
  /** The id of the request in the log. */
  readonly id: string
  readonly method: string
  /** The pattern of the route; `undefined` for an unknown address. */
  readonly route: string | undefined
  readonly status: number
  /** From its head to the end of its response. */
  readonly ms: Milliseconds
  readonly spent: PhaseTimes
}

/** Records each request as a span. */
export interface Tracing {
  begin(beginning: {
    readonly method: string
    readonly scheme: string
    /** The trace context of the caller, if the request has one. */
    readonly parent: TraceContext | undefined
  }): RequestSpan
}

export interface RequestSpan {
  /** The place of this request, from which others descend. */
  readonly trace: TraceContext
  /** Records the phases of the request; `undefined` if the trace is not sampled. */
  readonly observer: PhaseObserver | undefined
  end(outcome: RequestOutcome): void
}

export interface RequestOutcome {
  /** Without the query, and without secrets. */
  readonly path: string
  /** The pattern of the route; `undefined` for an unknown address. */
  readonly route: string | undefined
  /** `undefined` if the client left before the response began. */
  readonly status: number | undefined
  /** The code of the refusal, if it is one. */
  readonly code: string | undefined
  /** Includes the time of other threads and of steps that are not recorded. */
  readonly spent: PhaseTimes | undefined
}

interface Deps {
  readonly records: RequestRecords
  readonly base: { readonly isHttps: boolean }
}

/** Continues the trace of the caller. Where traces are recorded, a request without one begins a new trace. */
export function beginTrace({ records, base }: Deps, request: FastifyRequest): void {
  const { method, headers } = request
  const parent = parseTraceContext(String(headers['traceparent'] ?? ''), String(headers['tracestate'] ?? ''))
  request.span = records.tracing?.begin({ method, scheme: base.isHttps ? 'https' : 'http', parent })
  request.trace = request.span?.trace ?? parent
}

/** @param path as it is in the log */
export function endTrace(
  { span, route, refusal }: FastifyRequest,
  { raw, statusCode }: FastifyReply,
  { path, timings }: { readonly path: string; readonly timings: RequestTimings | undefined },
): void {
  const status = raw.headersSent ? statusCode : undefined
  span?.end({ path, route: route.url, status, code: refusal, spent: timings?.spent })
}
