import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PartObserver, RequestParts, SpentTime } from '../base/request-parts.ts'
import { parseTraceContext, type TraceContext } from '../base/trace-context.ts'

/** Records requests; implemented by `telemetry/`. */
export interface Tracing {
  begin(beginning: {
    readonly method: string
    readonly scheme: string
    readonly parent: TraceContext | undefined
  }): RequestSpan
}

export interface RequestSpan {
  readonly trace: TraceContext
  readonly observer: PartObserver | undefined
  end(outcome: {
    readonly path: string
    readonly route: string | undefined
    readonly status: number | undefined
    readonly code: string | undefined
    readonly spent: SpentTime | undefined
  }): void
}

interface Deps {
  readonly tracing: Tracing | undefined
  readonly base: { readonly isHttps: boolean }
}

/** Continues the trace of the caller. Where traces are recorded, a request without one begins a new trace. */
export function beginTrace({ tracing, base }: Deps, request: FastifyRequest): void {
  const { method, headers } = request
  const parent = parseTraceContext(String(headers['traceparent'] ?? ''), String(headers['tracestate'] ?? ''))
  request.span = tracing?.begin({ method, scheme: base.isHttps ? 'https' : 'http', parent })
  request.trace = request.span?.trace ?? parent
}

/** @param path as it is in the log */
export function endTrace(
  { span, route, refusal }: FastifyRequest,
  { raw, statusCode }: FastifyReply,
  { path, parts }: { readonly path: string; readonly parts: RequestParts | undefined },
): void {
  const status = raw.headersSent ? statusCode : undefined
  span?.end({ path, route: route.url, status, code: refusal, spent: parts?.spent })
}
