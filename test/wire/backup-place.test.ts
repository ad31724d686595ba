import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, chown, cp, mkdir, readdir, readFile, rename, rm, rmdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { backUp, metric, place, succeeded, timesIn } from '../support/backups.ts'
import { type Run, stowage } from '../support/cli.ts'
import { startProcess } from '../support/service.ts'
import { smallDisk } from '../support/small-disk.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const nobody = { uid: 65534, gid: 65534 }
const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const isRoot = process.getuid?.() === 0

/** A folder that each user may enter. */
async function openFolder(): Promise<string> {
  const folder = await temporaryFolder()
  await chmod(folder, 0o755)
  return folder
}

/** A stopped store. */
const stopped = await startProcess({ after })
await stopped.stop()

const failsWith = ({ status, stdout, stderr }: Run, message: string): void =>
  assert.deepEqual({ status, stdout, stderr }, { status: 1, stdout: '', stderr: `stowage: ${message}\n` })

const scheduled = (target: string) => ({
  'service.backup.schedule': '0 0 29 2 *',
  'service.backup.target': target,
})
const sets = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])

test('each command says that there is no such place, or that it is no folder, and makes nothing (D20.6)', async () => {
  const parent = await temporaryFolder()
  const gone = join(parent, 'gone')
  const file = join(parent, 'file')
  await writeFile(file, '')
  const into = await place(await temporaryFolder())
  for (const command of [['backup', 'list'], ['backup', 'verify'], ['backup', 'accept'], ['restore']]) {
    failsWith(
      await stowage('/', [...command, gone, ...into]),
      `There is no folder ${gone}. Is the disk that it is on mounted?`,
    )
    const noFolder = await stowage('/', [...command, file, ...into])
    assert.equal(noFolder.status, 1)
    assert.match(
      noFolder.stderr,
      new RegExp(`^stowage: The folder ${file} cannot be read: .*is a file, not a folder\\.$`, 'm'),
    )
  }
  assert.deepEqual(await readdir(parent), ['file'])
})

test('a target that is a file, or below one, is refused by config check and the start, and a missing one is not (D20.6)', async () => {
  const parent = await temporaryFolder()
  const file = join(parent, 'file')
  await writeFile(file, '')
  const run = async (command: string[], target: string): Promise<Run> =>
    await stowage(parent, [...command, ...sets({ ...scheduled(target), 'service.http.port': '0' })])
  for (const target of [file, join(file, 'below')]) {
    const message = `stowage: service.backup.target: ${target} cannot be the folder of the backups: ${file} is a file.\n`
    for (const [command, status] of [[['config', 'check'], 1] as const, [['serve'], 78] as const])
      assert.deepEqual(await run([...command], target), { status, stdout: '', stderr: message })
  }
  succeeded(await run(['config', 'check'], join(parent, 'gone/backups')))
  assert.deepEqual(await readdir(parent), ['file'])
})

test('each command names the user of a place that it may not read, and what to do (D20.6)', async t => {
  if (!isRoot) return t.skip('only root can give files to another user')
  const parent = await openFolder()
  const target = join(parent, 'target')
  await mkdir(join(target, 'generations'), { recursive: true })
  const byHand = join(parent, 'by-hand')
  succeeded(await backUp(stopped.folder, byHand))
  const into = await openFolder()
  await chown(into, nobody.uid, nobody.gid)
  const settings = ['--set', `service.data.folder=${into}`]
  const refusal = (folder: string, blocked: string, mode: string, command: string): string =>
    `The folder ${folder} cannot be used: ${blocked} belongs to root (mode ${mode}), and this user has no permission. If this user runs the service, run as root: ${command}`
  const commands = [['backup', 'list'], ['backup', 'verify'], ['restore']]
  for (const command of commands) {
    const run = (folder: string) => stowage('/', [...command, folder, ...settings], {}, nobody)
    await chmod(target, 0o700)
    failsWith(await run(target), refusal(target, target, '0700', `chown -R nobody: ${target}`))
    failsWith(await run(byHand), refusal(byHand, byHand, '0700', `chown -R nobody: ${byHand}`))
    await chmod(target, 0o755)
    await chmod(join(target, 'generations'), 0o700)
    const { status, stderr } = await run(target)
    assert.equal(status, 1)
    assert.match(stderr, /belongs to root .*this user has no permission/)
    await chmod(parent, 0o700)
    failsWith(await run(target), refusal(target, parent, '0700', `chmod a+x ${parent}`))
    await chmod(parent, 0o755)
  }
  await chmod(byHand, 0o755)
  await chmod(join(byHand, 'manifest.json'), 0o644)
  const rows = (await readdir(byHand)).find(name => name.startsWith('rows-')) ?? ''
  for (const command of [['backup', 'verify'], ['restore']])
    failsWith(
      await stowage('/', [...command, byHand, ...settings], {}, nobody),
      refusal(byHand, join(byHand, rows), '0700', `chown -R nobody: ${byHand}`),
    )
  await chmod(join(byHand, 'manifest.json'), 0o600)
  failsWith(
    await stowage('/', ['backup', 'list', byHand], {}, nobody),
    refusal(byHand, join(byHand, 'manifest.json'), '0600', `chown -R nobody: ${byHand}`),
  )
  return undefined
})

