/** The place of a request in a trace that goes through several services (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The span that is the parent of the next spans: 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
  /** `tracestate` as earlier tracing systems wrote it; it is passed on without being read. */
  readonly state: string | undefined
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/
const TRACESTATE = /^[ -~]{1,512}$/

/** Reads the headers of a request. `undefined` without a valid `traceparent`, whatever `tracestate` contains. */
export function parseTraceContext(traceparent: string, tracestate: string): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? []
  // Later versions may add fields, version 00 has none.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, spanId, isSampled, state: TRACESTATE.test(tracestate) ? tracestate : undefined }
}

/** The headers of a request to another service that belongs to the same trace. */
export const traceHeaders = ({ traceId, spanId, isSampled, state }: TraceContext): Record<string, string> => ({
  traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
  ...(state === undefined ? {} : { tracestate: state }),
})
