import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotFound, StoreUnavailable } from '../../src/base/errors.ts'
import { RequestSpans } from '../../src/features/telemetry/request-spans.ts'

function start() {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const requests = new RequestSpans(provider.getTracer('test'))
  const begin = (method = 'GET') => requests.begin({ method, scheme: 'http', parent: undefined })
  return { begin, spans: () => exporter.getFinishedSpans() }
}

const outcome = { path: '/', route: '/', status: 200, code: undefined, spent: undefined }

test('of a request with very many steps the first hundred are recorded', () => {
  const { begin, spans } = start()
  const request = begin()
  for (let step = 0; step < 250; step++) request.observer?.('database', 'read')()
  request.end(outcome)
  assert.equal(spans().length, 101)
})

test('a step that fails has the type of the error and nothing of its text; a refusal is no failure', () => {
  const { begin, spans } = start()
  const request = begin()
  const errors = [
    new TypeError('Canary'),
    new StoreUnavailable('Canary'),
    new NotFound('not-found', 'Canary'),
    'Canary',
  ]
  for (const error of errors) request.observer?.('database', 'read')(error)
  request.end(outcome)
  assert.deepEqual(
    spans().map(({ attributes, status }) => [attributes['error.type'], status.code]),
    [
      ['TypeError', 2],
      ['store-unavailable', 2],
      ['not-found', 0],
      ['unknown', 2],
      [undefined, 0],
    ],
  )
  assert.ok(spans().every(({ status, events }) => status.message === undefined && events.length === 0))
})

test('a request whose client leaves before the response, and one with an unknown method', () => {
  const { begin, spans } = start()
  begin().end({ ...outcome, status: undefined })
  begin('BREW').end({ ...outcome, route: undefined, status: 405 })
  assert.deepEqual(
    spans().map(({ name, attributes }) => [name, attributes['http.request.method'], attributes['error.type']]),
    [
      ['GET /', 'GET', 'client-left'],
      ['HTTP', '_OTHER', undefined],
    ],
  )
})
