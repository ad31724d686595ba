import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import {
  backUp,
  filledStore,
  fsckIsClean,
  holds,
  listed,
  metric,
  place,
  succeeded,
  timesIn,
} from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { refusal, startFakeS3 } from '../support/fake-s3.ts'
import { startProcess } from '../support/service.ts'
import { fillDisk, freeDisk, smallDisk } from '../support/small-disk.ts'
import { partOf, startSmtpServer } from '../support/smtp-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addUser } from '../support/accounts.ts'
import { eventually } from '../support/waiting.ts'

const quota = { 'service.data.quota': 'on' }
/** Never again after the first one, which is made at the start. */
const once = (target: string) => ({
  ...quota,
  'service.backup.schedule': '0 0 29 2 *',
  'service.backup.target': target,
})
const everySecond = (target: string) => ({ ...once(target), 'service.backup.schedule': '* * * * * *' })

test('the service backs itself up at the start and at each time, keeps what the rule says, and each restores', async t => {
  const { folder, contents } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const settings = { ...everySecond(target), 'service.backup.keep': '1d' }
  const service = await startProcess(t, { folder, settings })
  await eventually('a backup', async () => (await timesIn(target)).length > 0)
  const [first = ''] = await listed(target)
  assert.match(first, /5 files, 100000 bytes, not encrypted/)
  const [time = ''] = first.split(' ')
  await eventually('a newer one, and the older one removed', async () => {
    const now = await timesIn(target)
    return now.length > 0 && !now.includes(time)
  })
  assert.ok((await metric(service, 'backup_age_seconds')) < 1000)
  assert.equal(await metric(service, 'backup_size_bytes'), 100_000)
  assert.equal(await metric(service, 'backup_failed'), 0)
  assert.ok(Number.isFinite(await metric(service, 'backup_duration_seconds')))
  const status = (await (await service.admin()).get('management/status?extended')).json() as {
    backup: { made: { bytes: number } }
  }
  assert.equal(status.backup.made.bytes, 100_000)
  await holds(service, contents)
  assert.equal(await service.stop(), 0)
  assert.deepEqual(await readdir(join(folder)).then(names => names.filter(name => name.startsWith('backup'))), [])

  assert.match(
    succeeded(await stowage('/', ['backup', 'verify', target])),
    /5 files with 100000 bytes checked, 0 damaged/,
  )
  const restored = await temporaryFolder()
  succeeded(await stowage('/', ['restore', target, ...(await place(restored))]))
  await fsckIsClean(restored)
  await holds(await startProcess(t, { folder: restored, settings: quota }), contents)
})

test('each backup is restored and compared, which metrics, status and doctor say, and nothing of it stays (D20.23)', async t => {
  const { folder } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const service = await startProcess(t, { folder, settings: once(target) })
  await eventually('a proof', async () => (await metric(service, 'backup_proven_timestamp_seconds')) > 0)
  assert.ok((await metric(service, 'backup_restore_duration_seconds')) > 0)
  assert.ok((await metric(service, 'backup_loss_seconds')) < 1000)
  assert.equal(await metric(service, 'backup_proof_failed'), 0)
  const { backup } = (await (await service.admin()).get('management/status?extended')).json() as {
    backup: { problem?: string; proven: { time: string; restoreSeconds: number; newestChange: string; note?: string } }
  }
  assert.deepEqual([backup.problem, backup.proven.note], [undefined, undefined])
  assert.ok(backup.proven.restoreSeconds > 0)
  assert.ok(Date.parse(backup.proven.newestChange) <= Date.parse(backup.proven.time))
  const sets = Object.entries(once(target)).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const doctor = async (): Promise<string> => (await stowage('/', ['doctor', ...(await place(folder)), ...sets])).stdout
  assert.match(
    await doctor(),
    /^backups: that of \S+ was proven at \S+\nbackups: a restore takes \d+ s\nbackups: the last change in the proven one is of \S+$/m,
  )
  assert.ok(!(await readdir(folder)).includes('backup-proof'))
  await service.stop()
})

