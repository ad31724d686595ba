import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { backupMetrics } from '../../src/features/backups/metrics.ts'
import { scrubMetrics } from '../../src/features/scrub/metrics.ts'
import { virusScanMetrics } from '../../src/features/virus-scan/metrics.ts'
import { storageMetrics } from '../../src/features/monitoring/metrics.ts'
import { type Measured, Metrics } from '../../src/http/metrics.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { repository } from '../support/service.ts'

const measured: Measured = {
  audit: { counts: new Map([['login', 1]]) },
  files: { taken: { count: 1, bytes: 1 } },
  disk: { free: 1, size: 2, state: 'ok' },
  catchUp: { isComplete: true },
  passwords: { load: { running: 1, waiting: 1 } },
  sessions: { count: async () => 1 },
  system: new FakeSystem(),
}

/** Each metric, with its labels. */
async function registered(): Promise<ReadonlyMap<string, string>> {
  const metrics = new Metrics(measured)
  const runs = { report: async () => ({ ended: undefined, made: undefined, checked: undefined, proven: undefined }) }
  const storageUsage = {
    measure: async () => ({
      total: 1,
      contexts: [{ context: '1', used: 1 }],
      filled: [{ percent: 80, count: 1 }],
    }),
  }
  const scrubber = { report: async () => ({ unverified: 1, missing: 1, damaged: 1 }) }
  const virusScan = { counts: { clean: 1, infected: 0, 'too-large': 0, failed: 0 } }
  const ofFeatures = [
    ...backupMetrics(runs, measured.system, { proves: true }),
    ...scrubMetrics(scrubber),
    ...storageMetrics(storageUsage),
    ...virusScanMetrics(virusScan),
  ]
  for (const metric of ofFeatures) metrics.add(metric)
  metrics.answered({ method: 'GET', route: '/', status: 200, seconds: 1 })
  metrics.refused('not-found')
  const text = await metrics.render()
  const names = [...text.matchAll(/^# TYPE (stowage_\S+)/gm)].map(([, name = '']) => name)
  const labelsOf = (name: string): string => {
    const [, labels = ''] =
      new RegExp(`^${name}(?:_bucket)?(?:\\{(.*)\\})? `, 'm').exec(text) ?? assert.fail(`${name} has no value`)
    return [...labels.matchAll(/(\w+)="/g)]
      .map(([, label = '']) => label)
      .filter(label => label !== 'le')
      .sort()
      .join()
  }
  return new Map(names.map(name => [name, labelsOf(name)]))
}

/** The same of the table in docs/reference/metrics-and-logs.md. */
function documented(): ReadonlyMap<string, string> {
  const page = readFileSync(join(repository, 'docs/reference/metrics-and-logs.md'), 'utf8')
  const namesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  return new Map(
    [...page.matchAll(/^\| (`stowage_[^|]+)\|([^|]*)\|/gm)].flatMap(([, names = '', labels = '']) =>
      namesIn(names).map(name => [name, namesIn(labels).sort().join()] as const),
    ),
  )
}

test('the table of metrics in docs/reference/metrics-and-logs.md has every metric of the service with its labels, and no other', async () => {
  const found = await registered()
  assert.ok(found.size > 15, 'the metrics were not found')
  assert.deepEqual(Object.fromEntries(documented()), Object.fromEntries(found))
})
