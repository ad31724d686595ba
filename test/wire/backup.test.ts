import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, appendFile, cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { layout } from '../../src/assembly/stores.ts'
import { after } from '../support/after.ts'
import { backUp, fill, filledStore, fsckIsClean, holds, place, restore, succeeded } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import type { Test } from '../support/peers/peer-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

/** A stopped store with something of everything, and a backup of it. */
async function backedUp(t: Test) {
  const store = await filledStore(t)
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(store.folder, backup))
  return { ...store, backup }
}

/** For tests that only read them. */
const original = await backedUp({ after })

/** A copy of the backup, which a test may change. */
async function copiedBackup(): Promise<string> {
  const copy = join(await temporaryFolder(), 'backup')
  await cp(original.backup, copy, { recursive: true })
  return copy
}

test('a backup made while the service runs is, restored, the store as it was: rights, files, levels, search (D7.5, D7.10)', async t => {
  const settings = { 'service.data.quota': 'on' }
  const service = await startProcess(t, { settings })
  const contents = await fill(service, await service.admin())
  const backup = join(await temporaryFolder(), 'backup')
  const said = succeeded(await backUp(service.folder, backup))
  assert.match(said, /5 files with 100000 bytes, 5 of them copied now/)

  const folder = await temporaryFolder()
  assert.match(succeeded(await restore(backup, folder)), /as it was on 20\d\d-.*5 files/)
  await fsckIsClean(folder)
  await holds(await startProcess(t, { folder, settings }), contents)
  await holds(service, contents)
})

test('only the owner may look at a backup, which holds the hashes of passwords', async () => {
  const { backup } = original
  for (const name of ['', ...(await readdir(backup, { recursive: true }))]) {
    const found = await stat(join(backup, name))
    assert.equal(found.mode & 0o777, found.isDirectory() ? 0o700 : 0o600, name)
  }
})

