import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CasBrowser } from '../support/cas-browser.ts'
import { startFakeCas } from '../support/fake-cas.ts'
import { BUCKET, startFakeS3 } from '../support/fake-s3.ts'
import { listen } from '../support/listener.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { newContext, newEntry, type Process, startProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { eventually, until } from '../support/waiting.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`

/** Sends without delay. */
const sendingTo = ({ url }: Pick<OtlpReceiver, 'url'>) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_METRIC_EXPORT_INTERVAL: '200',
})

interface Line {
  readonly msg: string
  readonly level: string
  readonly path?: string
  readonly traceId?: string
  readonly signal?: string
}

const linesOf = (service: Process): readonly Line[] => service.log()

/** The line in the log of the request for this path. */
const lineOf = async (service: Process, path: string): Promise<Line> =>
  (await until(
    () => linesOf(service).find(line => line.msg === 'request' && line.path === path),
    line => line !== undefined,
  )) as Line

const serverSpan = async ({ spans }: OtlpReceiver, path: string): Promise<ReceivedSpan> =>
  (await until(
    () => spans.find(({ kind, attributes }) => kind === 2 && attributes['url.path'] === path),
    span => span !== undefined,
  )) as ReceivedSpan

test('a request continues the trace of its caller, in the span that is sent and in the log', async t => {
  const collector = await startOtlpReceiver(t)
  const service = await startProcess(t, {
    env: {
      ...sendingTo(collector),
      OTEL_SERVICE_NAME: 'files',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.instance.id=one',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    },
  })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `/${context}/entry/nothing`
  const headers = { traceparent: TRACEPARENT, tracestate: 'a=b', 'user-agent': 'Canary-agent' }
  assert.equal((await admin.get(`${path.slice(1)}?secret=Canary-query`, headers)).status, 404)
  const span = await serverSpan(collector, path)
  assert.deepEqual([span.traceId, span.parent, span.state], [TRACE, SPAN, 'a=b'])
  assert.match(span.spanId, /^[0-9a-f]{16}$/)
  assert.notEqual(span.spanId, SPAN)
  assert.equal(span.name, 'GET /:context/entry/:entry')
  assert.ok(span.end >= span.begin)
  // A refusal is no failure of the service.
  assert.equal(span.status, 0)
  const { attributes } = span
  assert.deepEqual(Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.endsWith('_ms'))), {
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'url.path': path,
    'http.route': '/:context/entry/:entry',
    'http.response.status_code': 404,
  })
  assert.equal((await lineOf(service, path)).traceId, TRACE)
  const { resource } = span
  assert.equal(resource['service.name'], 'files')
  assert.equal(resource['service.instance.id'], 'one')
  assert.equal(resource['deployment.environment.name'], 'test')
  assert.match(String(resource['service.version']), /^\d+\.\d+\.\d+/)
  const sent = collector.requests.find(request => request.path === '/v1/traces')
  assert.deepEqual(
    [sent?.headers['x-key'], sent?.headers['content-type'], sent?.headers['content-encoding']],
    ['secret', 'application/x-protobuf', 'gzip'],
  )
  assert.doesNotMatch(
    JSON.stringify(collector.spans, (_, value) => String(value)),
    /Canary/,
  )
})

test('below the span of a request are its steps: database, files, waiting, serialising', async t => {
  const collector = await startOtlpReceiver(t)
  const service = await startProcess(t, { env: sendingTo(collector) })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  const headers = { traceparent: TRACEPARENT }
  const bytes = Buffer.alloc(3_000_000)
  assert.equal((await admin.ask(path, { method: 'PUT', body: bytes, headers })).status, 201)
  assert.equal((await admin.get(`${context}/entry/1`, headers)).status, 200)
  await service.stop()
  const stepsOf = ({ spanId }: ReceivedSpan) => collector.spans.filter(({ parent }) => parent === spanId)
  const phasesOf = (span: ReceivedSpan) => new Set(stepsOf(span).map(({ attributes }) => attributes['stowage.phase']))
  const upload = await serverSpan(collector, `/${path}`)
  for (const phase of ['database', 'files', 'waiting', 'client']) {
    assert.ok(phasesOf(upload).has(phase), phase)
    assert.ok(Number(upload.attributes[`stowage.${phase}_ms`]) > 0, phase)
  }
  const read = await serverSpan(collector, `/${context}/entry/1`)
  for (const phase of ['database', 'serialising', 'client']) assert.ok(phasesOf(read).has(phase), phase)
  for (const span of [upload, read]) {
    for (const step of stepsOf(span)) {
      assert.deepEqual([step.traceId, step.kind, step.status], [TRACE, 1, 0])
      assert.match(step.name, /^(?:database|files|waiting|serialising|client): [A-Za-z ]+$/)
      assert.ok(step.begin <= step.end)
    }
  }
})

test('a request without a valid traceparent begins a trace of its own, whose id is in the log', async t => {
  const collector = await startOtlpReceiver(t)
  const service = await startProcess(t, { env: sendingTo(collector) })
  const headers = { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01`, tracestate: 'a=b' }
  await service.visitor().get('auth/user', headers)
  const span = await serverSpan(collector, '/auth/user')
  assert.match(span.traceId, /^[0-9a-f]{32}$/)
  assert.notEqual(span.traceId, TRACE)
  assert.deepEqual([span.parent, span.state], ['', ''])
  assert.equal((await lineOf(service, '/auth/user')).traceId, span.traceId)
  // Also an address that no route can read.
  await service.visitor().get('auth/%zz')
  const unread = await serverSpan(collector, '/auth/%zz')
  assert.deepEqual([unread.name, unread.attributes['http.response.status_code']], ['GET', 400])
})

