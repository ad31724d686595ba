import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { layout } from '../../src/assembly/stores.ts'
import { realSystem } from '../../src/base/system.ts'
import { loadSettings } from '../../src/config/load.ts'
import { openBlobs, openDatabase } from '../../src/core/open-store.ts'
import { ownBackups } from '../../src/features/backups/acceptance.ts'
import { BackupRuns } from '../../src/features/backups/backup-runs.ts'
import { openBackupTarget } from '../../src/features/backups/backup-target.ts'
import { encryptionTo } from '../../src/features/backups/cipher.ts'
import type { Generation } from '../../src/features/backups/generations.ts'
import { makeGeneration, type Outcome } from '../../src/features/backups/make-generation.ts'
import { manifestKey } from '../../src/features/backups/manifest-key.ts'
import { BackupOverview } from '../../src/features/backups/overview.ts'
import { Pace } from '../../src/features/backups/pace.ts'
import { type Proof, proveBackup } from '../../src/features/backups/prove.ts'
import { fill, place as placeOf } from '../support/backups.ts'
import { startFakeS3 } from '../support/fake-s3.ts'
import { startProcess } from '../support/service.ts'
import { smallDisk } from '../support/small-disk.ts'
import { withBackupSettings } from '../../src/features/backups/settings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Where backups are, byte by byte. Names end with the keys of what they hold. */
interface Place {
  readonly url: string
  list(): Promise<string[]>
  read(name: string): Promise<Buffer>
  write(name: string, bytes: Buffer): Promise<void>
  remove(name: string): Promise<void>
}

async function folderPlace(): Promise<Place> {
  const url = join(await temporaryFolder(), 'backups')
  return {
    url,
    list: async () =>
      (await readdir(url, { recursive: true, withFileTypes: true }))
        .filter(one => one.isFile())
        .map(({ parentPath, name }) => join(parentPath, name)),
    read: name => readFile(name),
    write: (name, bytes) => writeFile(name, bytes),
    remove: name => rm(name),
  }
}

const s3 = await startFakeS3({ after })
const access = {
  'service.backup.s3.endpoint': s3.url,
  'service.backup.s3.region': 'eu-north-1',
  'service.backup.s3.access-key': 'key',
  'service.backup.s3.secret-key': 'secret',
}

const bucketPlace = (prefix: string): Place => ({
  url: `s3://bucket/${prefix}`,
  list: async () => [...s3.objects.keys()].filter(name => name.startsWith(`${prefix}/`)),
  read: async name => s3.objects.get(name) ?? assert.fail(name),
  write: async (name, bytes) => void s3.objects.set(name, bytes),
  remove: async name => void s3.objects.delete(name),
})