test('every backup made in mid-load is the store at one instant: files match their records, levels their sums', async t => {
  const settings = { 'service.data.quota': 'on' }
  const service = await startProcess(t, { settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const paths = await Promise.all(
    Array.from({ length: 6 }, async () => `${context}/resource/${await newEntry(admin, context)}`),
  )
  const load = new AbortController()
  const uploading = Promise.all(
    paths.map(async (path, index) => {
      for (let n = 0; !load.signal.aborted; n++) {
        const { status, text } = await putFile(admin, path, `${index}`.repeat(1000 * (n % 50) + index))
        assert.equal(status, 201, text)
      }
    }),
  )
  const parent = await temporaryFolder()
  // All into one folder: the later ones find bytes of the earlier ones, some of which nobody needs any more.
  for (let round = 0; round < 3; round++) {
    succeeded(await backUp(service.folder, join(parent, 'backup')))
    const folder = join(parent, `restored-${round}`)
    succeeded(await restore(join(parent, 'backup'), folder))
    assert.match(await fsckIsClean(folder), /^\d files/)
  }
  load.abort()
  await uploading
  await service.stop()
  await fsckIsClean(service.folder)
})

test('a second backup into the folder copies only what is new, and drops what is gone', async t => {
  const { folder, contents, backup } = await backedUp(t)
  const service = await startProcess(t, { folder })
  const admin = await service.admin()
  const [replaced = '', removed = ''] = [...contents.files.keys()].slice(3)
  assert.equal((await putFile(admin, replaced, 'new')).status, 201)
  assert.equal((await admin.delete(removed)).status, 204)
  assert.match(succeeded(await backUp(folder, backup)), /4 files with \d+ bytes, 1 of them copied now/)
  const blobs = (await readdir(join(backup, 'files'), { recursive: true })).filter(name => /[0-9a-f]{40}$/.test(name))
  assert.equal(blobs.length, 4)
  assert.equal((await readdir(backup)).filter(name => name.startsWith('rows-')).length, 1)
})

test('bytes in a backup that have changed are copied anew by the next one, and refused by a restore', async t => {
  const { folder, contents } = original
  const backup = await copiedBackup()
  const blobs = (await readdir(join(backup, 'files'), { recursive: true })).filter(name => /[0-9a-f]{40}$/.test(name))
  const largest = join(backup, 'files', await largestOf(join(backup, 'files'), blobs))
  await writeFile(largest, 'x'.repeat(40_000))
  const refused = await restore(backup, await temporaryFolder())
  assert.equal(refused.status, 1)
  assert.match(refused.stdout, /^damaged in the backup, and left out: the bytes of \d+\/\d+ /m)
  assert.match(refused.stdout, /do not run it again, but put the store in place and start it\..*--entry CONTEXT\/ID/)
  assert.match(succeeded(await backUp(folder, backup)), /1 of them copied now/)
  const restored = await temporaryFolder()
  succeeded(await restore(backup, restored))
  await holds(await startProcess(t, { folder: restored, settings: { 'service.data.quota': 'on' } }), contents)
})

test('a restore refuses a store that holds something, and leaves it as it is', async t => {
  const { folder, contents, backup } = await backedUp(t)
  const { status, stderr } = await restore(backup, folder)
  assert.equal(status, 1)
  assert.match(stderr, /The target already contains a store/)
  await holds(await startProcess(t, { folder, settings: { 'service.data.quota': 'on' } }), contents)
  const inUse = await restore(backup, folder)
  assert.equal(inUse.status, 1)
  assert.match(inUse.stderr, /in use by another Stowage process/)
})

test('a restore refuses rows that are not those that were written, a backup that has no end, and one of the future', async () => {
  const backup = await copiedBackup()
  const target = await temporaryFolder()
  const refusal = async (): Promise<string> => {
    const { status, stderr } = await restore(backup, target)
    assert.equal(status, 1)
    return stderr
  }
  const manifest = join(backup, 'manifest.json')
  const original = await readFile(manifest, 'utf8')
  const future = { ...(JSON.parse(original) as object), schema: 9999, sha256: undefined }
  await writeFile(manifest, JSON.stringify(future))
  assert.match(await refusal(), /whose store this version does not support/)
  await writeFile(manifest, original)
  const rows = (await readdir(backup)).find(name => name.startsWith('rows-')) ?? ''
  await appendFile(join(backup, rows, 'principals.ndjson'), '{"id":"intruder","kind":"user"}\n')
  assert.match(await refusal(), /damaged: table principals/)
  await rm(manifest)
  assert.match(await refusal(), /no complete backup/)
  assert.deepEqual(await readdir(target), [], 'nothing was made')
})

test('a backup of an older schema is restored and taken through the later steps', async t => {
  const { contents } = original
  const backup = await copiedBackup()
  const [manifest, schema] = [join(backup, 'manifest.json'), 7]
  const reported = JSON.parse(await readFile(manifest, 'utf8')) as { tables: Array<{ name: string; sha256: string }> }
  // As it was then: without the tables and columns that came later.
  const newTables = layout.tables.filter(({ since = 0 }) => since > schema).map(({ name }) => name)
  const later: Readonly<Record<string, RegExp>> = {
    principals: /,"(?:spared_login":null|temporary_password":0|code_unlocks":0)/g,
    files: /,"(?:verified":\d+|problem":null|user_id":(?:null|"[^"]*"))/g,
    list_members: /,"(?:trusted":[01]|scope":(?:null|"[^"]*"))/g,
    audit: /,"(?:place|name)":(?:null|"(?:[^"\\]|\\.)*")/g,
  }
  const rows = (await readdir(backup)).find(name => name.startsWith('rows-')) ?? ''
  const written = await Promise.all(
    reported.tables
      .filter(({ name }) => !newTables.includes(name))
      .map(async table => {
        const columns = later[table.name]
        if (!columns) return table
        const path = join(backup, rows, `${table.name}.ndjson`)
        const older = (await readFile(path, 'utf8')).replaceAll(columns, '')
        await writeFile(path, older)
        return { ...table, sha256: createHash('sha256').update(older).digest('hex') }
      }),
  )
  // The quota of a context was in a table of its own.
  const usage = (await readFile(join(backup, rows, 'quota_usage.ndjson'), 'utf8')).trim().split('\n')
  const spaces = usage
    .map(line => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter(({ kind }) => kind === 'context')
    .map(({ owner, quota, used, reserved }) => `${JSON.stringify({ context: owner, quota, used, reserved })}\n`)
  await writeFile(join(backup, rows, 'spaces.ndjson'), spaces.join(''))
  const sha256 = createHash('sha256').update(spaces.join('')).digest('hex')
  const all = [...written, { name: 'spaces', rows: spaces.length, sha256 }]
  await writeFile(manifest, JSON.stringify({ ...reported, schema, tables: all, sha256: undefined }))
  const folder = await temporaryFolder()
  succeeded(await restore(backup, folder))
  await holds(await startProcess(t, { folder, settings: { 'service.data.quota': 'on' } }), contents)
})

