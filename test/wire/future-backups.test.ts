import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import { loadSettings } from '../../src/config/load.ts'
import { openBackupTarget } from '../../src/features/backups/backup-target.ts'
import { listGenerations, writeManifest } from '../../src/features/backups/generations.ts'
import { manifestKey } from '../../src/features/backups/manifest-key.ts'
import { withBackupSettings } from '../../src/features/backups/settings.ts'
import { sql } from '../../src/stores/sql.ts'
import { filledStore, fsckIsClean, metric, place, succeeded, timesIn } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { startProcess } from '../support/service.ts'
import { newDatabase, openDatabaseOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const DAY = 86_400_000
const defaults = withBackupSettings(loadSettings({ file: undefined, overrides: [] }).settings)

const scheduled = (target: string, schedule = '0 0 29 2 *') => ({
  'service.data.quota': 'on',
  'service.backup.schedule': schedule,
  'service.backup.target': target,
  'service.backup.keep': '1d',
})

type MadeBy = 'this store' | 'another store'

interface Clock {
  /** How far it was ahead, or behind if it is behind now. */
  readonly days: number
  readonly madeBy?: MadeBy
  /** Whether the backup that the right clock has dated stays. */
  readonly keepsRight?: boolean
}

/** A stopped store with a backup, and with one that a wrong clock has dated. */
async function withWrongClock(
  t: Parameters<typeof filledStore>[0],
  { days, madeBy = 'this store', keepsRight = true }: Clock,
) {
  const { folder } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const service = await startProcess(t, { folder, settings: scheduled(target) })
  await service.prints(/a backup was proven/)
  await service.stop()
  const opened = await openBackupTarget(defaults, target)
  const database = await openDatabaseOf(folder)
  const [listed] = (await listGenerations(opened)).generations
  assert.ok(listed)
  const { generation } = listed
  const time = realSystem.now() + days * DAY
  const created = new Date(time).toISOString()
  const isOwn = madeBy === 'this store'
  const signing = await manifestKey(isOwn ? database : await newDatabase({ after }), realSystem)
  const store = isOwn ? generation.store : '2020-01-01T00:00:00.000Z'
  const { signal } = new AbortController()
  await writeManifest(opened, { ...generation, created, store }, { system: realSystem, signal, signing })
  if (isOwn)
    await database.run(sql`INSERT INTO backup_runs (started, renewed, finished, bytes, place)
      VALUES (${time}, ${time}, ${time}, 1, ${target})`)
  if (!keepsRight) await opened.manifests.delete(listed.key)
  const key = (await listGenerations(opened)).generations.find(one => one.generation.created === created)?.key ?? ''
  await database.close()
  await opened.close()
  const here = await place(folder)
  const sets = Object.entries(scheduled(target)).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const run = (...command: string[]) => stowage('/', [...command, ...here, ...sets])
  return {
    folder,
    target,
    run,
    right: generation.created,
    future: created,
    manifest: opened.pathOf('generations', key),
  }
}

for (const madeBy of ['this store', 'another store'] as const) {
  test(`a backup of the future, of ${madeBy}, is never the last good one, and is named until its manifest is away (D20.25)`, async t => {
    const { folder, target, run, right, future, manifest } = await withWrongClock(t, { days: 800, madeBy })
    const list = succeeded(await run('backup', 'list', target))
    const remark = `its time is in the future: the clock of this machine is wrong, or was wrong when the backup was made; in the latter case, move its manifest ${manifest} away, which gives up this backup`
    assert.ok(list.includes(`; ${remark}`), list)
    const good = `The last good backup is of ${right}, if the clock of this machine is right: stowage restore ${target} --at ${right}\n`
    assert.ok(list.endsWith(`\n${good}`), list)

    const doctor = await run('doctor')
    assert.equal(doctor.status, 1)
    assert.match(
      doctor.stdout,
      /^problem: backups: 1 backup is of the future: the clock of this machine says that it is \S+Z\. Set the clock if it is wrong\. /m,
    )
    assert.ok(doctor.stdout.includes(`and move out of their place: ${manifest}\n`), doctor.stdout)
    assert.doesNotMatch(doctor.stdout, /accept/)

    const restored = await temporaryFolder()
    const restore = async (...at: string[]) => stowage('/', ['restore', target, ...at, ...(await place(restored))])
    const refused = await restore()
    assert.deepEqual([refused.status, refused.stdout], [1, ''])
    assert.equal(
      refused.stderr,
      `stowage: The newest backup, of ${future}, is of the future: the clock of this machine is wrong, or was wrong when the backup was made. ` +
        `Restore the newest that is not of the future with --at ${right} (5 files), or the newest of all with --at ${future} (5 files).\n`,
    )
    succeeded(await restore('--at', right))
    await fsckIsClean(restored)

    assert.match(succeeded(await run('backup', 'verify', target)), new RegExp(`^The backup of ${right}: 5 files`, 'm'))
    assert.equal(succeeded(await run('backup', 'accept', target)), `There is nothing to accept in ${target}.\n`)

    const service = await startProcess(t, { folder, settings: scheduled(target, '* * * * * *') })
    const newest = async () => (await timesIn(target)).find(time => time < future) ?? ''
    await eventually('a backup', async () => (await newest()) > right)
    const first = await newest()
    await eventually('older backups of this service are removed', async () => {
      const times = await timesIn(target)
      return times.length > 2 && !times.includes(first)
    })
    assert.equal(await metric(service, 'backup_failed'), 0)
    assert.equal(await metric(service, 'backup_proof_failed'), 0)
    const admin = await service.admin()
    const page = (await admin.get('management/backups')).json<{
      readonly lastGood?: string
      readonly generations: ReadonlyArray<{ readonly created: string; readonly doubt?: string }>
    }>()
    assert.ok(page.lastGood !== undefined && page.lastGood < future)
    assert.equal(page.generations[0]?.doubt, remark)
    await service.stop()
    assert.ok((await timesIn(target)).includes(future))
    const later = (await run('doctor')).stdout
    assert.doesNotMatch(later, /another store|does not remember/)
  })
}

test('while the clock is behind, all backups stay, and each message says that it may be the clock (D20.25)', async t => {
  const clock = { days: 800, keepsRight: false }
  const { folder, target, run, future } = await withWrongClock(t, clock)
  const back = `All backups in ${target} are of the future: the clock of this machine was probably set back. Set it first.`
  const list = succeeded(await run('backup', 'list', target))
  assert.ok(list.endsWith(`\n${back}\n`), list)
  assert.deepEqual(await run('backup', 'accept', target), { status: 1, stdout: '', stderr: `stowage: ${back}\n` })
  const restored = await temporaryFolder()
  const refused = await stowage('/', ['restore', target, ...(await place(restored))])
  assert.deepEqual(refused, {
    status: 1,
    stdout: '',
    stderr: `stowage: ${back} Or restore the newest with --at ${future} (5 files).\n`,
  })
  assert.match((await run('doctor')).stdout, /^problem: backups: 1 backup is of the future: /m)
  const service = await startProcess(t, { folder, settings: scheduled(target, '* * * * * *') })
  await service.prints(/a backup was proven/)
  await service.stop()
  assert.ok((await timesIn(target)).includes(future))
  succeeded(await run('backup', 'verify', target, '--at', future))
})
