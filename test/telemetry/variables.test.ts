import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTelemetryVariables } from '../../src/features/telemetry/variables.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318'

const signals = {
  'no variables': [{}, ''],
  'an empty endpoint': [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, ''],
  'an endpoint': [{ OTEL_EXPORTER_OTLP_ENDPOINT }, 'traces metrics'],
  'the endpoint of traces': [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a/' }, 'traces'],
  'the endpoint of metrics': [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://a/' }, 'metrics'],
  'an exporter': [{ OTEL_METRICS_EXPORTER: 'otlp' }, 'metrics'],
  'no exporter of metrics': [{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_METRICS_EXPORTER: 'none' }, 'traces'],
  'several exporters': [{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'console, otlp' }, 'traces metrics'],
  'an end': [{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'True' }, ''],
} as const

for (const [what, [variables, expected]] of Object.entries(signals)) {
  test(`what is sent with ${what}`, () => {
    const options = readTelemetryVariables(variables)
    const sent = options && [options.traces && 'traces', options.metrics && 'metrics'].filter(Boolean).join(' ')
    assert.equal(sent ?? '', expected)
    assert.deepEqual(options?.warnings ?? [], [])
  })
}

const read = (variables: Readonly<Record<string, string>>) =>
  readTelemetryVariables({ OTEL_EXPORTER_OTLP_ENDPOINT, ...variables }) ?? assert.fail()

test('samplers have the names and defaults of OpenTelemetry', () => {
  const sampler = (name: string, arg = '') => {
    const options = read({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg })
    return [options.sampler, options.warnings.length]
  }
  assert.deepEqual(sampler(''), [{ root: 'always_on', ratio: 1, isParentBased: true }, 0])
  assert.deepEqual(sampler('always_off'), [{ root: 'always_off', ratio: 1, isParentBased: false }, 0])
  assert.deepEqual(sampler('traceidratio', '0.25'), [{ root: 'traceidratio', ratio: 0.25, isParentBased: false }, 0])
  assert.deepEqual(sampler('parentbased_traceidratio', '0'), [
    { root: 'traceidratio', ratio: 0, isParentBased: true },
    0,
  ])
  assert.deepEqual(sampler('traceidratio', '2'), [{ root: 'traceidratio', ratio: 1, isParentBased: false }, 1])
  assert.deepEqual(sampler('jaeger_remote'), [{ root: 'always_on', ratio: 1, isParentBased: true }, 1])
})

test('limits that contradict each other are made to fit, as the libraries accept no others', () => {
  const { batches, metricInterval, metricTimeout } = read({
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  })
  assert.deepEqual([batches.maxQueueSize, batches.maxExportBatchSize], [100, 100])
  assert.deepEqual([metricInterval, metricTimeout], [1000, 1000])
})

test('a value that cannot be followed is named with what is done instead', () => {
  const { warnings, batches } = read({
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'Delta',
    OTEL_BSP_SCHEDULE_DELAY: '0',
  })
  assert.equal(batches.scheduledDelayMillis, 5000)
  assert.deepEqual(warnings, [
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is http/json, but only http/protobuf is sent, for which collectors usually have the port 4318.',
    'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE is Delta, but all metrics are cumulative.',
    'OTEL_BSP_SCHEDULE_DELAY is 0, but it must be a whole number from 1 on; 5000 is used.',
  ])
})
