import assert from 'node:assert/strict'
import { cp, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bucket } from '../support/blobs.ts'
import { backUp, filledStore, holds, listed, metric, place, succeeded, timesIn } from '../support/backups.ts'
import { type Run, stowage } from '../support/cli.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { newEntry, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

/** Backups of each second into one place, of which the rule keeps one. Each service keeps the address of the lost one. */
const everySecond = (target: string) => ({
  'service.data.quota': 'on',
  'service.backup.schedule': '* * * * * *',
  'service.backup.target': target,
  'service.backup.keep': '1d',
})
const quota = { 'service.data.quota': 'on' }

/** A stopped store with a backup in a place of its own. */
async function backedUp(t: Parameters<typeof startProcess>[0]) {
  const { folder, contents } = await filledStore(t)
  const target = join(await temporaryFolder(), 'backups')
  const settings = { ...everySecond(target), 'service.http.port': String(await freePort()) }
  const service = await startProcess(t, { folder, settings })
  await eventually('a backup', async () => (await timesIn(target)).length > 0)
  await service.stop()
  return { folder, contents, target, settings }
}

/** Waits until the place has this many more backups. */
async function moreBackups(target: string, count: number): Promise<void> {
  const before = (await timesIn(target)).length
  await eventually('more backups', async () => (await timesIn(target)).length >= before + count)
}

/** Waits until a backup that is made now was replaced by a newer one. */
async function replaces(target: string): Promise<void> {
  const before = await timesIn(target)
  let made: string | undefined
  await eventually('a backup', async () => {
    made = (await timesIn(target)).find(time => !before.includes(time))
    return made !== undefined
  })
  await eventually('it is replaced', async () => !(await timesIn(target)).includes(made ?? ''))
}

/** The files in a folder, with their sizes, without what a refused start may leave. */
async function contentOf(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(one => one.isFile())
  const kept = files.filter(({ name }) => !['lock', 'lock-journal', 'stowage.pid', 'reserve'].includes(name))
  const paths = kept.map(({ parentPath, name }) => join(parentPath, name))
  return (await Promise.all(paths.map(async path => `${path} ${(await stat(path)).size}`))).sort()
}

const accept = async (target: string, folder: string): Promise<Run> =>
  await stowage('/', ['backup', 'accept', target, ...(await place(folder))])

/** The file of the newest manifest. */
async function newestManifest(target: string): Promise<string> {
  const folder = join(target, 'generations')
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(one => one.isFile())
  const [newest = ''] = await timesIn(target)
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name)
    if ((await readFile(path, 'utf8')).includes(`"created": "${newest}"`)) return path
  }
  return assert.fail('there is no manifest')
}

test('a service that starts on a lost folder says so, removes no backup, and a restore asks which one is meant (D20.9)', async t => {
  const { contents, target, settings } = await backedUp(t)
  const [good = ''] = await timesIn(target)
  const lost = await temporaryFolder()
  const doctor = await stowage('/', [
    'doctor',
    ...(await place(lost)),
    ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  ])
  assert.match(doctor.stdout, new RegExp(`^problem: backups: .*There is no store .*${good}`, 'm'))

  const service = await startProcess(t, { folder: lost, settings })
  await service.prints(new RegExp(`a new store was made.*${good}`))
  await moreBackups(target, 3)
  assert.equal(await metric(service, 'backup_failed'), 1)
  const findings = (await (await service.admin()).get('management/findings')).text
  assert.match(findings, new RegExp(`older backups are kept.*is of another store.*${good}.*backup accept`))
  await service.stop()
  assert.ok((await timesIn(target)).includes(good))
  assert.match((await listed(target))[0] ?? '', /much smaller than the backup of|of another store than/)
  const named = `\nThe last good backup is of ${good}: stowage restore ${target} --at ${good}\n`
  const list = succeeded(await stowage('/', ['backup', 'list', target, ...(await place(lost))]))
  assert.ok(list.endsWith(named), list)

  const restored = await temporaryFolder()
  const restore = async (...args: string[]) => stowage('/', ['restore', target, ...args, ...(await place(restored))])
  const asked = await restore()
  assert.equal(asked.status, 1)
  assert.match(asked.stderr, new RegExp(`--at ${good}`))
  assert.equal((await restore('--context', contents.context)).status, 1)
  succeeded(await restore('--at', good))
  const again = await startProcess(t, { folder: restored, settings })
  await holds(again, contents)
  await replaces(target)
  assert.equal(await metric(again, 'backup_failed'), 0)
  assert.ok((await timesIn(target)).includes(good))
  await again.stop()
  assert.match(
    succeeded(await accept(target, restored)),
    /^The newest backup is accepted, and so (are \d+ backups|is 1 backup) /m,
  )
  const accepted = await startProcess(t, { folder: restored, settings })
  await eventually('older ones are removed again', async () => !(await timesIn(target)).includes(good))
  await accepted.stop()
  await holds(await startProcess(t, { folder: restored, settings: quota }), contents)
})

