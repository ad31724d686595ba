import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { type Peer, requirePeer } from '../support/peers/peer.ts'
import { repository } from '../support/service.ts'
import { shipped } from '../support/shipped.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = '/usr/bin/promtool'
const promtool: Peer = { name: 'promtool of Prometheus', available: () => existsSync(program) }

/** A series, and its values each minute: of one that fires the alarm at the end of them, and of one that does not. */
type Series = readonly [series: string, fires: string, silent: string]

const series: Readonly<Record<string, Series>> = {
  StowageDown: ['up', '0x20', '0x3 1x17'],
  StowageDiskNotOk: ['stowage_disk_state{state="ok"}', '1x5 0x15', '0x15 1x5'],
  StowageFilesDamaged: ['stowage_files_by_verification{state="damaged"}', '0x19 1', '0x20'],
  // The first burst after a start counts: the counter was there before, with 0.
  StowageDatabaseDamaged: ['stowage_refusals_total{code="store-damaged"}', '0x18 1x2', '3x20'],
  StowageInternalErrors: ['stowage_refusals_total{code="internal-error"}', '0x18 1x2', '3x20'],
  StowageStoreDown: ['stowage_refusals_total{code="store-unavailable"}', '0x15 30x5', '0x15 5x5'],
  StowageOverloaded: ['stowage_refusals_total{code="overloaded"}', '0x15 30x5', '0x15 5x5'],
  StowageManyWrongPasswords: ['stowage_audit_events_total{event="login-failed"}', '0x15 300x5', '0x15 50x5'],
  StowagePasswordQueue: ['stowage_password_checks{state="waiting"}', '0x19 21', '20x20'],
  StowageBackupFailed: ['stowage_backup_failed', '0x19 1', '1x19 0'],
  StowageBackupOld: ['stowage_backup_age_seconds', '129601x90', '129600x90'],
  StowageBackupProofFailed: ['stowage_backup_proof_failed', '0x19 1', '1x19 0'],
  // The time of the test begins with 0.
  StowageBackupNotProven: ['stowage_backup_proven_timestamp_seconds', '-172801x90', '-160000x90'],
  StowageContextFull: ['stowage_contexts_filled{percent="100"}', '0x19 1', '0x20'],
}

interface Rules {
  readonly groups: ReadonlyArray<{
    readonly rules: ReadonlyArray<{ readonly alert: string; readonly expr: string; readonly annotations: object }>
  }>
}

test('each alarm fires for the series that it is about, and for no other', async t => {
  if (!requirePeer(t, promtool)) return
  const { groups } = parse(await shipped('prometheus-rules.yaml')) as Rules
  const rules = groups.flatMap(({ rules }) => rules)
  assert.deepEqual(
    rules.map(({ alert }) => alert),
    Object.keys(series),
  )
  const tests = rules.flatMap(({ alert, expr, annotations }) => {
    const [name = '', fires = '', silent = ''] = series[alert] ?? []
    const [metric = '', labels = ''] = name.split(/[{}]/)
    const own: Record<string, string> = {
      job: 'stowage',
      ...Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value])),
    }
    const written = Object.entries(own).map(([key, value]) => `${key}="${value}"`)
    const kept = expr.startsWith('sum(') ? {} : own
    return [fires, silent].map(values => ({
      interval: '1m',
      input_series: [{ series: `${metric}{${written.join(',')}}`, values }],
      alert_rule_test: [
        {
          eval_time: fires.endsWith('x90') ? '90m' : '20m',
          alertname: alert,
          exp_alerts: values === fires ? [{ exp_labels: kept, exp_annotations: annotations }] : [],
        },
      ],
    }))
  })
  const file = join(await temporaryFolder(), 'tests.yaml')
  const rulesFile = join(repository, 'deploy/prometheus-rules.yaml')
  await writeFile(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }))
  const { stdout } = await promisify(execFile)(program, ['test', 'rules', file])
  assert.match(stdout, /SUCCESS/)
})
