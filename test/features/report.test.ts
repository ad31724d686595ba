import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ok, problem } from '../../src/core/check-result.ts'
import { reportOf, withoutNames } from '../../src/features/diagnostics/report.ts'
import { stowage } from '../support/cli.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const setting = (key: string, value: string, origin: 'file' | 'default' = 'file') => ({
  key,
  value,
  origin,
  isSet: true,
  area: '',
  meaning: '',
})

test('a report has versions, changed settings and findings, and names nobody', () => {
  const lines = reportOf({
    version: '0.1.0',
    commit: '0123abc',
    settings: [
      setting('service.http.port', '8080', 'default'),
      setting('service.data.quota', 'on'),
      setting('service.data.quota.default', '5g'),
      setting('service.baseurl.folder', 'https://store.example/'),
      setting('service.smtp.password', '********'),
    ],
    findings: [
      problem('test', 'https://store.example/ does not answer: 192.0.2.1 refuses'),
      ok('test', 'data folder: /srv/anna/store, mails to anna@example.org'),
    ],
  })
  assert.match(lines[0] ?? '', /^Stowage 0\.1\.0 \(commit 0123abc\)$/)
  assert.deepEqual(lines.slice(3, 7), [
    'service.data.quota = on   # file',
    'service.data.quota.default = 5g   # file',
    'service.baseurl.folder = (set)   # file',
    'service.smtp.password = (set)   # file',
  ])
  assert.doesNotMatch(lines.join('\n'), /store\.example|192\.0\.2|anna|\/srv|\*\*/)
  assert.match(lines.join('\n'), /https:\/\/… does not answer: … refuses/)
})

test('names of settings stay in a report', () => {
  assert.equal(
    withoutNames('set service.data.folder (service.http.port=80)'),
    'set service.data.folder (service.http.port=80)',
  )
  assert.equal(withoutNames('host db.example: refused'), 'host …: refused')
})

test('doctor --report prints a report', async () => {
  const folder = await temporaryFolder()
  const { status, stdout } = await stowage(folder, [
    'doctor',
    '--report',
    '--set',
    `service.data.folder=${folder}`,
    '--set',
    'service.auth.adminpw=Very-Secret-12',
  ])
  assert.ok(status === 0 || status === 1)
  assert.match(stdout, /^Stowage \d+\.\d+\.\d+/)
  assert.match(stdout, /^service\.auth\.adminpw = \(set\)/m)
  assert.ok(!stdout.includes(folder) && !stdout.includes('Very-Secret'), stdout)
})