/** Each way in which a database can be lost beside its files, and what is named then. */
const losses: ReadonlyArray<readonly [what: string, lose: (folder: string) => Promise<void>, remains: string]> = [
  ['that is empty', async folder => await truncate(join(folder, 'store.sqlite')), 'files'],
  ['that is gone', async folder => await rm(join(folder, 'store.sqlite')), 'files'],
  [
    'that is gone, but whose log is not',
    async folder => {
      await rename(join(folder, 'store.sqlite'), join(folder, 'store.sqlite-wal'))
      await rm(join(folder, 'files'), { recursive: true })
    },
    'store.sqlite-wal',
  ],
]

for (const [what, lose, remains] of losses)
  test(`no start and no command makes a store in place of a database ${what}, and the start names the last good backup (D20.9)`, async t => {
    if (onPostgres || bucket !== undefined) return t.skip('the store is in a folder')
    const { folder, target, settings } = await backedUp(t)
    const [good = ''] = await timesIn(target)
    // The newest backup is of another store.
    const other = await startProcess(t, { settings })
    await moreBackups(target, 1)
    await other.stop()
    await lose(folder)
    const before = await contentOf(folder)
    const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const run = async (...command: string[]): Promise<Run> =>
      await stowage('/', [...command, ...(await place(folder)), ...sets], {}, { input: 'Long-Password-1\n' })
    const lost = `There is no store in ${folder}, but ${join(folder, remains)} belongs to one: `
    const named = `The last good backup is of ${good}: stowage restore ${target} --at ${good}`
    const serve = await run('serve')
    assert.equal(serve.status, 78, serve.stdout)
    assert.ok(serve.stderr.startsWith(`stowage: ${lost}`), serve.stderr)
    assert.ok(serve.stderr.endsWith(` ${named}\n`), serve.stderr)
    for (const command of [
      ['user', 'add', 'admin', '--admin', '--password'],
      ['restore', target, '--at', good],
    ]) {
      const { status, stderr } = await run(...command)
      assert.deepEqual([status, stderr.includes(lost)], [1, true], stderr)
    }
    for (const command of [['fsck'], ['user', 'list'], ['backup', join(await temporaryFolder(), 'backup')]]) {
      const { status, stderr } = await run(...command)
      assert.deepEqual([status, stderr.startsWith('stowage: There is no store in ')], [1, true], stderr)
    }
    const { status, stdout } = await run('doctor')
    assert.equal(status, 1)
    assert.ok(stdout.includes(`\nproblem: data folder: ${lost}`), stdout)
    assert.match(stdout, new RegExp(`^problem: backups: There is no store in .* There is a backup of ${good} in `, 'm'))
    assert.deepEqual(await contentOf(folder), before)
    return undefined
  })

test('a start beside files that no database knows makes no store, whatever the database is (D20.9)', async t => {
  if (bucket !== undefined) return t.skip('the files are not in a folder')
  const { folder } = await filledStore(t)
  const empty = await temporaryFolder()
  await cp(join(folder, 'files'), join(empty, 'files'), { recursive: true })
  // The second start finds what the first one has left.
  for (let start = 0; start < 2; start++)
    await assert.rejects(
      startProcess(t, { folder: empty, settings: quota }),
      /There is no store in .* belongs to one: /,
    )
  await rm(join(empty, 'files'), { recursive: true })
  await (await startProcess(t, { folder: empty, settings: quota })).stop()
  return undefined
})