test('a service whose target belongs to root says so in doctor, with the command that gives it the folder (D20.6)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (!isRoot) return t.skip('only root can give files to another user')
  const parent = await openFolder()
  const [present, absent] = [join(parent, 'present'), join(parent, 'absent')]
  const below = join(absent, 'below')
  await mkdir(present, { mode: 0o755 })
  const blocked = `${present} belongs to root (mode 0755), and this user has no permission`
  for (const [target, text] of [
    [
      present,
      `The folder ${present} is empty. Is its disk mounted? The folder ${present} cannot be used: ${blocked}. If this user runs the service, run as root: chown -R nobody: ${present}`,
    ],
    [
      absent,
      `There is no folder ${absent}. Is the disk that it is on mounted? If the folder is new and this user runs the service, run as root: install -d -o nobody -m 0700 ${absent}`,
    ],
    [
      below,
      `There is no folder ${below}. Is the disk that it is on mounted? If the folder is new and this user runs the service, run as root: install -d -o nobody -m 0700 ${below}`,
    ],
  ] as const) {
    const folder = await openFolder()
    await chown(folder, nobody.uid, nobody.gid)
    const settings = scheduled(target)
    const service = await startProcess(t, { folder, settings, tracer: asNobody })
    await service.prints(/a scheduled backup had a problem/)
    await service.stop()
    const { stdout } = await stowage('/', ['doctor', ...(await place(folder)), ...sets(settings)], {}, nobody)
    assert.ok(stdout.includes(`\nproblem: backups: the last one failed. ${text}\n`), stdout)
  }
  return undefined
})

test('a read-only place is named as such, with what allows a unit to write to it (D20.6)', async t => {
  const disk = await smallDisk(t, 2 ** 24)
  if (disk === undefined) return
  const target = join(disk, 'target')
  const service = await startProcess(t, { folder: stopped.folder, settings: scheduled(target) })
  await service.prints(/a backup was made/)
  await service.stop()
  const byHand = join(disk, 'by-hand')
  succeeded(await backUp(stopped.folder, byHand))
  await mkdir(join(disk, 'empty'))
  execFileSync('mount', ['-o', 'remount,ro', disk])
  const hint = 'is read-only here. A systemd unit may write only to the folders that it names in ReadWritePaths.'
  for (const folder of [byHand, join(disk, 'empty')]) {
    const { status, stderr } = await backUp(stopped.folder, folder)
    assert.equal(status, 1)
    assert.equal(stderr, `stowage: ${folder} ${hint}\n`)
  }
  const absent = join(disk, 'absent')
  const question = `There is no folder ${absent}. Is the disk that it is on mounted? The folder ${absent} cannot be made: ${disk} ${hint}`
  assert.equal((await backUp(stopped.folder, absent)).stderr, `stowage: ${question}\n`)
  const again = await startProcess(t, {
    folder: stopped.folder,
    settings: { ...scheduled(target), 'service.backup.schedule': '* * * * * *' },
  })
  await eventually('a backup fails', async () => again.output().includes(`${target} ${hint}`))
  await again.stop()
})

test('doctor names a place of backups that has gone or was closed after a good backup, as the service would find it (D20.6)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (!isRoot) return t.skip('only root can give files to another user')
  const parent = await openFolder()
  const target = join(parent, 'target')
  await mkdir(target)
  await chown(target, nobody.uid, nobody.gid)
  const folder = await openFolder()
  await chown(folder, nobody.uid, nobody.gid)
  const settings = scheduled(target)
  const service = await startProcess(t, { folder, settings, tracer: asNobody })
  await service.prints(/a backup was made/)
  await service.stop()
  const doctor = async () => await stowage('/', ['doctor', ...(await place(folder)), ...sets(settings)], {}, nobody)
  const problems = async () => (await doctor()).stdout.split('\n').filter(line => line.startsWith('problem: backups'))
  assert.deepEqual(await problems(), [])
  await chmod(join(target, 'generations'), 0)
  const [inside = '', ...more] = await problems()
  assert.match(inside, /^problem: backups: The folder \S+ cannot be used: \S+\/generations belongs to .* \(mode 0000\)/)
  assert.deepEqual(more, [])
  await chmod(join(target, 'generations'), 0o700)
  await chmod(target, 0)
  const closed = `problem: backups: The folder ${target} cannot be used: ${target} belongs to the user nobody (mode 0000), and this user has no permission. If this user runs the service, run as root: chmod -R u+rwX ${target}`
  assert.deepEqual(await problems(), [closed])
  await rename(target, `${target}-elsewhere`)
  // The empty folder that an unmounted disk leaves.
  await mkdir(target, { mode: 0o755 })
  const [unmounted = '', ...others] = await problems()
  assert.ok(
    unmounted.startsWith(
      `problem: backups: The folder ${target} is empty. Is its disk mounted? The folder ${target} cannot`,
    ),
    unmounted,
  )
  assert.deepEqual(others, [])
  await rmdir(target)
  const gone = `problem: backups: There is no folder ${target}. Is the disk that it is on mounted?`
  assert.deepEqual(await problems(), [gone])
  await chown(join(folder, 'store.sqlite'), 0, 0)
  const { status, stdout } = await doctor()
  assert.equal(status, 1)
  assert.match(stdout, /^problem: store: The store in .* cannot be opened: .*chown -R nobody: /m)
  return undefined
})

