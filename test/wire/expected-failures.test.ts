import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, lstat, mkdir, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { backUp, succeeded } from '../support/backups.ts'
import { type Run, stowage } from '../support/cli.ts'
import { fixtures } from '../support/entrystore.ts'
import { newContext, newEntry, program, startProcess } from '../support/service.ts'
import { fillDisk, freeDisk, smallDisk } from '../support/small-disk.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

/** One line about an expected failure: it says what is wrong, without a stack. */
function failsWith(run: Run, message: RegExp, status = 1): void {
  const said = run.stdout + run.stderr
  assert.equal(run.status, status, said)
  assert.match(said, message)
  assert.doesNotMatch(said, /^ {4}at /m)
}

test('a damaged database: fsck, backup and serve say so in a line, and verify proves the backup made before (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const service = await startProcess(t)
  const admin = await service.admin()
  const context = await newContext(admin)
  await putFile(admin, `${context}/resource/${await newEntry(admin, context)}`, 'content')
  await service.stop()
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(service.folder, backup))
  const verify = (): Promise<Run> => stowage(service.folder, ['backup', 'verify', backup])
  assert.match(succeeded(await verify()), /1 file with 7 bytes checked, 0 damaged/)

  const path = join(service.folder, 'store.sqlite')
  const middle = Math.floor((await stat(path)).size / 4096 / 2) * 4096
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, middle)
  await file.close()
  const args = ['--set', `service.data.folder=${service.folder}`]
  failsWith(await stowage(service.folder, ['fsck', ...args]), /^database-damaged: [^]*cannot be repaired/m)
  failsWith(await stowage(service.folder, ['backup', backup, ...args]), /The database is damaged/)
  failsWith(await stowage(service.folder, ['serve', ...args]), /The database is damaged/, 78)
  assert.equal((await verify()).status, 0)
  return undefined
})

/** Gives a folder, and all that is in it, to another user. */
async function handOver(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }): Promise<void> {
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) await chown(join(folder, name), uid, gid)
}

test('every command that opens a store of another user reports it, with what to do (D20.6)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (process.getuid?.() !== 0) return t.skip('only root can give files to another user')
  const service = await startProcess(t)
  await service.stop()
  await chown(service.folder, 65534, 65534)
  await chmod(service.folder, 0o755)
  for (const command of ['fsck', 'unlock']) {
    const args = [command, ...(command === 'unlock' ? ['admin'] : []), '--set', `service.data.folder=${service.folder}`]
    failsWith(await stowage('/', args, {}, nobody), /may not read and write it.*Run the command as the user/)
  }
  return undefined
})

const nobody = { uid: 65534, gid: 65534 }
/** Runs the program as that user. */
const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']

test('what the service may not write in its data folder is named by config check, doctor and the start (D20.6)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (process.getuid?.() !== 0) return t.skip('only root can give files to another user')
  const service = await startProcess(t, { settings: { 'service.data.store': 'folder' } })
  await service.stop()
  const { folder } = service
  await handOver(folder, nobody)
  await mkdir(join(folder, 'files/ab'))
  await chmod(join(folder, 'files/ab'), 0o755)
  const settings = ['--set', `service.data.folder=${folder}`, '--set', 'service.http.port=0']
  const run = (...command: string[]): Promise<Run> => stowage('/', [...command, ...settings], {}, nobody)
  for (const name of ['files/ab', 'files/incoming', 'files', 'store.sqlite', 'lock', 'reserve']) {
    const path = join(folder, name)
    await chown(path, 0, 0)
    const { mode } = await stat(path)
    const reason = `${path} belongs to root (mode 0${(mode & 0o777).toString(8)}), and this user has no permission`
    const message = `The data folder ${folder} cannot be used: ${reason}. If this user runs the service, run as root: chown -R nobody: ${folder}`
    const [check, doctor, serve] = [await run('config', 'check'), await run('doctor'), await run('serve')]
    assert.deepEqual([check.status, check.stderr], [1, `stowage: ${message}\n`], name)
    assert.deepEqual([serve.status, serve.stderr], [78, `stowage: ${message}\n`], name)
    assert.equal(doctor.status, 1, name)
    assert.ok(doctor.stdout.split('\n').includes(`problem: data folder: ${message}`), doctor.stdout)
    await chown(path, nobody.uid, nobody.gid)
  }
  assert.equal((await run('config', 'check')).status, 0)
  return undefined
})

