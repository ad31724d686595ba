import type { Milliseconds } from '../../base/units.ts'

export interface TelemetryOptions {
  readonly traces: boolean
  readonly metrics: boolean
  readonly sampler: Sampler
  /** Spans wait in a queue and are sent in batches. A full queue drops new spans. */
  readonly batches: {
    readonly scheduledDelayMillis: Milliseconds
    readonly exportTimeoutMillis: Milliseconds
    readonly maxQueueSize: number
    readonly maxExportBatchSize: number
  }
  readonly metricInterval: Milliseconds
  readonly metricTimeout: Milliseconds
  /** Variables that the service cannot follow, and what it does instead. */
  readonly warnings: readonly string[]
}

export interface Sampler {
  readonly root: 'always_on' | 'always_off' | 'traceidratio'
  /** For `traceidratio`: the share of traces to record, among the traces that begin in this service. */
  readonly ratio: number
  /** The decision of the caller counts, if there is one. */
  readonly isParentBased: boolean
}

type Variables = Readonly<Record<string, string | undefined>>

const DEFAULT_SAMPLER = 'parentbased_always_on'
const SAMPLER = /^(parentbased_)?(always_on|always_off|traceidratio)$/

/**
 * Reads OpenTelemetry's own variables; `undefined` if they ask for nothing. Its libraries read those about exporters (`OTEL_EXPORTER_OTLP_…`)
 * and the resource themselves.
 */
export function readTelemetryVariables(variables: Variables): TelemetryOptions | undefined {
  if (variables['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined
  const traces = isWanted(variables, 'TRACES')
  const metrics = isWanted(variables, 'METRICS')
  if (!traces && !metrics) return undefined
  const warnings: string[] = []
  const warn = (name: string, instead: string): void =>
    void warnings.push(`${name} is ${variables[name]}, but ${instead}.`)
  for (const [name, value, instead] of FIXED) {
    if ((variables[name] || value).toLowerCase() !== value) warn(name, instead)
  }
  const number = (name: string, otherwise: number): number => {
    const text = variables[name]?.trim() ?? ''
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
    if (text !== '') warn(name, `it must be a whole number from 1 on; ${otherwise} is used`)
    return otherwise
  }
  const metricInterval = number('OTEL_METRIC_EXPORT_INTERVAL', 60_000)
  const maxQueueSize = number('OTEL_BSP_MAX_QUEUE_SIZE', 2048)
  return {
    traces,
    metrics,
    sampler: readSampler(variables, warn),
    batches: {
      scheduledDelayMillis: number('OTEL_BSP_SCHEDULE_DELAY', 5000),
      exportTimeoutMillis: number('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
      maxQueueSize,
      maxExportBatchSize: Math.min(number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512), maxQueueSize),
    },
    metricInterval,
    metricTimeout: Math.min(number('OTEL_METRIC_EXPORT_TIMEOUT', 30_000), metricInterval),
    warnings,
  }
}

const PROTOCOL = 'http/protobuf'
const OTHER_PROTOCOL = `only ${PROTOCOL} is sent, for which collectors usually have the port 4318`

/** Variables with the only value that they can have here. */
const FIXED = [
  ['OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOL, OTHER_PROTOCOL],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', PROTOCOL, OTHER_PROTOCOL],
  ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', PROTOCOL, OTHER_PROTOCOL],
  ['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'cumulative', 'all metrics are cumulative'],
] as const

/** True if `otlp` is among the exporters named for the signal or, if none is named, an endpoint is set. */
function isWanted(variables: Variables, signal: 'TRACES' | 'METRICS'): boolean {
  const exporter = variables[`OTEL_${signal}_EXPORTER`]
  if (exporter) return exporter.split(',').some(name => name.trim() === 'otlp')
  return Boolean(variables['OTEL_EXPORTER_OTLP_ENDPOINT'] || variables[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`])
}

function readSampler(variables: Variables, warn: (name: string, instead: string) => void): Sampler {
  const name = variables['OTEL_TRACES_SAMPLER'] || DEFAULT_SAMPLER
  const [, parentBased, root] = SAMPLER.exec(name) ?? []
  if (root === undefined) warn('OTEL_TRACES_SAMPLER', `that is none of the samplers here; ${DEFAULT_SAMPLER} is used`)
  const arg = variables['OTEL_TRACES_SAMPLER_ARG']
  const ratio = arg ? Number(arg) : 1
  const isRatio = ratio >= 0 && ratio <= 1
  if (root === 'traceidratio' && !isRatio) warn('OTEL_TRACES_SAMPLER_ARG', 'it must be from 0 to 1; 1 is used')
  return {
    root: (root ?? 'always_on') as Sampler['root'],
    ratio: isRatio ? ratio : 1,
    isParentBased: root === undefined || parentBased !== undefined,
  }
}