test('doctor says what is wrong in the place of the last backup: nothing in it, or a manifest that was damaged, changed or closed (D20.25)', async t => {
  const target = await temporaryFolder()
  const service = await startProcess(t, { settings: scheduled(target) })
  await service.prints(/a backup was made/)
  await service.stop()
  const { folder } = service
  const problems = async (): Promise<string[]> => {
    const { stdout } = await stowage('/', ['doctor', ...(await place(folder)), ...sets(scheduled(target))])
    return stdout.split('\n').filter(line => line.startsWith('problem: backups'))
  }
  assert.deepEqual(await problems(), [])
  const generations = join(target, 'generations')
  const [file] = (await readdir(generations, { recursive: true, withFileTypes: true })).filter(one => one.isFile())
  const manifest = join(file?.parentPath ?? '', file?.name ?? '')
  const text = await readFile(manifest, 'utf8')
  for (const garbage of [
    '',
    'x',
    'null',
    '{"format":"stowage-generation","version":1}',
    text.replace(/"created": "/, '$&x'),
  ]) {
    await writeFile(manifest, garbage)
    assert.deepEqual(
      await problems(),
      [`problem: backups: The manifest ${manifest} is damaged, or of another version.`],
      garbage,
    )
  }
  await writeFile(manifest, text.replace('"program": "', '$&x'))
  const [changed = '', ...more] = await problems()
  assert.match(
    changed,
    /^problem: backups: The manifest of the backup of \S+ \(\S+\) was changed after it was signed\.$/,
  )
  assert.deepEqual(more, [])
  await writeFile(manifest, text)

  const { created } = JSON.parse(text) as { readonly created: string }
  const gone = `problem: backups: The backup of ${created} is no longer in ${target}. Is its disk mounted?`
  await rename(generations, join(target, 'moved'))
  assert.deepEqual(await problems(), [gone])
  assert.deepEqual((await readdir(target)).sort(), ['blobs', 'moved'], 'doctor makes nothing')
  await rm(join(target, 'blobs'), { recursive: true })
  await rm(join(target, 'moved'), { recursive: true })
  assert.deepEqual(await problems(), [gone])
  assert.deepEqual(await readdir(target), [])
})

/** A service whose backups lie in a folder that is put away and back, as a disk that is mounted and not mounted. */
async function unmountable(t: Parameters<typeof startProcess>[0], more: Readonly<Record<string, string>> = {}) {
  const parent = await temporaryFolder()
  const target = join(parent, 'target')
  const settings = { ...scheduled(target), ...more }
  const first = await startProcess(t, { settings })
  await first.prints(/a backup was made/)
  await first.stop()
  const { folder } = first
  const [created = ''] = await timesIn(target)
  const start = () => startProcess(t, { folder, settings: { ...settings, 'service.backup.schedule': '* * * * * *' } })
  const run = async (...command: string[]): Promise<string> =>
    (await stowage('/', [...command, ...(await place(folder)), ...sets(scheduled(target))])).stdout
  return { parent, target, created, start, run }
}

test('while the last backup is not in its place each backup fails, and doctor, the page and the list say so, until it is there again (D20.25)', async t => {
  const { parent, target, created, start, run } = await unmountable(t)
  await rename(target, join(parent, 'unmounted'))
  await mkdir(target)
  const service = await start()
  const gone = `The backup of ${created} is no longer in ${target}. Is its disk mounted?`
  // The folder has none yet when the first one is made.
  await eventually('the problem is told', async () =>
    service.output().includes(`"problem":"The backup was made. ${gone}"`),
  )
  const more = `${gone} If it is lost for good, run \`stowage backup accept ${target}\`.`
  await eventually('it is told again', async () =>
    service.output().includes(`"problem":"The backup was made. ${more}"`),
  )
  assert.equal(await metric(service, 'backup_failed'), 1)
  const admin = await service.admin()
  const page = (await admin.get('management/backups')).json<{ placeProblem?: string }>()
  assert.equal(page.placeProblem, more)
  await service.stop()
  const failed = `\nproblem: backups: the last one failed. The backup was made. ${more}\n`
  const doctor = await run('doctor')
  assert.ok(doctor.includes(failed), doctor)
  assert.equal(doctor.split(gone).length, 2, 'it is told once')
  const list = await run('backup', 'list', target)
  assert.match(list, /\n[^\n]+ is no longer in [^\n]+\nThe last good backup is of [^\n]+\n$/)
  assert.ok(list.includes(`\n${more}\n`), list)

  await rename(target, join(parent, 'hidden'))
  await rename(join(parent, 'unmounted'), target)
  const back = `\nwarning: backups: ${target} has the backup of ${created} again. Restart the service, which then makes one there\n`
  assert.ok((await run('doctor')).includes(back))
  const again = await start()
  await eventually('the alarm ends', async () => (await metric(again, 'backup_failed')) === 0)
  await again.stop()
  assert.doesNotMatch(await run('doctor'), /^(problem|warning): backups/m)
  assert.doesNotMatch(await run('backup', 'list', target), /no longer/)
})

test('a backup that is gone for good is no alarm once that is accepted, but the next one that is gone is (D20.25)', async t => {
  const { parent, target, created, start, run } = await unmountable(t)
  await rename(target, join(parent, 'lost'))
  const service = await start()
  await eventually('the alarm', async () => (await metric(service, 'backup_failed')) === 1)
  await service.stop()
  const accepted = `It is accepted that the backup of ${created} is no longer in ${target}.`
  assert.equal(await run('backup', 'accept', target), `${accepted}\n`)
  assert.equal(await run('backup', 'accept', target), `There is nothing to accept in ${target}.\n`)
  const again = await start()
  await eventually('the alarm ends', async () => (await metric(again, 'backup_failed')) === 0)
  await again.stop()
  assert.doesNotMatch(await run('doctor'), /^(problem|warning): backups/m)
  // The next disk that is not mounted.
  await rename(target, join(parent, 'unmounted'))
  const third = await start()
  await third.prints(/is no longer in \S+\. Is its disk mounted\?/)
})

for (const prove of ['on', 'off']) {
  test(`while the manifests are gone from the place, the files of their backups stay, with proofs ${prove} (D20.25)`, async t => {
    const { parent, target, created, start, run } = await unmountable(t, { 'service.backup.prove': prove })
    const manifests = join(target, 'generations')
    await rename(manifests, join(parent, 'manifests'))
    const blobs = join(target, 'blobs')
    const files = async (): Promise<string[]> =>
      (await readdir(blobs, { recursive: true, withFileTypes: true }))
        .filter(file => file.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
    const before = await files()
    // Remains of this age are removed.
    for (const file of before) await utimes(file, 0, 0)
    const service = await start()
    await eventually('a second backup without it', async () => /If it is lost for good/.test(service.output()))
    if (prove === 'on') await service.prints(/a backup was proven/)
    await service.stop()
    const now = await files()
    assert.deepEqual(
      before.filter(file => !now.includes(file)),
      [],
    )
    await cp(join(parent, 'manifests'), manifests, { recursive: true })
    assert.match(await run('backup', 'verify', target, '--at', created), /, 0 damaged/)
  })
}

for (const damage of ['its first page', 'a few pages'] as const) {
  test(`with ${damage} of the database destroyed, backups are listed and verified, and doctor says all that it finds (D20.3)`, async t => {
    if (onPostgres) return t.skip('the database is a file')
    const target = await temporaryFolder()
    const service = await startProcess(t, { settings: scheduled(target) })
    await service.prints(/a backup was made/)
    await service.stop()
    const file = join(service.folder, 'store.sqlite')
    const bytes = await readFile(file)
    const pages = damage === 'its first page' ? [0] : [1, 2, 3, 5, 8, 13, 21]
    for (const page of pages) bytes.fill(0x55, page * 4096, (page + 1) * 4096)
    await writeFile(file, bytes)
    const where = await place(service.folder)
    for (const command of ['list', 'verify']) succeeded(await stowage('/', ['backup', command, target, ...where]))
    const { status, stdout } = await stowage('/', ['doctor', ...where, ...sets(scheduled(target))])
    assert.equal(status, 1)
    assert.match(stdout, /^problem: store: The database is damaged[.:] /m)
    assert.match(
      stdout,
      /^problem: backups: The database is damaged\. There is a backup of \S+ in \S+: follow docs\S+#the-database-is-damaged$/m,
    )
    return undefined
  })
}