test('the decision of the caller whether its trace is recorded counts, and OTEL_TRACES_SAMPLER', async t => {
  const collector = await startOtlpReceiver(t)
  const ask = async (service: Process, path: string, flags: string | undefined) =>
    await service.visitor().get(path, flags === undefined ? {} : { traceparent: `00-${TRACE}-${SPAN}-${flags}` })
  const paths = (): unknown[] =>
    collector.spans.filter(({ kind }) => kind === 2).map(span => span.attributes['url.path'])
  const byDefault = await startProcess(t, { env: sendingTo(collector) })
  await ask(byDefault, 'auth/one', '00')
  await ask(byDefault, 'auth/two', '01')
  assert.equal((await lineOf(byDefault, '/auth/one')).traceId, TRACE)
  await byDefault.stop()
  const never = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
  const byParent = await startProcess(t, { env: { ...sendingTo(collector), ...never } })
  await ask(byParent, 'auth/three', undefined)
  await ask(byParent, 'auth/four', '01')
  await byParent.stop()
  const off = await startProcess(t, { env: { ...sendingTo(collector), OTEL_TRACES_SAMPLER: 'always_off' } })
  await ask(off, 'auth/five', '01')
  await off.stop()
  assert.deepEqual(paths(), ['/auth/two', '/auth/four'])
})

test('metrics are those of /management/metrics, with the same names, labels and values', async t => {
  const collector = await startOtlpReceiver(t)
  const service = await startProcess(t, { env: { ...sendingTo(collector), OTEL_TRACES_EXPORTER: 'none' } })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, 'x'.repeat(1234))).status, 201)
  assert.equal((await admin.get('nowhere/entry/1')).status, 404)
  const { text } = await admin.get('management/metrics')
  const shown = new Map<string, number>(
    [...text.matchAll(/^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels = '', value]) => [
      `${name}{${labels}}`,
      Number(value),
    ]),
  )
  const before = collector.metrics.length
  await eventually('metrics arrive', () => collector.metrics.length > before + 1)
  await service.stop()
  const last = collector.metrics.at(-1) ?? []
  const labels = (attributes: object) =>
    Object.entries(attributes)
      .map(([name, value]) => `${name}="${value}"`)
      .join()
  const arrived = new Map<string, number>(
    last.flatMap(({ name, type, attributes, value, count, bounds, counts }) => {
      const own = labels(attributes)
      if (type !== 'histogram') return [[`${name}{${own}}`, value] as const]
      let upTo = 0
      const buckets = counts.map((count, index) => {
        upTo += count
        return [`${name}_bucket{le="${bounds[index] ?? '+Inf'}"${own && `,${own}`}}`, upTo] as const
      })
      return [...buckets, [`${name}_sum{${own}}`, value] as const, [`${name}_count{${own}}`, count] as const]
    }),
  )
  // The engine has no times of collections before it has made the first one.
  const namesOf = (all: ReadonlyMap<string, number>) =>
    new Set([...all.keys()].map(key => key.split('{')[0]).filter(name => !name?.startsWith('nodejs_gc_')))
  assert.ok(namesOf(shown).size > 30)
  assert.deepEqual(namesOf(arrived), namesOf(shown))
  // Between the two are the request for the metrics itself, and what other programs store on the disk.
  const steady = (all: ReadonlyMap<string, number>) =>
    Object.fromEntries(
      [...all].filter(([key]) => key.startsWith('stowage_') && !/disk_free|management\/metrics/.test(key)),
    )
  assert.ok(Object.keys(steady(shown)).length > 50)
  assert.deepEqual(steady(arrived), steady(shown))
  assert.equal(arrived.get('stowage_uploaded_bytes_total{}'), 1234)
  assert.equal(last.find(({ name }) => name === 'stowage_uploads_total')?.type, 'sum')
  assert.equal(last.find(({ name }) => name === 'stowage_stored_bytes')?.type, 'gauge')
  assert.equal(collector.spans.length, 0)
})