test('while the service may not write or read a file, its response and the log name the permission (D20.4)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (process.getuid?.() !== 0) return t.skip('only root can give files to another user')
  const folder = await temporaryFolder()
  await handOver(folder, nobody)
  const service = await startProcess(t, { folder, settings: { 'service.data.store': 'folder' }, tracer: asNobody })
  const admin = await service.admin()
  const context = await newContext(admin)
  const file = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, file, 'before')).status, 201)
  const files = join(folder, 'files')
  const [blob = ''] = (await readdir(files, { recursive: true })).filter(name => /[0-9a-f]{40}$/.test(name))
  for (const [name, ask] of [
    ['incoming', () => putFile(admin, file, 'after')],
    [blob, () => admin.get(file)],
  ] as const) {
    await chown(join(files, name), 0, 0)
    const { status, text } = await ask()
    assert.deepEqual([status, /"code":"storage-read-only"/.test(text)], [503, true], text)
    assert.match(text, /no permission .* `stowage doctor` names/)
    await eventually('the log', async () => service.output().includes(`open '${join(files, name)}`))
    await chown(join(files, name), nobody.uid, nobody.gid)
  }
  assert.match(service.output(), /no permission for a part of its data folder: run `stowage doctor`/)
  assert.equal((await putFile(admin, file, 'after')).status, 201)
  return undefined
})

test('where the data folder is missing and there may be backups, each command names them first (D20.9)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (process.getuid?.() !== 0) return t.skip('only root can take a folder away from a user')
  const above = await temporaryFolder()
  await chmod(above, 0o755)
  const folder = join(above, 'data')
  const target = join(above, 'backups')
  const settings = [
    `service.data.folder=${folder}`,
    'service.http.port=0',
    `service.backup.target=${target}`,
    'service.backup.schedule=0 3 * * *',
  ]
  const run = async (...command: string[]): Promise<Run> =>
    await stowage('/', [...command, ...settings.flatMap(one => ['--set', one])], {}, nobody)
  const lost = `There is no store in ${folder}. If it was lost, mount its disk, or restore a backup from ${target} (docs/how-to/backup-and-upgrade.md).`
  for (const command of [['fsck'], ['user', 'list']]) {
    const { status, stderr } = await run(...command)
    assert.deepEqual([status, stderr], [1, `stowage: ${lost}\n`], command.join(' '))
  }
  const mount = async (): Promise<void> => {
    await mkdir(folder)
    await chmod(folder, 0o755)
  }
  for (const [make, blocked, command] of [
    [async () => {}, above, `install -d -o nobody -m 0700 ${folder}`],
    [mount, folder, `chown -R nobody: ${folder}`],
  ] as const) {
    await make()
    const { status, stderr } = await run('serve')
    const reason = `${blocked} belongs to root (mode 0755), and this user has no permission`
    const message = `${lost} The data folder ${folder} cannot be used: ${reason}. If this user runs the service, run as root: ${command}`
    assert.deepEqual([status, stderr], [78, `stowage: ${message}\n`])
  }
  return undefined
})