/** A stopped store with files and a key file. */
const original = await startProcess({ after }, { settings: { 'service.data.quota': 'on' } })
await fill(original, await original.admin())
const keyFile = join(original.folder, 'second-factors.key')
await writeFile(keyFile, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
await original.stop()

const arguments_ = (await placeOf(original.folder)).filter(word => word !== '--set')
const overrides = [...arguments_, ...Object.entries(access).map(([key, value]) => `${key}=${value}`)]
const settings = withBackupSettings(loadSettings({ file: undefined, overrides }).settings)
const database = await openDatabase(settings, realSystem)
const blobs = await openBlobs(settings)
after(async () => {
  await blobs.close()
  await database.close()
})
const { signal } = new AbortController()

/** A backup in this place, and a function that damages it, proves it and repairs it. */
async function backedUp(
  at: Place,
  recipients: readonly string[],
  onDamaged?: (blob: string, outcome: Outcome) => void,
) {
  const target = await openBackupTarget(settings, at.url)
  after(() => target.close())
  const created = realSystem.now()
  const generation = await makeGeneration(
    {
      database,
      blobs,
      tables: layout.tables,
      system: realSystem,
      program: '0.0.0',
      service: 'http://127.0.0.1/',
      created,
      keyFile,
      spool: join(await temporaryFolder(), 'spool'),
      recipients,
      encrypt: await encryptionTo(recipients),
      signing: await manifestKey(database, realSystem),
      own: await ownBackups(database),
      signal,
      ...(onDamaged && { onDamaged }),
    },
    target,
  )
  const names = await at.list()
  const nameOf = (key: string): string => names.find(name => name.endsWith(key)) ?? assert.fail(key)
  const manifest = names.find(name => name.includes('/generations/')) ?? assert.fail('no manifest')
  const index = nameOf(generation.index.blob)
  const rows = (await at.read(index)).toString().trim().split('\n')
  const files = rows.map(row => JSON.parse(row) as { file: string; blob: string; size: number })
  const largest = files.sort((a, b) => b.size - a.size)[0] ?? assert.fail('no file')
  const tableOf = (table: string): string =>
    nameOf(generation.tables.find(({ name }) => name === table)?.stored.blob ?? assert.fail(table))
  const keys = nameOf(generation.keys?.blob ?? assert.fail('no keys'))
  const proof = async (scratch: string): Promise<Proof> =>
    await proveBackup({ target, created, now: created, layout, store: database, scratch, pace: new Pace(signal) })
  const prove = async (): Promise<string> => {
    const scratch = join(await temporaryFolder(), 'scratch')
    const { problems } = await proof(scratch)
    assert.ok(!(await readdir(join(scratch, '..'))).includes('scratch'))
    return problems.join('\n')
  }
  return { generation, manifest, index, file: nameOf(largest.blob), lost: largest, tableOf, keys, proof, prove }
}

type Backup = Awaited<ReturnType<typeof backedUp>>
/** Damage to the bytes of one thing; `undefined` removes it. */
type Damage = (bytes: Buffer) => Buffer | undefined

const gone: Damage = () => undefined
const empty: Damage = () => Buffer.alloc(0)
const flipped =
  (at: (size: number) => number): Damage =>
  bytes => {
    const changed = Buffer.from(bytes)
    const index = at(bytes.length)
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
    return changed
  }
const first = flipped(() => 0)
const middle = flipped(size => Math.floor(size / 2))
const last = flipped(size => size - 1)
const shorter: Damage = bytes => bytes.subarray(0, bytes.length - 1)
const longer: Damage = bytes => Buffer.concat([bytes, Buffer.from('x')])
const withoutLine: Damage = bytes => Buffer.from(bytes.toString('latin1').split('\n').slice(1).join('\n'), 'latin1')
/** A manifest with some members changed, as whoever can write the place could change it. */
const edited =
  (change: (generation: Generation) => object): Damage =>
  bytes => {
    const generation = JSON.parse(bytes.toString()) as Generation
    return Buffer.from(JSON.stringify({ ...generation, ...change(generation) }))
  }

const changedManifest =
  /^The manifest of the backup of \S+ \(\S+\/generations\/\S+\) was changed after it was signed\.$/m
const unsigned = /^The manifest of the backup of \S+ \(\S+\) is not signed/m
const unreadable = /^The manifest \S+\/generations\/\S+ is damaged\.$/m
const missing = /^The backup of \S+ in \S+ is gone\.$/m
const table = (name: string) => new RegExp(`is damaged: table ${name}\\.$`, 'm')

/** What is damaged, how, and what a proof says. */
type Corruption = readonly [
  what: string,
  of: (backup: Backup) => string,
  damage: Damage,
  says: RegExp | ((backup: Backup) => RegExp),
]
const corruptions: readonly Corruption[] = [
  ...(
    [
      ['without its bytes', gone],
      ['that is empty', empty],
      ['with another first byte', first],
      ['with another byte', middle],
      ['with another last byte', last],
      ['that is shorter', shorter],
      ['that is longer', longer],
    ] as const
  ).flatMap(([how, damage]): Corruption[] => [
    [`a file ${how}`, ({ file }) => file, damage, ({ lost }) => new RegExp(`blob ${lost.file}\\b.*missing or damaged`)],
    [`rows of entries ${how}`, ({ tableOf }) => tableOf('entries'), damage, table('entries')],
    [`rows of users ${how}`, ({ tableOf }) => tableOf('principals'), damage, table('principals')],
    [`an index ${how}`, ({ index }) => index, damage, /index/],
    [`a key file ${how}`, ({ keys }) => keys, damage, /second-factors\.key/],
  ]),
  ['an audit log with another byte', ({ tableOf }) => tableOf('audit'), middle, table('audit')],
  ['an index without a line', ({ index }) => index, withoutLine, /index/],
  ['a manifest that is gone', ({ manifest }) => manifest, gone, missing],
  ['a manifest that is cut off', ({ manifest }) => manifest, bytes => bytes.subarray(0, bytes.length - 2), unreadable],
  [
    'a manifest of another schema',
    ({ manifest }) => manifest,
    edited(({ schema }) => ({ schema: schema - 1 })),
    changedManifest,
  ],
  [
    'a manifest of another time',
    ({ manifest }) => manifest,
    edited(() => ({ created: '2020-01-01T00:00:00.000Z' })),
    missing,
  ],
  [
    'a manifest of a later time',
    ({ manifest }) => manifest,
    edited(() => ({ created: '9999-01-01T00:00:00.000Z' })),
    missing,
  ],
  [
    'a manifest with fewer files',
    ({ manifest }) => manifest,
    edited(({ files }) => ({ files: { ...files, count: files.count - 1 } })),
    changedManifest,
  ],
  [
    'a manifest with fewer tables',
    ({ manifest }) => manifest,
    edited(({ tables }) => ({ tables: tables.slice(0, -1) })),
    changedManifest,
  ],
  [
    'a manifest that admits damage',
    ({ manifest }) => manifest,
    edited(() => ({ damaged: ['ab'.repeat(20)] })),
    changedManifest,
  ],
  [
    'a manifest with other recipients',
    ({ manifest }) => manifest,
    edited(() => ({ recipients: ['age1x'] })),
    changedManifest,
  ],
  ['a manifest without its signature', ({ manifest }) => manifest, edited(() => ({ signature: undefined })), unsigned],
  ['a manifest without the keys', ({ manifest }) => manifest, edited(() => ({ keys: undefined })), changedManifest],
]

for (const [where, make] of [
  ['folder', () => folderPlace()],
  ['bucket', async () => bucketPlace('kept')],
] as const)
  for (const isEncrypted of [false, true])
    test(`each of ${corruptions.length} corruptions is found by one proof and named (${where}, ${isEncrypted ? 'encrypted' : 'open'}) (D20.24)`, async () => {
      const at = isEncrypted && where === 'bucket' ? bucketPlace('sealed') : await make()
      const recipients = isEncrypted ? [await identityToRecipient(await generateX25519Identity())] : []
      const backup = await backedUp(at, recipients)
      assert.equal(await backup.prove(), '')
      for (const [what, of, damage, says] of corruptions) {
        const name = of(backup)
        const bytes = await at.read(name)
        const changed = damage(bytes)
        await (changed === undefined ? at.remove(name) : at.write(name, changed))
        assert.match(await backup.prove(), typeof says === 'function' ? says(backup) : says, what)
        await at.write(name, bytes)
      }
      // A manifest that somebody else has put there, of a later time.
      const surplus = backup.manifest.replace(
        /[0-9a-f]{40}$/,
        key => key.slice(0, 38) + (key.endsWith('00') ? '11' : '00'),
      )
      const forged = edited(() => ({ created: '9999-01-01T00:00:00.000Z', signature: undefined }))(
        await at.read(backup.manifest),
      )
      await at.write(surplus, forged ?? Buffer.alloc(0))
      assert.match(await backup.prove(), unsigned)
      await at.write(surplus, await at.read(backup.manifest))
      const said = await backup.prove()
      for (const name of [surplus, backup.manifest])
        assert.match(said, new RegExp(`${name.slice(-40)} is not the only one of the backup of `, 'm'))
      await at.remove(surplus)
      assert.equal(await backup.prove(), '', 'everything is as it was')
    })

test('an encrypted file that is damaged is whole in the next backup, but stays damaged in the earlier ones', async () => {
  for (const isEncrypted of [true, false]) {
    const at = await folderPlace()
    const recipients = isEncrypted ? [await identityToRecipient(await generateX25519Identity())] : []
    const backup = await backedUp(at, recipients)
    await at.write(backup.file, Buffer.alloc(10))
    const found: Array<readonly [blob: string, outcome: Outcome]> = []
    const next = await backedUp(at, recipients, (blob, outcome) => found.push([blob, outcome]))
    assert.deepEqual(found, [[backup.lost.blob, isEncrypted ? 'replaced' : 'mended']])
    assert.equal(await next.prove(), '')
    if (isEncrypted) assert.match(await backup.prove(), /are missing or damaged/)
    else assert.equal(await backup.prove(), '')
  }
})

test('where a restore has too little space, a backup is read instead, and the proof says so (D20.23)', async t => {
  const disk = await smallDisk(t, 2 ** 18)
  if (disk === undefined) return
  const at = await folderPlace()
  const backup = await backedUp(at, [])
  const scratch = join(disk, 'scratch')
  const { problems, restored, note } = await backup.proof(scratch)
  assert.deepEqual([problems, restored, await readdir(disk)], [[], null, []])
  assert.match(
    note ?? '',
    /read and compared with its digests, not restored: a restore needs \d+ bytes, and may take \d+ of/,
  )
  await at.remove(backup.file)
  assert.match(
    (await backup.proof(scratch)).problems.join(),
    new RegExp(`blob ${backup.lost.file}, \\S+\\) are missing or damaged`),
  )
})

test('the page of backups names a changed and an unsigned manifest, with where it is, and a lost backup, in a folder and in a bucket (D20.24)', async () => {
  for (const at of [await folderPlace(), bucketPlace('overview')]) {
    const { manifest } = await backedUp(at, [])
    const runs = new BackupRuns(database, realSystem, at.url)
    const overview = new BackupOverview({ runs, settings, schedule: '@daily', place: at.url }, realSystem)
    const read = async () => {
      const { generations } = await overview.read()
      return generations.map(({ isSigned, doubt }) => ({ isSigned, doubt }))
    }
    assert.deepEqual(await read(), [{ isSigned: true, doubt: undefined }])
    const bytes = await at.read(manifest)
    const where = at.url.startsWith('s3:') ? `s3://bucket/${manifest}` : manifest
    await at.write(manifest, edited(() => ({ program: 'x' }))(bytes) ?? bytes)
    const changed = `its manifest ${where} was changed after it was signed`
    assert.deepEqual(await read(), [{ isSigned: false, doubt: changed }])
    await at.write(manifest, edited(() => ({ signature: undefined }))(bytes) ?? bytes)
    assert.deepEqual(await read(), [{ isSigned: false, doubt: `its manifest ${where} is not signed` }])
    const placeProblem = async () => {
      const found = await overview.read()
      return 'placeProblem' in found ? found.placeProblem : undefined
    }
    assert.equal(await placeProblem(), undefined)
    const started = (await runs.claim(() => true)) ?? 0
    await runs.finish(started, { files: 0, bytes: 0, problem: null, gone: null })
    const gone = `The backup of ${new Date(started).toISOString()} is no longer in ${at.url}. Is its disk mounted? If it is lost for good, run \`stowage backup accept ${at.url}\`.`
    assert.equal(await placeProblem(), gone)
  }
})