test('a backup does not go into a folder that holds something else, nor beside another backup at work', async () => {
  const { folder } = original
  const other = await temporaryFolder()
  await writeFile(join(other, 'letters.txt'), 'dear')
  for (const taken of [other, folder]) {
    const { status, stderr } = await backUp(folder, taken)
    assert.equal(status, 1)
    assert.match(stderr, /contains something other than a backup/)
  }
  const scheduled = await temporaryFolder()
  await mkdir(join(scheduled, 'generations'))
  assert.match((await backUp(folder, scheduled)).stderr, /has the scheduled backups of a service\. Name another folder/)
  assert.deepEqual(await readdir(other), ['letters.txt'])
})

/** The data folder of another store. */
async function anotherStore(): Promise<string> {
  const service = await startProcess({ after })
  await service.stop()
  return service.folder
}
const other = await anotherStore()

/** The command line of a backup that may replace another one. */
const replacing = async (folder: string, to: string) =>
  await stowage('/', ['backup', to, '--replace', ...(await place(folder))])

/** The names of everything in a folder but its lock. */
const namesIn = async (path: string): Promise<readonly string[]> =>
  (await readdir(path, { recursive: true })).filter(name => !/^(lock|stowage\.pid)/.test(name)).sort()

const damages: Readonly<Record<string, (text: string) => string>> = {
  'a byte of its syntax': text => text.replace('"format"', '"format\''),
  'a byte of a name': text => text.replace('"store"', '"storf"'),
  'a byte of a value': text => text.replace(/"rows": \d/, '"rows": 9'),
  'no value': () => '{}\n',
  'nothing at all': () => '',
  'another shape': () => '{"format":"stowage-backup","version":1,"tables":{},"files":null}',
  'a folder outside it': text =>
    JSON.stringify({ ...(JSON.parse(text) as object), sha256: undefined, folder: '../rows-0123456789abcdef' }),
}
for (const [damage, change] of Object.entries(damages)) {
  test(`a backup whose manifest.json has ${damage} is damaged, and is replaced only with --replace (D20.9)`, async () => {
    const backup = await copiedBackup()
    const manifest = join(backup, 'manifest.json')
    const text = await readFile(manifest, 'utf8')
    await writeFile(manifest, change(text))
    assert.notEqual(await readFile(manifest, 'utf8'), text)
    const before = await namesIn(backup)
    const damaged = `stowage: The backup in ${backup} is damaged: manifest.json. `
    const target = await temporaryFolder()
    for (const run of [
      await stowage('/', ['backup', 'verify', backup]),
      await stowage('/', ['backup', 'list', backup]),
      await restore(backup, target),
    ]) {
      const advice = 'Put a copy of this file back, or use another backup.\n'
      assert.deepEqual(run, { status: 1, stdout: '', stderr: `${damaged}${advice}` })
    }
    assert.deepEqual(await readdir(target), [])
    const advice = 'It is kept. Name another folder, or replace it with --replace.\n'
    assert.deepEqual(await backUp(other, backup), { status: 1, stdout: '', stderr: `${damaged}${advice}` })
    assert.deepEqual(await namesIn(backup), before)
    await writeFile(manifest, text)
    succeeded(await restore(backup, await temporaryFolder()))
    await writeFile(manifest, change(text))
    succeeded(await replacing(other, backup))
    succeeded(await stowage('/', ['backup', 'verify', backup]))
  })
}