test('requests to identity providers and to the bucket carry the trace, those for documents that callers choose do not', async t => {
  const collector = await startOtlpReceiver(t)
  const s3 = await startFakeS3(t)
  const cas = await startFakeCas(t)
  const stranger = await listen(t, (_, response) => response.setHeader('content-type', 'text/plain').end('a'))
  const credentials = { AWS_REGION: 'test', AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' }
  const service = await startProcess(t, {
    settings: {
      'service.data.store': `s3://${BUCKET}/store`,
      'service.auth.cas': 'on',
      'service.auth.cas.server.url': cas.url,
      'service.auth.cas.user-auto-provisioning': 'on',
      'service.proxy': 'on',
      'service.proxy.private-hosts.1': new URL(stranger.origin).host,
    },
    env: { ...sendingTo(collector), ...credentials, AWS_ENDPOINT_URL_S3: s3.url },
  })
  const browser = new CasBrowser(service.base)
  await browser.leave()
  const headers = { traceparent: TRACEPARENT, tracestate: 'a=b' }
  assert.equal((await browser.step(`?ticket=${cas.issue('anna')}`, headers)).status, 200)
  const signIn = await until(
    () => collector.spans.find(({ kind, parent }) => kind === 2 && parent === SPAN),
    span => span !== undefined,
  )
  const [asked] = cas.asked
  assert.equal(asked?.headers['traceparent'], `00-${TRACE}-${signIn?.spanId}-01`)
  assert.equal(asked?.headers['tracestate'], 'a=b')

  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  // Nothing at the start belongs to a request.
  assert.deepEqual(s3.traces, [])
  assert.equal((await putFile(admin, path, 'x')).status, 201)
  const upload = await serverSpan(collector, `/${path}`)
  assert.deepEqual(s3.traces, [`00-${upload.traceId}-${upload.spanId}-01`])

  const query = new URLSearchParams({ url: `${stranger.origin}/` })
  assert.equal((await admin.get(`proxy?${query.toString()}`, headers)).status, 200)
  assert.equal(stranger.heard.length, 1)
  assert.equal(stranger.heard[0]?.headers['traceparent'], undefined)

  // A failure of the service is one in the trace, without what the error says.
  s3.intercept = () => ({ status: 403, body: '<Error><Code>AccessDenied</Code><Message>Canary</Message></Error>' })
  const other = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, other, 'x')).status, 503)
  const failed = await serverSpan(collector, `/${other}`)
  assert.deepEqual(
    [failed.status, failed.message, failed.attributes['error.type'], failed.attributes['http.response.status_code']],
    [2, '', 'store-unavailable', 503],
  )
})

test('without a collector the trace of a caller is still in the log and goes on to the next service', async t => {
  const cas = await startFakeCas(t)
  const service = await startProcess(t, {
    settings: { 'service.auth.cas': 'on', 'service.auth.cas.server.url': cas.url },
  })
  const browser = new CasBrowser(service.base)
  await browser.leave()
  await browser.step(`?ticket=${cas.issue('anna')}`, { traceparent: TRACEPARENT, tracestate: 'a=b' })
  const [asked] = cas.asked
  assert.deepEqual([asked?.headers['traceparent'], asked?.headers['tracestate']], [TRACEPARENT, 'a=b'])
  await eventually('its line comes', () => linesOf(service).some(({ traceId }) => traceId === TRACE))
  await browser.get('auth/user')
  assert.equal((await lineOf(service, '/auth/user')).traceId, undefined)
})

