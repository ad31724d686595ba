import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import type { Generation, IndexRow } from '../../src/features/backups/generations.ts'
import { after } from '../support/after.ts'
import { backUp, filledStore, place, succeeded, timesIn } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import type { Visitor } from '../support/http-client.ts'
import { startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const quota = { 'service.data.quota': 'on' }
const keys = await temporaryFolder()
const identity = join(keys, 'key.txt')

/** A service with contents, and two places with at least two backups that it has made: one encrypted, one not. */
async function backedUp() {
  const { folder, contents } = await filledStore({ after })
  await writeFile(join(folder, 'second-factors.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
  const secret = await generateX25519Identity()
  await writeFile(identity, `${secret}\n`)
  const targets = []
  for (const more of [{ 'service.backup.encrypt-to.1': await identityToRecipient(secret) }, {}]) {
    const target = join(await temporaryFolder(), 'backups')
    const schedule = { 'service.backup.schedule': '* * * * * *', 'service.backup.target': target }
    const making = await startProcess({ after }, { folder, settings: { ...quota, ...schedule, ...more } })
    await eventually('two backups', async () => (await timesIn(target)).length > 1)
    await making.stop()
    targets.push(target)
  }
  const [encrypted = '', open = ''] = targets
  return { folder, contents, encrypted, open }
}

const original = await backedUp()
const { contents } = original
const paths = [...contents.files.keys()]
const nameOf = (path: string): string => path.replace('/resource/', '/')

const pathIn = (target: string, blob: string): string => join(target, 'blobs', blob.slice(0, 2), blob)

/** A copy of a backup, which a test may damage. */
async function copied(target: string, { keepsOlder = false } = {}) {
  const copy = join(await temporaryFolder(), 'backups')
  await cp(target, copy, { recursive: true })
  const manifests = (await readdir(join(copy, 'generations'), { recursive: true, withFileTypes: true })).filter(one =>
    one.isFile(),
  )
  const generations = await Promise.all(
    manifests.map(async ({ parentPath, name }) => {
      const manifest = join(parentPath, name)
      return { manifest, generation: JSON.parse(await readFile(manifest, 'utf8')) as Generation }
    }),
  )
  generations.sort((a, b) => (a.generation.created < b.generation.created ? 1 : -1))
  const [{ generation, manifest } = assert.fail('there is no backup'), ...older] = generations
  // Otherwise nothing but the newest one, which a restore takes.
  for (const one of keepsOlder ? [] : older) await rm(one.manifest)
  const index = pathIn(copy, generation.index.blob)
  const rows = (await readFile(index, 'utf8')).trim().split('\n')
  const files = rows.map(line => JSON.parse(line) as IndexRow).sort((a, b) => a.size - b.size)
  return { target: copy, generation, older, manifest, index, files: files.map(({ blob }) => pathIn(copy, blob)) }
}

async function flip(path: string, at: (size: number) => number): Promise<void> {
  const bytes = await readFile(path)
  const place = at(bytes.length)
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place)
  await writeFile(path, bytes)
}
const middle = (size: number): number => Math.floor(size / 2)
const last = (size: number): number => size - 1

async function restore(target: string, ...args: string[]) {
  const folder = await temporaryFolder()
  const run = await stowage('/', ['restore', target, '--identity', identity, ...args, ...(await place(folder))])
  return { folder, ...run, said: run.stdout + run.stderr }
}

/** The store has everything but these files. */
async function hasAllBut(admin: Visitor, lost: readonly string[]): Promise<void> {
  for (const [path, text] of contents.files)
    if (!lost.includes(path)) assert.equal((await admin.get(path)).text, text, path)
  assert.match((await admin.get(`${contents.context}/metadata/${contents.entry}`)).text, /aus dem Archiv/)
}

/** A service runs on what is left. */
async function holdsAllBut(
  t: Parameters<typeof startProcess>[0],
  folder: string,
  lost: readonly string[],
): Promise<void> {
  const service = await startProcess(t, { folder, settings: quota })
  await hasAllBut(await service.admin(), lost)
  await service.stop()
}

for (const kind of ['encrypted', 'open'] as const) {
  test(`damaged files of a backup (${kind}) are listed, and everything else comes back (D20.20)`, async t => {
    const { target, files } = await copied(original[kind])
    // The largest two: one in its last byte, one at its beginning, where an encrypted file names its keys.
    await flip(files[4] ?? '', last)
    await flip(files[3] ?? '', () => 60)
    await truncate(files[2] ?? '', 100)
    const lost = paths.slice(2)
    const { folder, status, said } = await restore(target)
    assert.equal(status, 1, said)
    for (const path of lost) assert.match(said, new RegExp(`^damaged .*the bytes of ${nameOf(path)} `, 'm'))
    assert.match(said, /as it was on/)
    await holdsAllBut(t, folder, lost)
  })

  test(`a context of a damaged backup (${kind}) comes back without the files that are damaged, and replaces none (D20.20)`, async t => {
    const { target, files } = await copied(original[kind])
    await flip(files[4] ?? '', middle)
    await rm(files[3] ?? '')
    const { context } = contents
    const lost = paths.slice(3)
    const whole = await restore(original[kind])
    assert.equal(whole.status, 0, whole.said)
    const service = await startProcess(t, { folder: whole.folder, settings: quota })
    const admin = await service.admin()
    const part = async (...args: string[]) => {
      const where = await place(whole.folder)
      return await stowage('/', [
        'restore',
        target,
        '--identity',
        identity,
        ...args,
        ...where,
        '--set',
        'service.data.quota=on',
      ])
    }
    for (const args of [
      ['--context', context],
      ['--entry', nameOf(lost[1] ?? '')],
    ]) {
      const refused = await part(...args, '--replace')
      assert.equal(refused.status, 1)
      assert.match(refused.stderr, /Nothing was replaced, because this backup has no intact bytes of \d+\/\d+/)
      assert.match(refused.stderr, /Keep what the store has, or name an older backup with --at\.$/m)
      assert.doesNotMatch(refused.stderr, /delete/)
    }
    await hasAllBut(admin, [])

    assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
    const { status, stdout, stderr } = await part('--context', context)
    assert.equal(status, 1, stderr)
    for (const path of lost) assert.match(stdout, new RegExp(`^damaged .*the bytes of ${nameOf(path)} `, 'm'))
    await hasAllBut(admin, lost)
  })

  test(`a damaged or lost index stops a restore before anything is made, which names an older backup (${kind}) (D20.20)`, async t => {
    const { target, generation, older, index } = await copied(original[kind], { keepsOlder: true })
    const [{ generation: before } = assert.fail('there is no older backup')] = older
    const bytes = await readFile(index)
    const refusal =
      `stowage: The backup of ${generation.created} in ${target} is damaged: index. Nothing was restored. ` +
      `The newest backup whose rows and index are whole is of ${before.created}: restore it with --at ${before.created}.\n`
    for (const damage of [
      () => rm(index),
      () => truncate(index, 10),
      () => flip(index, middle),
      () => flip(index, last),
    ]) {
      await damage()
      const { folder, status, stderr } = await restore(target)
      assert.deepEqual([status, stderr, await readdir(folder)], [1, refusal, []])
      await writeFile(index, bytes)
    }
    await rm(index)
    const named = await restore(target, '--at', before.created)
    assert.equal(named.status, 0, named.said)
    const where = await place(named.folder)
    for (const part of [
      ['--context', contents.context],
      ['--entry', nameOf(paths[1] ?? '')],
    ]) {
      const run = await stowage('/', ['restore', target, '--identity', identity, '--replace', ...part, ...where])
      assert.deepEqual([run.status, run.stdout, run.stderr], [1, '', refusal])
    }
    await holdsAllBut(t, named.folder, [])
  })

  test(`damaged rows stop a restore before anything is made, a damaged key file does not (${kind}) (D20.20)`, async t => {
    const rows = await copied(original[kind])
    for (const at of [() => 60, middle, last]) {
      const entries = rows.generation.tables.find(({ name }) => name === 'entries')
      const path = pathIn(rows.target, entries?.stored.blob ?? '')
      await flip(path, at)
      const { folder, status, stderr } = await restore(rows.target)
      assert.equal(status, 1)
      assert.match(
        stderr,
        /^stowage: The backup of \S+ in \S+ is damaged: table entries\. Nothing was restored, and no other backup /,
      )
      assert.deepEqual(await readdir(folder), [])
      await flip(path, at)
    }

    const withoutKeys = await copied(original[kind])
    await flip(pathIn(withoutKeys.target, withoutKeys.generation.keys?.blob ?? ''), last)
    const keyless = await restore(withoutKeys.target)
    assert.equal(keyless.status, 1, keyless.said)
    assert.match(keyless.said, /keys of authenticator apps did not come back: .*damaged/)
    await holdsAllBut(t, keyless.folder, [])
  })
}

test('a schema number edited in a manifest stops a restore with one line, before anything is made (D20.20)', async () => {
  const { target, generation } = await copied(original.open)
  const manifests = join(target, 'generations')
  const byHand = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(original.folder, byHand))
  const kept = (await readdir(manifests, { recursive: true, withFileTypes: true })).filter(one => one.isFile())
  const files = kept.map(({ parentPath, name }) => join(parentPath, name))
  const named = ['--at', generation.created, '--accept-changed']
  for (const [backup, manifest, ...at] of [
    ...files.map(file => [target, file, ...named] as const),
    [byHand, join(byHand, 'manifest.json')] as const,
  ]) {
    const text = await readFile(manifest, 'utf8')
    for (const schema of ['12', '50', '999999', '-1', 'null', '"x"']) {
      await writeFile(manifest, text.replace(/"schema": \d+/, `"schema": ${schema}`))
      const { folder, status, stderr } = await restore(backup, ...at)
      assert.equal(status, 1, schema)
      assert.match(stderr, /^stowage: The backup .*\n$/, schema)
      assert.deepEqual(await readdir(folder), [], schema)
    }
    await writeFile(manifest, text)
    const whole = await restore(backup, ...at)
    assert.equal(whole.status, 0, whole.said)
  }
})

test('a restore says what it could not verify, and takes a manifest that was changed only with an option of its own (D20.24)', async t => {
  const { target, generation, manifest } = await copied(original.open)
  const whole = await restore(target)
  assert.equal(whole.status, 0, whole.said)
  const [, key = ''] =
    /^The manifest of the backup of \S+ \(\S+\) is signed with the key (\S+), which this store does not have/m.exec(
      whole.stdout,
    ) ?? []
  const own = await place(original.folder)
  const sets = ['schedule=@daily', `target=${target}`].flatMap(set => ['--set', `service.backup.${set}`])
  const doctor = await stowage('/', ['doctor', ...own, ...sets])
  assert.ok(doctor.stdout.includes(`\nbackups: signed with the key ${key}\n`), doctor.stdout)
  const verify = () => stowage('/', ['backup', 'verify', target, ...own])
  assert.doesNotMatch(succeeded(await verify()), /manifest/)
  assert.doesNotMatch(succeeded(await stowage('/', ['backup', 'list', target])), /;/)

  const text = await readFile(manifest, 'utf8')
  await writeFile(manifest, text.replace(/"program": "/, '"program": "x'))
  const verified = await verify()
  assert.equal(verified.status, 1)
  const sentence = `The manifest of the backup of ${generation.created} (${manifest}) was changed after it was signed.`
  assert.ok(verified.stdout.startsWith(`${sentence}\n`), verified.stdout)
  const remark = `; its manifest ${manifest} was changed after it was signed\n`
  const { stdout } = await stowage('/', ['backup', 'list', target])
  assert.ok(stdout.includes(remark), stdout)
  assert.match(stdout, /\nNo backup is good as far as it is known\. .*\n$/)
  const refused = await restore(target)
  assert.equal(refused.status, 1)
  assert.equal(
    refused.stderr,
    `stowage: ${sentence} Name an older backup with --at, or restore this one nevertheless with --accept-changed.\n`,
  )
  const byTime = await restore(target, '--at', generation.created)
  assert.deepEqual([byTime.status, byTime.stderr], [1, refused.stderr])
  for (const { folder } of [refused, byTime]) assert.deepEqual(await readdir(folder), [])
  const named = await restore(target, '--at', generation.created, '--accept-changed')
  assert.equal(named.status, 0, named.said)
  assert.match(named.stdout, /was changed after it was signed/)

  const { signature: _gone, ...unsigned } = JSON.parse(text) as Generation
  await writeFile(manifest, JSON.stringify(unsigned))
  assert.match(
    await stowage('/', ['backup', 'list', target]).then(run => run.stdout),
    /; its manifest \S+ is not signed$/m,
  )
  assert.match((await restore(target)).stdout, /is not signed, so it cannot be verified that the service wrote it\.$/m)
  await holdsAllBut(t, named.folder, [])
})

test('a manifest without its signature counts as changed where others are signed (D20.24)', async () => {
  const { target, generation, manifest } = await copied(original.open, { keepsOlder: true })
  const { signature: _gone, ...unsigned } = generation
  await writeFile(manifest, JSON.stringify(unsigned))
  const sentence = `The manifest of the backup of ${generation.created} (${manifest}) is not signed, so it cannot be verified that the service wrote it.`
  for (const at of [[], ['--at', generation.created]]) {
    const verified = await stowage('/', ['backup', 'verify', target, ...at])
    assert.deepEqual([verified.status, verified.stdout.split('\n')[0]], [1, sentence])
    const refused = await restore(target, ...at)
    assert.equal(
      refused.stderr,
      `stowage: ${sentence} Name an older backup with --at, or restore this one nevertheless with --accept-changed.\n`,
    )
    assert.deepEqual([refused.status, await readdir(refused.folder)], [1, []])
  }
  const accepted = await restore(target, '--accept-changed')
  assert.deepEqual([accepted.status, accepted.stdout.split('\n')[0]], [0, sentence])
})

test('a backup by hand whose file of keys is lost comes back without it (D20.20)', async t => {
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(original.folder, backup))
  const rows = (await readdir(backup)).find(name => name.startsWith('rows-')) ?? ''
  await rm(join(backup, rows, 'second-factors.key'))
  const folder = await temporaryFolder()
  const { status, stdout, stderr } = await stowage('/', ['restore', backup, ...(await place(folder))])
  assert.equal(status, 1)
  assert.match(stdout + stderr, /keys of authenticator apps did not come back: .*damaged/)
  await holdsAllBut(t, folder, [])
})

test('verify names damaged files with their entry, unless the backup is encrypted, and where their bytes are (D20.20)', async () => {
  for (const kind of ['encrypted', 'open'] as const) {
    const { target, files } = await copied(original[kind])
    const [broken = '', lost = ''] = files.slice(-2)
    await flip(broken, middle)
    await rm(lost)
    const { status, stdout } = await stowage('/', ['backup', 'verify', target])
    assert.equal(status, 1)
    for (const [index, path] of [broken, lost].entries()) {
      const file = kind === 'open' ? nameOf(paths[paths.length - 2 + index] ?? '') : 'a file'
      assert.match(
        stdout,
        new RegExp(`^damaged in the backup: the bytes of ${file} \\(blob [0-9a-f]{40}, ${path}\\)$`, 'm'),
      )
    }
  }
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(original.folder, backup))
  const blobs = await readdir(join(backup, 'files'), { recursive: true, withFileTypes: true })
  const [one] = blobs.filter(file => file.isFile() && file.name.length === 40)
  const path = join(one?.parentPath ?? '', one?.name ?? '')
  await rm(path)
  const { status, stdout } = await stowage('/', ['backup', 'verify', backup])
  assert.equal(status, 1)
  assert.match(
    stdout,
    new RegExp(`^damaged in the backup: the bytes of \\d+/\\d+ \\(blob ${one?.name}, ${path}\\)$`, 'm'),
  )
})

test('a manifest that cannot be read makes verify fail, which names its file (D20.24)', async () => {
  const { target, generation } = await copied(original.open)
  const key = 'ab'.repeat(20)
  await mkdir(join(target, 'generations/ab'), { recursive: true })
  await writeFile(join(target, 'generations/ab', key), 'no manifest')
  const { status, stdout } = await stowage('/', ['backup', 'verify', target])
  const sentence = `The manifest ${target}/generations/ab/${key} is damaged, or of another version.`
  assert.deepEqual([status, stdout.split('\n')[0]], [1, sentence])
  succeeded(await stowage('/', ['backup', 'verify', target, '--at', generation.created]))
})
