import assert from 'node:assert/strict'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { filledStore, metric, place, succeeded, timesIn } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { newEntry, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

test('a service on an old copy of its data folder says so at each backup, and accepting it names what it lacks (D20.25)', async t => {
  if (onPostgres) return t.skip('the rows are not in the data folder')
  const { folder, contents } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const settings = (schedule = '0 0 29 2 *') => ({
    'service.data.quota': 'on',
    'service.backup.schedule': schedule,
    'service.backup.target': target,
  })
  const first = await startProcess(t, { folder, settings: settings() })
  await first.prints(/a backup was proven/)
  await first.stop()
  const copy = await temporaryFolder()
  await cp(folder, copy, { recursive: true })
  const filling = await startProcess(t, { folder })
  const admin = await filling.admin()
  await putFile(admin, `${contents.context}/resource/${await newEntry(admin, contents.context)}`, 'later')
  await filling.stop()
  const second = await startProcess(t, { folder, settings: settings('* * * * * *') })
  await second.prints(/"files":6,.*a backup was made/)
  await second.stop()
  const [later = ''] = await timesIn(target)

  const sets = Object.entries(settings()).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const run = async (...command: string[]) => stowage('/', [...command, ...(await place(copy)), ...sets])
  const sentence =
    `A later backup of this store, of ${later} with 6 files, is in ${target}, and this data folder does not remember it: the folder may be an old copy. Is its disk mounted? ` +
    `If the store has lost nothing, run \`stowage backup accept ${target}\``
  const before = (await run('doctor')).stdout
  assert.ok(before.includes(`\nproblem: backups: ${sentence}\n`), before)
  const refused = await run('backup', 'accept', target)
  assert.match(
    refused.stderr,
    /^stowage: The newest backup in \S+, of \S+, is one of this store that this data folder does not remember/,
  )

  const service = await startProcess(t, { folder: copy, settings: settings('* * * * * *') })
  await eventually('the alarm', async () => (await metric(service, 'backup_failed')) === 1)
  assert.ok(service.output().includes(`"problem":"The backup was made. ${sentence}."`), service.output())
  await eventually('a backup of the copy', async () => ((await timesIn(target))[0] ?? '') > later)
  await service.stop()
  const doctor = (await run('doctor')).stdout
  assert.ok(doctor.includes(`\nproblem: backups: ${sentence}\n`), doctor)
  assert.doesNotMatch(doctor, /another store/)
  const list = succeeded(await run('backup', 'list', target))
  assert.match(
    list,
    new RegExp(`^${later} .*; this store has made it, and this data folder does not remember it: it stays until`, 'm'),
  )

  const accepted = succeeded(await run('backup', 'accept', target))
  assert.match(
    accepted,
    /^The newest backup is accepted, and so (is|are) \d+ backups? of other stores, or of this one before a restore\. /,
  )
  const larger = new RegExp(
    `The backup of ${later} has more: 6 files and \\d+ entries instead of 5 files and \\d+ entries\\. Restore from there what you miss, before the next backup\\. `,
  )
  assert.match(accepted, larger)
  const again = await startProcess(t, { folder: copy, settings: settings('* * * * * *') })
  await again.prints(/a backup was proven/)
  assert.equal(await metric(again, 'backup_failed'), 0)
  await again.stop()
  assert.doesNotMatch((await run('doctor')).stdout, /does not remember/)
  return undefined
})