test('a backup that has lost its manifest.json is kept, but one that was never completed is made again (D20.9)', async () => {
  const backup = await copiedBackup()
  await rm(join(backup, 'manifest.json'))
  for (const part of ['rows', 'files']) {
    const before = await namesIn(backup)
    const stderr =
      `stowage: The folder ${backup} has the files of a backup, but no manifest.json. ` +
      'They are kept. Name another folder, or replace them with --replace.\n'
    assert.deepEqual(await backUp(other, backup), { status: 1, stdout: '', stderr }, part)
    assert.deepEqual(await namesIn(backup), before)
    for (const name of await readdir(backup))
      if (name.startsWith('rows-')) await rm(join(backup, name), { recursive: true })
  }
  succeeded(await replacing(other, backup))

  const folder = join(await temporaryFolder(), 'backup')
  // Its rows and its smaller files are written, and the process ends at its largest file.
  const limited = { tracer: ['bash', '-c', 'ulimit -f 35; exec "$@"', 'limited'] }
  const interrupted = await stowage('/', ['backup', folder, ...(await place(original.folder))], {}, limited)
  assert.notEqual(interrupted.status, 0)
  assert.ok((await namesIn(folder)).some(name => name.startsWith('rows-') && name.endsWith('/files.ndjson')))
  assert.match((await stowage('/', ['backup', 'verify', folder])).stderr, /no complete backup/)
  succeeded(await backUp(original.folder, folder))
  succeeded(await stowage('/', ['backup', 'verify', folder]))
})

test('damaged files of the original are listed by name; the rest is in the backup', async t => {
  const { folder, contents } = await backedUp(t)
  const { plantBlob, blobStoreOf } = await import('../support/blobs.ts')
  const store = await blobStoreOf(folder)
  for await (const { key, size } of store.list()) if (size === 40_000) await plantBlob(folder, key, 'x'.repeat(40_000))
  const backup = join(await temporaryFolder(), 'backup')
  const { status, stdout } = await backUp(folder, backup)
  assert.equal(status, 1)
  const damaged = [...contents.files.keys()][4]?.replace('/resource/', '/')
  assert.match(stdout, new RegExp(`^damaged in the store, and left out: the bytes of ${damaged} `, 'm'))
  const restored = await restore(backup, await temporaryFolder())
  assert.match(restored.stdout, /^damaged in the backup.*\n.*as it was on/m)
})

test('without a place, backup, restore and migrate-store print their usage', async () => {
  const folder = await temporaryFolder()
  for (const args of [
    ['backup'],
    ['restore'],
    ['migrate-store'],
    ['migrate-store', '--from-set', 'service.http.port=0'],
  ]) {
    assert.equal((await stowage(folder, args)).status, 2)
  }
  const none = await stowage(folder, ['backup', join(folder, 'b'), ...(await place(folder))])
  assert.match(none.stderr, /There is no store/)
})

async function largestOf(folder: string, names: readonly string[]): Promise<string> {
  const sizes = await Promise.all(names.map(async name => ({ name, size: (await stat(join(folder, name))).size })))
  return sizes.sort((a, b) => b.size - a.size)[0]?.name ?? ''
}