test('root is refused a data folder of another user by each command, and makes nothing there; that user is not (D20.22)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (process.getuid?.() !== 0) return t.skip('only root can give files to another user')
  const service = await startProcess(t)
  const context = await newContext(await service.admin())
  await service.stop()
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(service.folder, backup))
  await handOver(dirname(backup), nobody)
  const newFolder = async (): Promise<string> => {
    const folder = await temporaryFolder()
    await handOver(folder, nobody)
    return folder
  }
  const [filled, copy, moved, byHand] = [await newFolder(), await newFolder(), await newFolder(), await newFolder()]
  const data = (folder: string): string => `service.data.folder=${folder}`
  const cheap = ['--set', 'service.auth.password.argon2.memory=19456']
  /** Each with the folder that it writes to. */
  const commands: ReadonlyArray<readonly [folder: string, ...args: string[]]> = [
    [filled, 'restore', backup, '--set', data(filled)],
    [filled, 'restore', backup, '--context', context, '--replace', '--set', data(filled)],
    [byHand, 'backup', byHand, '--set', data(filled)],
    [filled, 'fsck', '--set', data(filled)],
    [filled, 'user', 'add', 'anna', '--set', data(filled)],
    [copy, 'migrate-store', '--from-set', data(filled), '--to-set', data(copy)],
    [moved, 'import', 'entrystore', join(fixtures, 'backups/nq'), ...cheap, '--set', data(moved)],
  ]
  for (const [folder, ...args] of commands) {
    const before = await readdir(folder, { recursive: true })
    const refused = await stowage('/', args)
    assert.equal(refused.status, 1, args.join(' '))
    assert.match(refused.stderr, /^stowage: The folder \S+ belongs to the user nobody, and you are root\..*\n$/)
    assert.deepEqual(await readdir(folder, { recursive: true }), before, args.join(' '))
    const { status, stdout, stderr } = await stowage('/', args, {}, nobody)
    // The import has findings.
    assert.equal(status, args[0] === 'import' ? 1 : 0, `${args.join(' ')}: ${stdout}${stderr}`)
    for (const name of ['', ...(await readdir(folder, { recursive: true }))])
      assert.equal((await stat(join(folder, name))).uid, nobody.uid, `${args.join(' ')}: ${name}`)
  }
  failsWith(
    await stowage('/', ['doctor', '--set', data(filled)]),
    /^problem: data folder: .* belongs to the user nobody/m,
  )
  const refused = await stowage('/', ['serve', '--set', data(filled)])
  assert.deepEqual([refused.status, /runuser -u nobody -- stowage/.test(refused.stderr)], [78, true], refused.stderr)
  return undefined
})

test('links in the data folder are not followed: replaced where the service makes a file anew, refused otherwise (D20.22)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const first = await startProcess(t, { settings: { 'service.data.store': 'folder' } })
  const { folder } = first
  await first.stop()
  const elsewhere = join(await temporaryFolder(), 'file')
  await writeFile(elsewhere, 'kept')
  const link = async (name: string): Promise<void> => {
    await rm(join(folder, name), { force: true })
    await symlink(elsewhere, join(folder, name))
  }
  for (const name of ['stowage.pid', 'reserve']) await link(name)
  const service = await startProcess(t, { folder, settings: { 'service.data.store': 'folder' } })
  for (const name of ['stowage.pid', 'reserve']) assert.ok((await lstat(join(folder, name))).isFile(), name)
  await service.stop()
  const settings = ['--set', `service.data.folder=${folder}`]
  for (const name of ['lock', 'store.sqlite']) {
    const bytes = await readFile(join(folder, name))
    await link(name)
    failsWith(await stowage('/', ['fsck', ...settings]), new RegExp(`${join(folder, name)} is a link`))
    failsWith(await stowage('/', ['serve', ...settings]), new RegExp(`${join(folder, name)} is a link`), 78)
    await rm(join(folder, name))
    await writeFile(join(folder, name), bytes)
  }
  assert.equal(await readFile(elsewhere, 'utf8'), 'kept')
  return undefined
})

test('a backup into a place that cannot be written fails with one line (D20.6)', async t => {
  const service = await startProcess(t)
  await service.stop()
  const file = join(await temporaryFolder(), 'notes.txt')
  await writeFile(file, 'not a folder')
  failsWith(await backUp(service.folder, join(file, 'backup')), /is a file, not a folder/)
})