test('a start without the folder of the files says so, and so do doctor and the page Checks, until the files are there again (D20.9)', async t => {
  if (bucket !== undefined) return t.skip('the files are not in a folder')
  const { folder, contents } = await filledStore(t)
  const files = join(folder, 'files')
  await rename(files, `${files}-unmounted`)
  const doctor = async () => await stowage('/', ['doctor', ...(await place(folder))])
  const page = 'docs/how-to/troubleshooting.md#the-data-folder-is-lost'
  const found = `\nproblem: files: The database lists files, but there are none in ${files}. Is its disk mounted? Stop the service and follow ${page}.\n`
  const before = await doctor()
  assert.deepEqual([before.status, before.stdout.includes(found)], [1, true], before.stdout)

  const service = await startProcess(t, { folder, settings: quota })
  const logged = service
    .output()
    .split('\n')
    .find(line => line.includes('but there are none in this folder'))
  const { level, folder: named, msg } = JSON.parse(logged ?? '{}') as Readonly<Record<string, unknown>>
  assert.deepEqual([level, named], ['error', files], service.output())
  assert.match(String(msg), /Is its disk mounted\? Stop the service and follow \S+#the-data-folder-is-lost$/)
  const admin = await service.admin()
  assert.equal((await admin.get([...contents.files.keys()][4] ?? '')).status, 503)
  const { findings } = (await admin.get('management/findings')).json<{ findings: Array<{ code: string }> }>()
  assert.ok(findings.some(({ code }) => code === 'files-missing'))
  await service.stop()

  await rm(files, { recursive: true })
  await rename(`${files}-unmounted`, files)
  assert.doesNotMatch((await doctor()).stdout, /there are none in/)
  const again = await startProcess(t, { folder, settings: quota })
  assert.doesNotMatch(again.output(), /there are none in/)
  await holds(again, contents)
  return undefined
})

test('a restored store removes no backup that it has not made, also not of the same day, until somebody accepts its own (D20.9)', async t => {
  const { contents, target, settings } = await backedUp(t)
  const before = await timesIn(target)
  const restored = await temporaryFolder()
  succeeded(await stowage('/', ['restore', target, ...(await place(restored))]))
  const early = await accept(target, restored)
  assert.equal(early.status, 1)
  assert.match(early.stderr, /is of another store, or of this one before a restore\. Accept the next one/)
  const service = await startProcess(t, { folder: restored, settings })
  await replaces(target)
  const now = await timesIn(target)
  assert.deepEqual(
    before.filter(time => !now.includes(time)),
    [],
  )
  await service.stop()
  const lines = await listed(target, ...(await place(restored)))
  const remark = `; another store has made it, or this one before a restore: it stays until \`stowage backup accept ${target}\`, which is for a store that has lost nothing`
  assert.deepEqual(
    lines.filter(line => line.endsWith(remark)).map(line => line.split(' ')[0]),
    before,
  )
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const doctor = async () => (await stowage('/', ['doctor', ...(await place(restored)), ...sets])).stdout
  const kept =
    /^warning: backups: \d+ backups? of another store, or of this one before a restore, stays?\..*`stowage backup accept \S+`.*name another target for one of the two$/m
  assert.match(await doctor(), kept)
  succeeded(await accept(target, restored))
  assert.doesNotMatch(await doctor(), kept)
  assert.match(succeeded(await accept(target, restored)), /nothing to accept/)
  const again = await startProcess(t, { folder: restored, settings })
  await eventually(
    'older ones are removed again',
    async () => !(await timesIn(target)).some(time => before.includes(time)),
  )
  await holds(again, contents)
})

test('a data folder that is put back from a copy removes no backup that was made since (D20.9)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const { folder, contents, target, settings } = await backedUp(t)
  const copy = await temporaryFolder()
  await cp(folder, copy, { recursive: true })
  const since = await startProcess(t, { folder, settings })
  await replaces(target)
  await since.stop()
  const [good = ''] = await timesIn(target)
  const back = await startProcess(t, { folder: copy, settings })
  await replaces(target)
  await replaces(target)
  assert.ok((await timesIn(target)).includes(good))
  await back.stop()
  succeeded(await accept(target, copy))
  const again = await startProcess(t, { folder: copy, settings })
  await eventually('older ones are removed again', async () => !(await timesIn(target)).includes(good))
  await holds(again, contents)
  return undefined
})

