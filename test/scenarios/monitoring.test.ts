import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const TOKEN = 'metrics-Token-of-the-tests'
const service = await startInProcess(
  { after },
  { settings: { 'service.data.quota': 'on', 'service.metrics.token': TOKEN } },
)
const admin = await service.admin()

/** The value of one series. */
async function metric(series: string): Promise<number | undefined> {
  // Measurements of the store are kept for ten seconds.
  service.system.pass(11_000)
  const { status, text } = await admin.get('management/metrics')
  assert.equal(status, 200)
  const line = text.split('\n').find(one => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

test('only administrators and callers with the token can read metrics', async () => {
  const guest = service.visitor()
  assertRefused(await guest.get('management/metrics'), 401, 'not-signed-in')
  const { visitor } = await newUser(service, admin)
  assertRefused(await visitor.get('management/metrics'), 403, 'not-allowed')
  for (const wrong of [`Bearer ${TOKEN}x`, 'Bearer ', `Basic ${TOKEN}`, TOKEN]) {
    const headers = { authorization: wrong }
    assertRefused(await guest.get('management/metrics', headers), 401, 'not-signed-in')
  }
  const shown = await guest.get('management/metrics', { authorization: `Bearer ${TOKEN}` })
  assert.equal(shown.status, 200)
  assert.match(shown.headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/)
  assert.match((await admin.get('management/metrics')).text, /^# TYPE stowage_http_requests_total counter$/m)
})

test('without a token configured none is good enough', async t => {
  const other = await startInProcess(t)
  for (const authorization of ['Bearer undefined', 'Bearer ""']) {
    const headers = { authorization }
    assertRefused(await other.visitor().get('management/metrics', headers), 401, 'not-signed-in')
  }
})

test('the token also reads metrics with HTTP Basic on, and nothing else (D4.2)', async t => {
  const settings = { 'service.auth.http-basic': 'on', 'service.metrics.token': TOKEN }
  const guest = (await startInProcess(t, { settings })).visitor()
  const headers = { authorization: `Bearer ${TOKEN}` }
  assert.equal((await guest.get('management/metrics', headers)).status, 200)
  assertRefused(await guest.get('management/metrics', { authorization: `Bearer ${TOKEN}x` }), 401, 'not-signed-in')
  assertRefused(await guest.get('management/metrics', { authorization: 'nonsense' }), 401, 'wrong-credentials')
  assertRefused(await guest.get('management/settings', headers), 401, 'wrong-credentials')
})

test('requests are counted by route, not by path, and refusals by their code', async () => {
  const series = 'stowage_http_requests_total{method="GET",route="/:context/entry/:entry",status="404"}'
  const before = (await metric(series)) ?? 0
  const refused = (await metric('stowage_refusals_total{code="not-found"}')) ?? 0
  for (const id of ['1', '2', 'x%2Fy']) assert.equal((await admin.get(`nowhere/entry/${id}`)).status, 404)
  assert.equal(await metric(series), before + 3)
  assert.equal(await metric('stowage_refusals_total{code="not-found"}'), refused + 3)
})

test('logins are counted by result', async () => {
  const { name, password } = await newUser(service, admin)
  const [good, bad] = [await event('login'), await event('login-failed')]
  assert.equal((await service.visitor().signIn(name, password)).status, 200)
  assert.equal((await service.visitor().signIn(name, 'Wrong-password-1')).status, 401)
  assert.deepEqual([await event('login'), await event('login-failed')], [good + 1, bad + 1])
})

test('live logins are counted, ended ones no longer', async () => {
  const { visitor } = await newUser(service, admin)
  service.system.pass(31_000)
  const before = (await metric('stowage_live_tokens')) ?? 0
  assert.ok(before >= 2)
  await visitor.post('auth/logout')
  service.system.pass(31_000)
  assert.equal(await metric('stowage_live_tokens'), before - 1)
})

const event = async (name: string): Promise<number> =>
  (await metric(`stowage_audit_events_total{event="${name}"}`)) ?? 0

test('metrics include uploads, bytes, the fullest contexts and their share of the quota', async () => {
  const context = await newContext(admin)
  await admin.put(`${context}/quota`, { quota: 1_000_000 })
  const [count, bytes, stored] = [
    await metric('stowage_uploads_total'),
    await metric('stowage_uploaded_bytes_total'),
    await metric('stowage_stored_bytes'),
  ]
  const upload = async (size: number) =>
    await putFile(admin, `${context}/resource/${await newEntry(admin, context)}`, 'x'.repeat(size))
  assert.equal((await upload(850_000)).status, 201)
  assert.equal(await metric('stowage_uploads_total'), (count ?? 0) + 1)
  assert.equal(await metric('stowage_uploaded_bytes_total'), (bytes ?? 0) + 850_000)
  assert.equal(await metric('stowage_stored_bytes'), (stored ?? 0) + 850_000)
  assert.equal(await metric(`stowage_context_bytes{context="${context}"}`), 850_000)
  assert.equal(await metric('stowage_contexts_filled{percent="80"}'), 1)
  assert.equal(await metric('stowage_contexts_filled{percent="90"}'), 0)
  assert.equal((await upload(200_000)).status, 413)
  assert.equal(await metric('stowage_refusals_total{code="quota-exceeded"}'), 1)
})

test('a context that comes to 80, 90 or 100 per cent of its quota is an event of the audit log, once on the way up', async () => {
  const context = await newContext(admin)
  await admin.put(`${context}/quota`, { quota: 1000 })
  for (const size of [799, 1, 50, 50, 100]) {
    assert.equal(
      (await putFile(admin, `${context}/resource/${await newEntry(admin, context)}`, 'x'.repeat(size))).status,
      201,
    )
  }
  const { events } = (await admin.get('management/audit?limit=1000')).json<{
    events: Array<{ event: string; detail: { context: string; percent: number; fillLevel: number } }>
  }>()
  const reached = events.filter(({ event, detail }) => event === 'quota-threshold' && detail.context === context)
  assert.deepEqual(
    reached.map(({ detail }) => [detail.percent, detail.fillLevel]),
    [
      [100, 1000],
      [90, 900],
      [80, 800],
    ],
  )
})

test('health and readiness are public, and contain nothing else', async () => {
  const guest = service.visitor()
  const health = await guest.get('management/health')
  assert.deepEqual([health.status, health.json()], [200, { status: 'up' }])
  const ready = await guest.get('management/ready')
  const { ready: isReady, checks } = ready.json<{ ready: boolean; checks: Record<string, string> }>()
  assert.deepEqual([ready.status, isReady, checks['database']], [200, true, 'up'])
  // Where rows and files are elsewhere, nothing depends on the disk of the node.
  assert.ok([undefined, 'up'].includes(checks['disk']))
})

test('after the signal to stop, the service reports that it is not ready, serves until it has drained, and closes each connection', async t => {
  const other = await startInProcess(t, { settings: { 'service.http.drain-time': '2s' } })
  const guest = other.visitor()
  const stays = { connection: 'keep-alive' }
  const before = await guest.get('management/ready', stays)
  assert.deepEqual([before.status, before.headers.connection], [200, 'keep-alive'])
  const closed = other.close()
  const ready = await guest.get('management/ready')
  assert.deepEqual([ready.status, ready.json<{ ready: boolean }>().ready], [503, false])
  const served = await guest.get('auth/user', stays)
  assert.deepEqual([served.status, served.headers.connection], [200, 'close'])
  await closed
})