test('a proof that finds something wrong is told, and no older backup goes (D20.23)', async t => {
  const { folder } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const key = 'ab'.repeat(20)
  await mkdir(join(target, 'generations', 'ab'), { recursive: true })
  await writeFile(join(target, 'generations', 'ab', key), 'no manifest')
  const settings = { ...everySecond(target), 'service.backup.keep': '1d' }
  const service = await startProcess(t, { folder, settings })
  await eventually('a failed proof', async () => (await metric(service, 'backup_proof_failed')) === 1)
  await eventually('more backups', async () => (await timesIn(target)).length > 2)
  const findings = (await (await service.admin()).get('management/findings')).text
  assert.match(
    findings,
    new RegExp(
      `"problem","code":"backup-proof-failed","text":"backups: the last proof found something wrong\\. The manifest ${target}/generations/ab/${key} is damaged`,
    ),
  )
  await service.prints(new RegExp(`"problem":"The manifest ${target}/generations/ab/${key} is damaged\\."`))
  await service.stop()
  const list = succeeded(await stowage('/', ['backup', 'list', target, ...(await place(folder))]))
  assert.ok(list.includes(`\nThe manifest ${target}/generations/ab/${key} is damaged, or of another version.\n`), list)
  assert.doesNotMatch(list, /last proof found something wrong/, 'nothing is wrong with the proven backups')
  const kept = `Older backups still stay, because this version cannot read ${target}/generations/ab/${key}. If no newer version of Stowage has written this, look for the cause; to let the service remove older backups again, move it away, which gives up this backup.\n`
  const accepted = succeeded(await stowage('/', ['backup', 'accept', target, ...(await place(folder))]))
  assert.ok(accepted.endsWith(kept), accepted)
})

