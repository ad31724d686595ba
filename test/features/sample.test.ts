import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { JOBS_INTERVAL } from '../../src/base/scheduled-jobs.ts'
import { features } from '../../src/features/features.ts'
import { sample } from '../support/sample/feature.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

features.push(sample)

// Loaded afterwards, because the program collects what features declare when it is loaded.
const { runChecks } = await import('../../src/assembly/doctor.ts')
const { requireUsable } = await import('../../src/assembly/usable-settings.ts')
const { loadSettings } = await import('../../src/config/load.ts')
const { startInProcess } = await import('../support/service.ts')

const settings = { 'service.sample.strokes': '3' }

test('a feature of one folder, registered with one line, has a setting, a table, a route, a metric and a job', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const service = await startInProcess(t, { settings })
  const admin = await service.admin()
  const ringing = async (): Promise<string | undefined> =>
    /^stowage_bells_ringing (\d+)$/m.exec((await admin.get('management/metrics')).text)?.[1]

  assert.equal(await ringing(), '0')
  const answer = await admin.post('bells/one')
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.json(), { strokes: 3 })
  assert.equal((await service.visitor().post('bells/two')).status, 401)
  assert.equal(await ringing(), '1')

  t.mock.timers.tick(JOBS_INTERVAL)
  while ((await ringing()) !== '0') continue
  assert.match((await admin.get('openapi.json')).text, /"ringBell"/)
})

test('a feature that its setting switches off has no routes, metrics and checks', async t => {
  const service = await startInProcess(t)
  const admin = await service.admin()
  assert.equal((await admin.post('bells/one')).status, 404)
  assert.doesNotMatch((await admin.get('management/metrics')).text, /bells/)
  assert.doesNotMatch((await admin.get('openapi.json')).text, /ringBell/)
})

test('doctor checks a feature that is on', async () => {
  const find = async (overrides: readonly string[]): Promise<readonly string[]> => {
    const checked = { ...loadSettings({ overrides }), file: undefined, tokenKey: undefined, version: '0' }
    return (await runChecks(checked)).map(({ text }) => text).filter(text => text.startsWith('bells'))
  }
  assert.deepEqual(await find(['service.sample.strokes=3']), ['bells: 3 strokes'])
  assert.deepEqual(await find([]), [])
})

test('settings of a feature may contradict each other, and name a file that cannot be used', async () => {
  const file = join(await temporaryFolder(), 'melody')
  const load = (strokes: number) =>
    loadSettings({ overrides: [`service.sample.strokes=${strokes}`, `service.sample.melody-file=${file}`] }).settings
  const check = async (strokes: number): Promise<void> => await requireUsable(load(strokes), {})
  assert.throws(() => load(1), {
    message: `a melody needs more than one stroke (service.sample.melody-file=${file}, service.sample.strokes=1)`,
  })
  await assert.rejects(check(2), { message: `${file} cannot be read.` })
  await check(0)
  await writeFile(file, 'ding')
  await check(2)
})