test('a place on a read-only or full disk is named by a backup and by a restore that use it (D20.6)', async t => {
  const disk = await smallDisk(t, 2 ** 22)
  if (disk === undefined) return
  const service = await startProcess(t)
  const admin = await service.admin()
  const context = await newContext(admin)
  const file = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, file, 'x'.repeat(2 ** 18))).status, 201)
  await service.stop()
  await fillDisk(disk, 2 ** 16)
  failsWith(await backUp(service.folder, join(disk, 'backup')), new RegExp(`^stowage: ${disk}/backup is full\\.$`, 'm'))
  await freeDisk(disk)
  execFileSync('mount', ['-o', 'remount,ro', disk])
  failsWith(
    await backUp(service.folder, join(disk, 'new')),
    new RegExp(`The folder ${disk}/new cannot be made: ${disk} is read-only here\\. A systemd unit .*ReadWritePaths`),
  )
  const target = ['--set', `service.data.folder=${join(disk, 'data')}`]
  failsWith(await stowage('/', ['config', 'check', ...target]), new RegExp(`cannot be used: ${disk} is read-only`))
})

test('a command whose reader has gone ends quietly, as before `head` (D20.12)', async t => {
  const service = await startProcess(t)
  await service.stop()
  const settings = ['--set', `service.data.folder=${service.folder}`]
  for (const args of [['help'], ['audit', 'export', ...settings]]) {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [status] = (await once(child, 'close')) as [number | null]
    assert.deepEqual({ args, status, said }, { args, status: 0, said: '' })
  }
})

test('a pipe gets the whole output of a command, and a full disk is an error (D20.12)', async () => {
  const run = async (redirection: string, args: readonly string[]): Promise<string> => {
    const child = spawn('sh', ['-c', `"$@" ${redirection}; echo "status $?"`, 'sh', process.execPath, program, ...args])
    child.stdin.end()
    let said = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await once(child, 'close')
    return said
  }
  // More than a pipe takes at once.
  const long = 'x'.repeat(120_000)
  assert.ok((await run('2>&1 | cat', [long])).includes(`"${long}"`))
  assert.match(await run('>/dev/full', ['help']), /^stowage: the output could not be written: ENOSPC.*\nstatus 1$/m)
})

test('a data folder that is a file, or where nothing can be made, is one line (D20.6)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const file = join(await temporaryFolder(), 'notes.txt')
  await writeFile(file, 'not a folder')
  for (const command of [['fsck'], ['user', 'list']])
    failsWith(await stowage('/', [...command, '--set', `service.data.folder=${file}`]), /data folder .* is a file/)
  const place = '/proc/stowage/data'
  failsWith(await stowage('/', ['user', 'list', '--set', `service.data.folder=${place}`]), /There is no store/)
  for (const folder of [file, join(file, 'data')]) {
    const { status, stdout } = await stowage('/', ['doctor', '--set', `service.data.folder=${folder}`])
    assert.equal(status, 1, stdout)
    assert.match(
      stdout,
      new RegExp(`^problem: data folder: .* cannot be used: ${file} is a file, not a folder\\.$`, 'm'),
    )
    assert.doesNotMatch(stdout, /the first start/)
  }
  const check = ['import', 'entrystore', join(fixtures, 'backups/nq'), '--check', '--temp']
  for (const [temp, message] of [
    ['/proc/stowage/temp', /The folder \/proc\/stowage cannot be made: \/proc takes no folders/],
    [join(file, 'temp'), /is a file, not a folder/],
  ] as const) {
    const { status, stderr } = await stowage('/', [...check, temp])
    assert.deepEqual([status, stderr.split('\n').length], [2, 2], stderr)
    assert.match(stderr, message)
  }
  const service = await startProcess(t)
  await service.stop()
  failsWith(await backUp(service.folder, place), /The folder \/proc\/stowage cannot be made: \/proc takes no folders/)
  return undefined
})
