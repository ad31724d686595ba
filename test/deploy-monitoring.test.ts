import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository, startInProcess } from './support/service.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const read = (file: string): string => readFileSync(join(repository, 'deploy', file), 'utf8')

/** Added by Prometheus itself, or to histograms. */
const suffix = /_(?:bucket|sum|count)$/

test('the alarms and the dashboard name only metrics that the service has', async t => {
  // Some metrics exist only with what they measure.
  const settings = {
    'service.backup.schedule': '0 0 29 2 *',
    'service.backup.target': join(await temporaryFolder(), 'backups'),
  }
  const service = await startInProcess(t, { settings })
  const { text } = await (await service.admin()).get('management/metrics')
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name))
  assert.ok(known.size > 20, 'the metrics were not found')
  for (const file of ['prometheus-rules.yaml', 'grafana-dashboard.json']) {
    const named = [...read(file).matchAll(/\b(?:stowage|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)
    assert.ok(named.length > 5, file)
    // Reported only with a virus scan, with quotas, or once there is something to report.
    const unknown = named.filter(name => !known.has(name) && !known.has(name.replace(suffix, '')))
    assert.deepEqual([...new Set(unknown)], [], file)
  }
})

test('the dashboard is a valid document, and every panel has a query and a place of its own', () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
    panels: Array<{ title: string; gridPos: { x: number; y: number }; targets: Array<{ expr: string }> }>
  }
  assert.ok(panels.length >= 10)
  for (const { title, targets } of panels)
    assert.ok(
      targets.every(({ expr }) => expr !== ''),
      title,
    )
  assert.equal(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size, panels.length)
})

test('health and readiness also have the names that orchestrators use', async t => {
  const service = await startInProcess(t)
  const guest = service.visitor()
  for (const [one, other] of [
    ['healthz', 'management/health'],
    ['readyz', 'management/ready'],
  ] as const)
    assert.deepEqual((await guest.get(one)).json(), (await guest.get(other)).json())
})

test('every counter that an alarm names exists from the start, so that its first increase counts', async t => {
  const service = await startInProcess(t)
  const { text } = await (await service.admin()).get('management/metrics')
  const counters = [...read('prometheus-rules.yaml').matchAll(/stowage_\w+_total\{[^}]*\}/g)].map(([series]) => series)
  assert.ok(counters.length >= 4)
  for (const series of counters) assert.match(text, new RegExp(`^${series} 0$`, 'm'), series)
})