/** Prints the modules of OpenTelemetry that the program loads, except the interface that the library of the metrics needs. */
const WATCH = `import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) {
  const loaded = next(url, context)
  if (/BatchSpanProcessor|OTLPExporter/.test(String(loaded.source))) process.stderr.write('OPENTELEMETRY ' + url + '\\n')
  return loaded
} })`
const watched = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WATCH)}` }

test('nothing of OpenTelemetry is loaded unless its variables ask for it', async t => {
  const collector = await startOtlpReceiver(t)
  const isLoaded = async (env: Readonly<Record<string, string>>): Promise<boolean> => {
    const service = await startProcess(t, { env: { ...watched, ...env } })
    await service.admin()
    assert.equal(await service.stop(), 0)
    return service.output().includes('OPENTELEMETRY')
  }
  assert.equal(await isLoaded({}), false)
  assert.equal(await isLoaded({ OTEL_SERVICE_NAME: 'files', OTEL_TRACES_SAMPLER: 'always_on' }), false)
  assert.equal(await isLoaded({ ...sendingTo(collector), OTEL_SDK_DISABLED: 'true' }), false)
  assert.equal(
    await isLoaded({ ...sendingTo(collector), OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }),
    false,
  )
  assert.deepEqual(collector.requests, [])
  assert.equal(await isLoaded({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` }), true)
  assert.ok(collector.spans.length > 0)
  assert.equal(collector.metrics.length, 0)
})

test('a collector that is down or does not answer disturbs no request, is logged once, and does not keep the service from its end', async t => {
  const collector = await startOtlpReceiver(t)
  const failures = (service: Process): string[] =>
    linesOf(service)
      .filter(({ level, signal }) => level === 'warn' && signal !== undefined)
      .map(({ signal = '' }) => signal)
      .sort((a, b) => a.localeCompare(b))
  collector.misbehave = response => response.writeHead(400).end('no')
  const service = await startProcess(t, { env: sendingTo(collector) })
  const visitor = service.visitor()
  const attempts = (path: string): number => collector.requests.filter(request => request.path === path).length
  await eventually('several attempts have failed', async () => {
    assert.equal((await visitor.get('auth/user')).status, 200)
    return attempts('/v1/traces') > 3 && attempts('/v1/metrics') > 3
  })
  await eventually('both failures are in the log', () => failures(service).length >= 2)
  assert.deepEqual(failures(service), ['metrics', 'traces'])
  collector.misbehave = undefined
  await visitor.get('auth/user')
  const recoveries = () => linesOf(service).filter(({ msg }) => msg === 'telemetry is sent again').length
  await eventually('both arrive again', () => recoveries() === 2)
  // Takes the request, and never answers.
  collector.misbehave = () => {}
  await visitor.get('auth/user')
  assert.equal(await service.stop(), 0)

  const down = await startProcess(t, {
    env: { ...sendingTo(collector), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
  })
  assert.equal((await down.visitor().get('auth/user')).status, 200)
  assert.equal(await down.stop(), 0)
  assert.ok(linesOf(down).some(({ level, msg }) => level === 'warn' && msg.includes('the last telemetry was lost')))
})

test('what is left is sent at the end of the service', async t => {
  const collector = await startOtlpReceiver(t)
  const service = await startProcess(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  await service.visitor().get('auth/user')
  assert.equal(await service.stop(), 0)
  assert.ok(collector.spans.some(({ attributes }) => attributes['url.path'] === '/auth/user'))
  assert.equal(collector.metrics.length, 1)
})

test('a variable that cannot be followed is named in the log, and the service starts', async t => {
  const collector = await startOtlpReceiver(t)
  const service = await startProcess(t, {
    env: {
      ...sendingTo(collector),
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_BSP_MAX_QUEUE_SIZE: 'many',
      OTEL_EXPORTER_OTLP_TIMEOUT: 'long',
    },
  })
  await service.visitor().get('auth/user')
  await serverSpan(collector, '/auth/user')
  assert.equal(await service.stop(), 0)
  const warnings = linesOf(service)
    .filter(({ level }) => level === 'warn')
    .map(({ msg }) => msg)
    .join('\n')
  for (const name of ['PROTOCOL', 'SAMPLER', 'QUEUE_SIZE', 'TIMEOUT'])
    assert.match(warnings, new RegExp(`OTEL_\\w*${name}`))
})