test('a remark about a changed manifest is at its backup only, and nobody is asked to accept it (D20.9, D20.24)', async t => {
  const { folder } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const before = await startProcess(t, { folder, settings: once(target) })
  await eventually('a backup', async () => (await timesIn(target)).length > 0)
  await before.stop()
  const [old = ''] = await timesIn(target)
  const manifests = await readdir(join(target, 'generations'), { recursive: true, withFileTypes: true })
  const file = manifests.find(one => one.isFile()) ?? assert.fail('there is no manifest')
  const manifest = join(file.parentPath, file.name)
  const text = await readFile(manifest, 'utf8')
  await writeFile(manifest, text.replace(/"program": "/, '"program": "x'))
  const service = await startProcess(t, { folder, settings: everySecond(target) })
  await eventually('a failed proof', async () => (await metric(service, 'backup_proof_failed')) === 1)
  await service.stop()
  const here = await place(folder)
  const lines = await listed(target, ...here)
  assert.deepEqual(
    lines.filter(line => line.includes(';')).map(line => line.replace(/^(\S+) .*?; /, '$1 ')),
    [`${old} its manifest ${manifest} was changed after it was signed`],
  )
  const [newest = ''] = await timesIn(target)
  const list = succeeded(await stowage('/', ['backup', 'list', target, ...here]))
  const good = `The last good backup is of ${newest}: stowage restore ${target} --at ${newest}\n`
  assert.ok(list.endsWith(`\n${good}`), list)
  const sets = Object.entries(once(target)).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  assert.doesNotMatch((await stowage('/', ['doctor', ...here, ...sets])).stdout, /accept/)
  assert.equal(
    succeeded(await stowage('/', ['backup', 'accept', target, ...here])),
    `There is nothing to accept in ${target}. Older backups still stay, because ${manifest} was changed after it was signed. Look for the cause; to let the service remove older backups again, move it away, which gives up this backup.\n`,
  )
})

test('an encrypted backup gives nothing away, is verified without the secret key, and is restored only with it', async t => {
  const { folder, contents } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const [secret, other] = [await generateX25519Identity(), await generateX25519Identity()]
  const settings = { ...once(target), 'service.backup.encrypt-to.1': await identityToRecipient(secret) }
  const service = await startProcess(t, { folder, settings })
  await eventually('a backup', async () => (await timesIn(target)).length > 0)
  await eventually('a proof', async () => (await metric(service, 'backup_proven_timestamp_seconds')) > 0)
  assert.equal(await metric(service, 'backup_restore_duration_seconds'), 0)
  await service.prints(/"note":"The backup was read .* not restored: it is encrypted, and the service has no key/)
  await service.stop()
  assert.match((await listed(target))[0] ?? '', /, encrypted,/)
  const files = (await readdir(target, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
  for (const { parentPath, name } of files) {
    const bytes = await readFile(join(parentPath, name), 'latin1')
    assert.doesNotMatch(bytes, /Archiv|argon2|22222222/, `${parentPath}/${name}`)
  }
  assert.match(succeeded(await stowage('/', ['backup', 'verify', target])), /0 damaged/)

  const keys = await temporaryFolder()
  await writeFile(join(keys, 'right'), `# created: 2026\n${secret}\n`)
  await writeFile(join(keys, 'wrong'), `${other}\n`)
  await writeFile(join(keys, 'none'), '# no key\n')
  const restored = await temporaryFolder()
  const restore = async (...args: string[]) => stowage('/', ['restore', target, ...args, ...(await place(restored))])
  for (const [args, message] of [
    [[], /encrypted to age1\w+: name the file of the secret key with --identity\.$/m],
    [['--identity', join(keys, 'wrong')], /The secret keys in \S+ cannot decrypt this backup\.$/m],
    [['--identity', join(keys, 'none')], /contains no secret key of age/],
    [['--identity', join(keys, 'absent')], /There is no file/],
    [['--identity', secret], /--identity takes the path of a file with the secret key\.$/m],
    [['--at', '2020-01-01T00:00:00.000Z'], /There is no backup of 2020-01-01\S+ in \S+\. There are: 20/],
  ] as const) {
    const { status, stderr } = await restore(...args)
    assert.equal(status, 1)
    assert.match(stderr, message)
  }
  assert.deepEqual(await readdir(restored), [], 'nothing was begun')
  succeeded(await restore('--identity', join(keys, 'right')))
  await holds(await startProcess(t, { folder: restored, settings: quota }), contents)
})

test('a bucket with a server and an access key of its own can be the target', async t => {
  const { folder, contents } = await filledStore(t)
  const s3 = await startFakeS3(t)
  const own = {
    'service.backup.s3.endpoint': s3.url,
    'service.backup.s3.region': 'eu-north-1',
    'service.backup.s3.access-key': 'key',
    'service.backup.s3.secret-key': 'secret',
  }
  const sets = Object.entries(own).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  s3.objects.set('kept/of-others.txt', Buffer.from('x'))
  const service = await startProcess(t, { folder, settings: { ...once('s3://bucket/kept'), ...own } })
  await eventually('a backup', async () => (await listed('s3://bucket/kept', ...sets)).length > 0)
  await service.stop()
  assert.ok(s3.objects.has('kept/of-others.txt'))
  assert.equal(s3.requests.at(-1)?.region, 'eu-north-1')
  const restored = await temporaryFolder()
  succeeded(await stowage('/', ['restore', 's3://bucket/kept', ...sets, ...(await place(restored))]))
  await holds(await startProcess(t, { folder: restored, settings: quota }), contents)
})

test('a bucket that cannot be reached, or refuses what is written, is a clear problem and gets no backup', async t => {
  const { folder } = await filledStore(t)
  const s3 = await startFakeS3(t)
  const problemWith = async (endpoint: string): Promise<string> => {
    const own = { 'service.backup.s3.endpoint': endpoint }
    const keys = { 'service.backup.s3.access-key': 'key', 'service.backup.s3.secret-key': 'secret' }
    const service = await startProcess(t, { folder, settings: { ...everySecond('s3://bucket/kept'), ...own, ...keys } })
    await service.prints(/a scheduled backup had a problem/)
    await service.stop()
    return service.output()
  }
  assert.match(await problemWith('http://127.0.0.1:9'), /The bucket bucket cannot be used: /)
  s3.intercept = ({ method }) => (method === 'PUT' ? refusal(403, 'AccessDenied') : undefined)
  assert.match(
    await problemWith(s3.url),
    /"problem":"s3:\/\/bucket\/kept, or the place of the files, cannot be used: AccessDenied"/,
  )
  assert.deepEqual([...s3.objects.keys()], [])
})

test('a target that fails is told by mail, metric, page and log, leaves no half backup, and works again later', async t => {
  const disk = await smallDisk(t, 2 ** 22)
  if (disk === undefined) return
  const { folder } = await filledStore(t)
  // Enough for the folders.
  await fillDisk(disk, 2 ** 16)
  const smtp = await startSmtpServer(t)
  const target = join(disk, 'backups')
  const before = await startProcess(t, { folder, settings: quota })
  const admin = await before.admin()
  const chief = await addUser(admin, 'chief@example.org')
  assert.equal((await admin.put('_principals/resource/_admins', [chief.id])).status, 204)
  await before.stop()

  const service = await startProcess(t, { folder, settings: { ...everySecond(target), ...smtp.settings } })
  const text = partOf(await smtp.take('chief@example.org', 1), 'text/plain')
  assert.match(text, /The scheduled backup of http\S+ failed\.[^]*\/backups is full\.[^]*ui\/admin/)
  assert.equal(await metric(service, 'backup_failed'), 1)
  assert.equal(await metric(service, 'backup_age_seconds'), Number.NaN, '+Inf')
  const findings = (await (await service.admin()).get('management/findings')).text
  assert.match(findings, /"problem","code":"backup-failed","text":"backups: the last one failed\. /)
  await service.prints(/a backup failed/)
  assert.deepEqual(await listed(target).catch(() => []), [])
  await freeDisk(disk)
  await eventually('a backup once there is space', async () => (await metric(service, 'backup_failed')) === 0)
  assert.ok((await timesIn(target)).length > 0)
})

test('a kill in the middle of a backup leaves nothing that looks like one, and the next start makes it', async t => {
  const { folder, contents } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  for (let round = 0; round < 3; round++) {
    const service = await startProcess(t, { folder, settings: everySecond(target) })
    await eventually('the backup begins', async () =>
      (await readdir(target, { recursive: true }).catch(() => [])).some(name => name.startsWith('blobs/')),
    )
    await service.stop('SIGKILL')
    for (const line of await listed(target)) {
      const [time = ''] = line.split(' ')
      assert.match(succeeded(await stowage('/', ['backup', 'verify', target, '--at', time])), /, 0 damaged/)
    }
  }
  const service = await startProcess(t, { folder, settings: once(target) })
  await holds(service, contents)
})

test('files of the store that are lost make a problem, but the rest is backed up', async t => {
  const { folder } = await filledStore(t)
  const blobs = join(folder, 'files')
  const [lost] = (await readdir(blobs, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
  if (!lost) return t.skip('the files are not in a folder')
  await rm(join(lost.parentPath, lost.name))
  const target = join(await temporaryFolder(), 'backups')
  const service = await startProcess(t, { folder, settings: once(target) })
  await eventually('it ends', async () => (await metric(service, 'backup_failed')) === 1)
  await service.prints(/made without one file whose bytes the store has lost/)
  assert.match((await listed(target))[0] ?? '', /4 files/)
})

test('files that the store has lost, and an earlier backup has, are a problem of each later backup, and come back from it', async t => {
  const { folder, contents } = await filledStore(t)
  const blobs = join(folder, 'files')
  const [target, byHand] = [join(await temporaryFolder(), 'backups'), join(await temporaryFolder(), 'backup')]
  const before = await startProcess(t, { folder, settings: once(target) })
  await eventually('a backup', async () => (await timesIn(target)).length > 0)
  await before.stop()
  succeeded(await backUp(folder, byHand))
  const stored = (await readdir(blobs, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
  const [lost, cut] = stored.filter(file => /^[0-9a-f]{40}$/.test(file.name))
  if (!lost || !cut) return t.skip('the files are not in a folder')
  await rm(join(lost.parentPath, lost.name))
  await writeFile(join(cut.parentPath, cut.name), 'x')
  const sentence = (place: string) =>
    `The store has lost 2 files that are in the backup. Is its disk mounted? If the files are lost, stop the service and run \`stowage fsck\`, ` +
    `which names them, and bring back each with \`stowage restore ${place} --entry CONTEXT/ID --replace\`. ` +
    'Its metadata and access list are those of the backup, too.'
  const again = await backUp(folder, byHand)
  assert.equal(again.status, 1, again.stderr)
  assert.ok(again.stdout.endsWith(`${sentence(byHand)}\n`), again.stdout)

  const service = await startProcess(t, { folder, settings: everySecond(target) })
  await eventually('a problem', async () => (await metric(service, 'backup_failed')) === 1)
  const findings = (await (await service.admin()).get('management/findings')).text
  assert.ok(findings.includes(`The backup was made. ${sentence(target)}`), findings)
  await service.stop()
  assert.match((await listed(target))[0] ?? '', /5 files, [^;]*$/)
  assert.match(succeeded(await stowage('/', ['backup', 'verify', target])), /, 0 damaged/)
  const here = await place(folder)
  const named = (await stowage('/', ['fsck', ...here])).stdout
  const entries = [...contents.files.keys()].map(path => path.replace('/resource/', '/'))
  const toBringBack = entries.filter(entry => named.includes(entry))
  assert.equal(toBringBack.length, 2, named)
  for (const entry of toBringBack) {
    const part = ['--entry', entry, '--replace', '--set', 'service.data.quota=on']
    succeeded(await stowage('/', ['restore', target, ...part, ...here]))
  }
  await holds(await startProcess(t, { folder, settings: quota }), contents)
  return undefined
})

test('bytes of an earlier backup that are damaged are written again, and that is a problem of the target', async t => {
  const { folder } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const service = await startProcess(t, { folder, settings: once(target) })
  await eventually('a backup', async () => (await timesIn(target)).length > 0)
  await service.stop()
  const [first = ''] = await timesIn(target)
  const stored = await readdir(join(target, 'blobs'), { recursive: true, withFileTypes: true })
  for (const file of stored.filter(entry => entry.isFile())) {
    const path = join(file.parentPath, file.name)
    const bytes = await readFile(path)
    // The index, which says what is stored, stays whole.
    if (!bytes.subarray(0, 1).equals(Buffer.from('{'))) await writeFile(path, Buffer.alloc(bytes.length))
  }
  const again = await startProcess(t, { folder, settings: everySecond(target) })
  await again.prints(
    /The backup was made\. \d+ files of earlier backups were damaged in .* Check this disk or bucket\./,
  )
  await again.stop()
  const verified = succeeded(await stowage('/', ['backup', 'verify', target, '--at', first]))
  assert.match(verified, /, 0 damaged/, 'the earlier backup is whole again')
})

test('an encrypted backup with damaged files is named by list, doctor and page as long as it is there, and a later one is the last good (D20.25)', async t => {
  const { folder } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const recipient = await identityToRecipient(await generateX25519Identity())
  const settings = { ...once(target), 'service.backup.encrypt-to.1': recipient }
  const service = await startProcess(t, { folder, settings })
  await service.prints(/a backup was proven/)
  await service.stop()
  const [damaged = ''] = await timesIn(target)
  for (const path of await filesOfNewest(target)) await writeFile(path, Buffer.alloc((await readFile(path)).length))
  const again = await startProcess(t, { folder, settings: { ...settings, 'service.backup.schedule': '* * * * * *' } })
  await again.prints(
    /files of earlier backups were damaged in .* the earlier ones stay damaged\. Check this disk or bucket\./,
  )
  await eventually('later backups are good', async () => (await metric(again, 'backup_failed')) === 0)
  const remark = `files in it are damaged, which \`stowage backup verify ${target} --at ${damaged}\` names`
  const page = (await (await again.admin()).get('management/backups')).json<{
    lastGood?: string
    generations: ReadonlyArray<{ created: string; doubt?: string }>
  }>()
  assert.deepEqual(
    page.generations.filter(({ doubt }) => doubt !== undefined).map(({ created, doubt }) => ({ created, doubt })),
    [{ created: damaged, doubt: remark }],
  )
  await again.stop()
  const here = [
    ...(await place(folder)),
    ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  ]
  const lines = await listed(target, ...here)
  assert.deepEqual(
    lines.filter(line => line.endsWith(`; ${remark}`)).map(line => line.split(' ')[0]),
    [damaged],
  )
  const [newest = ''] = await timesIn(target)
  const list = succeeded(await stowage('/', ['backup', 'list', target, ...here]))
  assert.ok(list.includes(`\nThe last good backup is of ${newest}: `), list)
  assert.ok((page.lastGood ?? '') > damaged)
  assert.match(
    (await stowage('/', ['doctor', ...here])).stdout,
    /^warning: backups: files in 1 earlier backup are damaged\. `stowage backup list \S+` names each such backup, and the command that names its files\./m,
  )
  const verified = await stowage('/', ['backup', 'verify', target, '--at', damaged])
  assert.match(verified.stdout, /^damaged in the backup: the bytes of a file \(blob /m)
})

/** Where the files of the newest backup are. */
async function filesOfNewest(target: string): Promise<string[]> {
  const parts = async (part: string): Promise<string[]> =>
    (await readdir(join(target, part), { recursive: true, withFileTypes: true }))
      .filter(one => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
  const [newest = ''] = await timesIn(target)
  const texts = await Promise.all((await parts('generations')).map(path => readFile(path, 'utf8')))
  const manifest = texts.find(text => text.includes(`"created": "${newest}"`)) ?? assert.fail('there is no manifest')
  const { index } = JSON.parse(manifest) as { readonly index: { readonly blob: string } }
  const pathOf = (blob: string): string => join(target, 'blobs', blob.slice(0, 2), blob)
  const rows = (await readFile(pathOf(index.blob), 'utf8')).trim().split('\n')
  return rows.map(row => pathOf((JSON.parse(row) as { readonly blob: string }).blob))
}

test('a schedule without a place, a place in the data folder and a key that is none are refused', async () => {
  const folder = await temporaryFolder()
  const check = (...sets: string[]) =>
    stowage(folder, ['config', 'check', ...sets.flatMap(set => ['--set', `service.backup.${set}`])])
  for (const [sets, message] of [
    [['schedule=@daily'], /need both a time and a place/],
    [['schedule=every night', 'target=/b'], /expected a cron expression/],
    [['schedule=0 0 30 2 *', 'target=/b'], /expected a cron expression/],
    [['schedule=@daily', `target=${join(folder, 'data/backups')}`], /lost together with it/],
    [['schedule=@daily', 'target=backups'], /is "backups": expected the absolute path of a folder/],
    [['schedule=@daily', 'target=s3://UPPER'], /the absolute path of a folder, or s3:/],
    [['schedule=@daily', 'target=/b', 'keep=7'], /numbers with d, w or m/],
    [['schedule=@daily', 'target=/b', 'encrypt-to.1=ssh-rsa'], /a public key of age/],
  ] as const) {
    const { status, stderr, stdout } = await check(...sets)
    assert.notEqual(status, 0)
    assert.match(stderr + stdout, message)
  }
  const place = join(await temporaryFolder(), 'b')
  const wrong = ['schedule=@daily', `target=${place}`, 'encrypt-to.1=age1wrong']
  const args = wrong.flatMap(set => ['--set', `service.backup.${set}`])
  const { status, stderr } = await stowage(folder, ['serve', '--set', 'service.http.port=0', ...args])
  assert.equal(status, 78)
  assert.match(stderr, /age1wrong is not a public key of age/)
})

test('the folder of one backup is not listed as several, and --at names none in it', async t => {
  const { folder } = await filledStore(t)
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(folder, backup))
  const { status, stderr } = await stowage('/', [
    'restore',
    backup,
    '--at',
    'x',
    ...(await place(await temporaryFolder())),
  ])
  assert.equal(status, 1)
  assert.match(stderr, /is the folder of one backup: leave --at out/)
  const verified = await stowage('/', ['backup', 'verify', backup, '--at', 'x'])
  assert.deepEqual([verified.status, verified.stdout], [1, ''])
  assert.match(verified.stderr, /is the folder of one backup: leave --at out/)
  const listed = succeeded(await stowage('/', ['backup', 'list', backup]))
  assert.match(listed, /^\d{4}-\S+Z {2}\d+ files?, \d+ bytes?, not encrypted, by \d\S+\n$/)
})

test('the list of a place without backups fails, and creates nothing there', async () => {
  const empty = await temporaryFolder()
  const stderr = `stowage: The folder ${empty} is empty. Is its disk mounted? There is no complete backup in ${empty}.\n`
  assert.deepEqual(await stowage('/', ['backup', 'list', empty]), { status: 1, stdout: '', stderr })
  assert.deepEqual(await readdir(empty), [])
})
