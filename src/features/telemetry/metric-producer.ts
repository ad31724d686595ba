import { type HrTime, ValueType } from '@opentelemetry/api'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'

type Labels = Readonly<Record<string, string | number | undefined>>

/** A metric as the registry of the service hands it out. */
export interface RegisteredMetric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly values: ReadonlyArray<{
    readonly value: number
    readonly labels: Labels
    /** Of histograms: the name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string | undefined
  }>
}

/** Hands the metrics of `/management/metrics` to the library that sends them, under the same names and with the same labels. */
export class RegistryProducer implements MetricProducer {
  readonly #read: () => Promise<readonly RegisteredMetric[]>
  readonly #system: System
  readonly #began: Milliseconds

  constructor(read: () => Promise<readonly RegisteredMetric[]>, system: System) {
    this.#read = read
    this.#system = system
    this.#began = system.now()
  }

  async collect(): Promise<CollectionResult> {
    const times = { startTime: hrTime(this.#began), endTime: hrTime(this.#system.now()) }
    const metrics = (await this.#read()).flatMap(metric => toMetricData(metric, times) ?? [])
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: SCOPE, metrics }] }, errors: [] }
  }
}

const SCOPE = { name: 'stowage' }

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>

const hrTime = (ms: Milliseconds): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1_000_000]

/** `undefined` for types that the service does not have. */
function toMetricData(metric: RegisteredMetric, times: Times): MetricData | undefined {
  const { name, help, type, values } = metric
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const points = () => values.map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), value }))
  switch (type) {
    case 'counter':
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() }
    case 'histogram':
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(metric, times) }
    default:
      return undefined
  }
}

const attributesOf = (labels: Labels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))

/** Prometheus counts up to each boundary, OTLP between two of them. */
function histogramPoints({ name, values }: RegisteredMetric, times: Times): Array<DataPoint<Histogram>> {
  const series = new Map<
    string,
    { attributes: Record<string, string>; boundaries: number[]; upTo: number[]; sum: number }
  >()
  for (const { labels, value, metricName } of values) {
    const { le, ...others } = labels
    const attributes = attributesOf(others)
    const key = JSON.stringify(attributes)
    const one = series.get(key) ?? { attributes, boundaries: [], upTo: [], sum: 0 }
    series.set(key, one)
    if (metricName === `${name}_sum`) one.sum = value
    else if (metricName === `${name}_bucket`) {
      if (le !== '+Inf') one.boundaries.push(Number(le))
      one.upTo.push(value)
    }
  }
  return [...series.values()].map(({ attributes, boundaries, upTo, sum }) => {
    const counts = upTo.map((count, place) => count - (upTo[place - 1] ?? 0))
    return { ...times, attributes, value: { buckets: { boundaries, counts }, sum, count: upTo.at(-1) ?? 0 } }
  })
}
