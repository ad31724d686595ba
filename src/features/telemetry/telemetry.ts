import { diag, DiagLogLevel } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import { withinTimeout } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type RegisteredMetric, RegistryProducer } from './metric-producer.ts'
import { CollectorOutages } from './outages.ts'
import { RequestSpans } from './request-spans.ts'
import type { Sampler, TelemetryOptions } from './variables.ts'

interface Deps {
  readonly readMetrics: () => Promise<readonly RegisteredMetric[]>
  readonly version: string
  readonly system: System
  readonly log: Log
}

/** Limit for sending the remaining telemetry at the end of the service. */
const FLUSH_TIMEOUT: Milliseconds = 3000

/** Sends telemetry until it is closed. */
export class Telemetry {
  /** Absent if only metrics are sent. */
  readonly requests: RequestSpans | undefined
  readonly #providers: ReadonlyArray<{ shutdown(): Promise<void> }>
  readonly #log: Log

  constructor(options: TelemetryOptions, deps: Deps) {
    const { log, version, system } = deps
    this.#log = log
    for (const warning of options.warnings) log.warn(warning)
    // While the libraries read their variables: later they report each failed attempt.
    diag.setLogger(
      { error: log.error.bind(log), warn: log.warn.bind(log), info: nothing, debug: nothing, verbose: nothing },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    )
    const resource = describeService(version, system)
    const tracers = options.traces ? createTracers(options, resource, log) : undefined
    this.requests = tracers && new RequestSpans(tracers.getTracer('stowage', version))
    const meters = options.metrics ? createMeters(options, resource, deps) : undefined
    this.#providers = [tracers, meters].filter(provider => provider !== undefined)
    diag.disable()
  }

  /** Sends the remaining telemetry, within {@link FLUSH_TIMEOUT}. Metrics are read once more. */
  async close(): Promise<void> {
    let isOver = false
    const sending = Promise.allSettled(this.#providers.map(provider => provider.shutdown()))
    await withinTimeout(
      sending.then(() => (isOver = true)),
      FLUSH_TIMEOUT,
    )
    if (!isOver) this.#log.warn('the last telemetry was lost, because the collector did not accept it in time')
  }
}

const nothing = (): void => {}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` come last, so they win. */
function describeService(version: string, system: System): Resource {
  const own = resourceFromAttributes({
    'service.name': 'stowage',
    'service.version': version,
    // Distinguishes the counters of different nodes, and of one node before and after a restart.
    'service.instance.id': Buffer.from(system.randomBytes(16)).toString('hex'),
  })
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }))
}

function createTracers({ sampler, batches }: TelemetryOptions, resource: Resource, log: Log): TracerProvider {
  const exporter = new OTLPTraceExporter()
  const outages = new CollectorOutages(log, 'traces')
  const noting: SpanExporter = {
    export: (spans, done) => exporter.export(spans, outages.noting(done)),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
  const spanProcessors = [new BatchSpanProcessor({ ...batches, exporter: noting })]
  return new TracerProvider({ resource, sampler: createSampler(sampler), spanProcessors })
}

function createSampler({ root, ratio, isParentBased }: Sampler) {
  const samplers = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const sampler = samplers[root]()
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler
}

function createMeters(
  options: TelemetryOptions,
  resource: Resource,
  { readMetrics, system, log }: Deps,
): MeterProvider {
  const exporter = new OTLPMetricExporter()
  const outages = new CollectorOutages(log, 'metrics')
  const noting: PushMetricExporter = {
    export: (metrics, done) => exporter.export(metrics, outages.noting(done)),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
  const read = () =>
    readMetrics().catch((error: unknown) => {
      outages.note(error as Error)
      throw error
    })
  const reader = new PeriodicExportingMetricReader({
    exporter: noting,
    exportIntervalMillis: options.metricInterval,
    exportTimeoutMillis: options.metricTimeout,
    metricProducers: [new RegistryProducer(read, system)],
  })
  return new MeterProvider({ resource, readers: [reader] })
}