test('after a backup that lacks files no older one is removed, until somebody accepts it (D20.9)', async t => {
  if (onPostgres) return t.skip('the files are not in a folder')
  const { folder, contents, target, settings } = await backedUp(t)
  const [good = ''] = await timesIn(target)
  const stored = async () =>
    (await readdir(join(folder, 'files'), { recursive: true, withFileTypes: true })).filter(one => one.isFile())
  const before = (await stored()).map(({ name }) => name)
  const filling = await startProcess(t, { folder, settings: quota })
  const admin = await filling.admin()
  const file = `${contents.context}/resource/${await newEntry(admin, contents.context)}`
  assert.equal((await putFile(admin, file, 'new')).status, 201)
  await filling.stop()
  const [lost] = (await stored()).filter(({ name }) => !before.includes(name))
  await rm(join(lost?.parentPath ?? '', lost?.name ?? ''))

  const service = await startProcess(t, { folder, settings })
  await moreBackups(target, 3)
  assert.ok((await timesIn(target)).includes(good))
  assert.equal(await metric(service, 'backup_failed'), 1)
  await service.prints(
    /without one file whose bytes the store has lost\. .*All older backups are kept, because the newest lacks a file/,
  )
  await service.stop()
  assert.match((await listed(target))[0] ?? '', /; lacks a file whose bytes the store has lost since/)
  const restore = await stowage('/', ['restore', target, ...(await place(await temporaryFolder()))])
  assert.equal(restore.status, 1)
  assert.match(
    restore.stderr,
    /The newest backup, of \S+, lacks a file .*Restore the last one before the loss with --at \S+ \(\d files\), or, if nothing was lost, the newest with --at \S+ \(\d files\)\.$/m,
  )

  assert.match(succeeded(await accept(target, folder)), /lacks a file .* is accepted/)
  assert.match((await listed(target))[0] ?? '', /; lacks a file$/)
  const again = await startProcess(t, { folder, settings })
  await eventually('older ones are removed again', async () => !(await timesIn(target)).includes(good))
  assert.equal(await metric(again, 'backup_failed'), 1, 'the store still lacks the file')
  return undefined
})

test('while a store has lost more than half of its files its older backups stay, until somebody accepts the loss (D20.9)', async t => {
  const { folder, contents, target, settings } = await backedUp(t)
  const [good = ''] = await timesIn(target)
  const smaller = await startProcess(t, { folder, settings: quota })
  const admin = await smaller.admin()
  for (const path of [...contents.files.keys()].slice(0, 3)) assert.equal((await admin.delete(path)).status, 204)
  await smaller.stop()
  const service = await startProcess(t, { folder, settings })
  await moreBackups(target, 3)
  assert.ok((await timesIn(target)).includes(good))
  assert.equal(await metric(service, 'backup_failed'), 1)
  await service.stop()

  const manifest = await newestManifest(target)
  const text = await readFile(manifest, 'utf8')
  await writeFile(manifest, text.replace(/"program": "/, '"program": "x'))
  const refused = await accept(target, folder)
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /was changed after it was signed\. It is not accepted\.$/m)
  await writeFile(manifest, text)
  assert.match(succeeded(await accept(target, folder)), /is accepted/)
  const again = await startProcess(t, { folder, settings })
  await eventually('older ones are removed again', async () => !(await timesIn(target)).includes(good))
  await eventually('the alarm ends', async () => (await metric(again, 'backup_failed')) === 0)
  assert.match(succeeded(await accept(target, folder)), /nothing to accept/)
})

test('a backup by hand does not take the place of that of a lost store, unless it is told to (D20.9)', async t => {
  const { folder, contents } = await filledStore(t)
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(folder, backup))
  const lost = await startProcess(t, { settings: quota })
  await lost.stop()
  const { status, stderr } = await backUp(lost.folder, backup)
  assert.equal(status, 1)
  assert.match(stderr, /another store.*--replace/)
  const restored = await temporaryFolder()
  succeeded(await stowage('/', ['restore', backup, ...(await place(restored))]))
  await holds(await startProcess(t, { folder: restored, settings: quota }), contents)
  assert.match(
    succeeded(await stowage('/', ['backup', backup, '--replace', ...(await place(lost.folder))])),
    /0 files with 0 bytes/,
  )
})

test('doctor names the backup of another store in the target, as long as the store has made none (D20.9)', async t => {
  const { folder, target, settings } = await backedUp(t)
  const [good = ''] = await timesIn(target)
  const made = await startProcess(t, { settings: quota })
  await made.stop()
  const other = made.folder
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const doctor = async (of: string): Promise<string> =>
    (await stowage('/', ['doctor', ...(await place(of)), ...sets])).stdout
  assert.match(
    await doctor(other),
    new RegExp(
      `^problem: backups: this store has made none yet\\. ${target} has one of ${good}, of another store`,
      'm',
    ),
  )
  assert.doesNotMatch(await doctor(folder), /of another store/)
  const restored = await temporaryFolder()
  succeeded(await stowage('/', ['restore', target, ...(await place(restored))]))
  assert.match(await doctor(restored), /^warning: backups: this store has made none yet\..*$/m)
})
