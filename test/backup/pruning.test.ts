import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { layout } from '../../src/assembly/stores.ts'
import { realSystem } from '../../src/base/system.ts'
import { accept, type OwnBackups } from '../../src/features/backups/acceptance.ts'
import { openBackupTarget } from '../../src/features/backups/backup-target.ts'
import { plain } from '../../src/features/backups/cipher.ts'
import { type BackupTarget, listGenerations, type ManifestKey } from '../../src/features/backups/generations.ts'
import { makeGeneration } from '../../src/features/backups/make-generation.ts'
import { manifestKey } from '../../src/features/backups/manifest-key.ts'
import { prune } from '../../src/features/backups/prune.ts'
import { loadSettings } from '../../src/config/load.ts'
import { type BlobStore, newBlobKey, timedBlobs } from '../../src/stores/blob-store.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { newDatabase } from '../support/store.ts'
import { withBackupSettings } from '../../src/features/backups/settings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { withMembers } from '../support/with-members.ts'

const DAY = 86_400_000
const settings = withBackupSettings(loadSettings({ file: undefined, overrides: [] }).settings)
const database = await newDatabase({ after })
const blobs = await FolderBlobStore.open(await temporaryFolder())
const { signal } = new AbortController()

/** The key of a store that remembers its backups. */
interface Signer {
  readonly signing: ManifestKey
  readonly own: OwnBackups
}

async function newKey(): Promise<Signer> {
  const signing = await manifestKey(await newDatabase({ after }), realSystem)
  return { signing, own: { key: signing.name, remembers: () => true } }
}

/** A copy of the store, which does not remember the backups that were made after this time. */
const copyAt = (at: string, { signing, own: { key } }: Signer, later: readonly string[]): Signer => {
  const since = later.map(time => Date.parse(`${time}:00Z`))
  return { signing, own: { key, remembers: time => time <= Date.parse(`${at}:00Z`) || since.includes(time) } }
}

const after2026 = { ...realSystem, now: () => Date.UTC(2027, 0, 1) }
const acceptBy = async (target: BackupTarget, signer: Signer) => await accept(target, { system: after2026, ...signer })

async function newTarget(): Promise<BackupTarget> {
  const target = await openBackupTarget(settings, join(await temporaryFolder(), 'backups'))
  after(() => target.close())
  return target
}

/** Makes a backup at this time, with this key, and then removes those that the rule does not keep. */
async function backUp(
  target: BackupTarget,
  at: string,
  { signing, own }: Signer,
  { keep = '2d 12m', service = 'http://127.0.0.1/' } = {},
): Promise<string | undefined> {
  const created = Date.parse(`${at}:00Z`)
  const spool = join(await temporaryFolder(), 'spool')
  const store = { database, blobs, tables: layout.tables, system: realSystem, program: '0.0.0' }
  const to = { service, created, spool, recipients: [], encrypt: plain, signing, own, signal }
  await makeGeneration({ ...store, ...to }, target)
  return await prune(target, { service, own, keep, now: created + DAY })
}

/** The days and hours of the backups, the newest first. */
async function times(target: BackupTarget): Promise<string[]> {
  const { generations } = await listGenerations(target)
  return generations.map(({ generation }) => generation.created.slice(5, 13))
}

test('what a store removes it has made itself: after a restore the backups of before stay, whatever the day and the clock (D20.9)', async () => {
  const [first, restored] = [await newKey(), await newKey()]
  const target = await newTarget()
  for (const at of ['2026-10-30T03:00', '2026-11-01T03:00', '2026-11-02T03:00', '2026-11-03T03:00'])
    await backUp(target, at, first)
  const before = ['11-03T03', '11-02T03', '10-30T03']
  assert.deepEqual(await times(target), before)
  assert.equal(await backUp(target, '2026-11-03T12:00', restored), undefined)
  assert.deepEqual(await times(target), ['11-03T12', ...before])
  await backUp(target, '2026-11-03T18:00', restored)
  assert.deepEqual(await times(target), ['11-03T18', ...before])
  for (let day = 4; day < 30; day++) await backUp(target, `2026-11-${String(day).padStart(2, '0')}T03:00`, restored)
  assert.deepEqual(await times(target), ['11-29T03', '11-28T03', ...before])
  // The clock is wrong, or the old store is back.
  await backUp(target, '2026-10-01T03:00', await newKey())
  assert.deepEqual(await times(target), ['11-29T03', '11-28T03', ...before, '10-01T03'])
  await backUp(target, '2026-11-29T06:00', first)
  assert.deepEqual(await times(target), ['11-29T06', '11-29T03', '11-28T03', '11-03T03', '10-30T03', '10-01T03'])
})

test('an accepted backup lets the rule remove those before it, also when it is gone itself (D20.9)', async () => {
  const [first, restored] = [await newKey(), await newKey()]
  const target = await newTarget()
  for (const at of ['2026-10-30T03:00', '2026-11-01T03:00', '2026-11-02T03:00']) await backUp(target, at, first)
  await backUp(target, '2026-11-02T12:00', restored)
  await assert.rejects(
    acceptBy(target, first),
    /of another store, or of this one before a restore\. Accept the next one/,
  )
  assert.deepEqual(await acceptBy(target, restored), { loss: undefined, others: 3, larger: [] })
  assert.equal(await acceptBy(target, restored), undefined)
  assert.deepEqual(await times(target), ['11-02T12', '11-02T03', '11-01T03', '10-30T03'])
  await backUp(target, '2026-11-02T18:00', restored)
  assert.deepEqual(await times(target), ['11-02T18', '11-01T03', '10-30T03'])
  await backUp(target, '2026-11-03T03:00', restored)
  await backUp(target, '2026-12-01T03:00', restored)
  await backUp(target, '2026-12-02T03:00', restored)
  assert.deepEqual(await times(target), ['12-02T03', '12-01T03', '11-03T03', '10-30T03'])
  assert.equal(await acceptBy(target, restored), undefined)
})

test('a store that was put back from a copy of its folder removes no backup that it does not remember (D20.9)', async () => {
  const key = await newKey()
  const target = await newTarget()
  for (const at of ['2026-11-01T03:00', '2026-11-02T03:00', '2026-11-03T03:00']) await backUp(target, at, key)
  const copy = copyAt('2026-11-02T03:00', key, ['2026-11-03T12:00', '2026-11-04T03:00', '2026-11-05T03:00'])
  await assert.rejects(
    acceptBy(target, copy),
    /^StartupError: The newest backup in \S+, of 2026-11-03T03:00:00.000Z, is one of this store that this data folder does not remember/,
  )
  await backUp(target, '2026-11-03T12:00', copy)
  assert.deepEqual(await times(target), ['11-03T12', '11-03T03', '11-02T03'])
  await backUp(target, '2026-11-04T03:00', copy)
  assert.deepEqual(await times(target), ['11-04T03', '11-03T12', '11-03T03'])
  assert.deepEqual(await acceptBy(target, copy), { loss: undefined, others: 1, larger: [] })
  await backUp(target, '2026-11-05T03:00', copy)
  assert.deepEqual(await times(target), ['11-05T03', '11-04T03'])
})

test('a backup of the future neither goes nor counts, and is no reason to keep others (D20.25)', async () => {
  const [first, other] = [await newKey(), await newKey()]
  const target = await newTarget()
  await backUp(target, '2027-12-01T03:00', first)
  await backUp(target, '2027-12-02T03:00', other)
  const future = ['12-02T03', '12-01T03']
  for (const at of ['2026-11-01T03:00', '2026-11-02T03:00', '2026-11-03T03:00'])
    assert.equal(await backUp(target, at, first), undefined)
  assert.deepEqual(await times(target), [...future, '11-03T03', '11-02T03'])
  assert.equal(await acceptBy(target, first), undefined)
  await assert.rejects(
    accept(target, { system: { ...realSystem, now: () => 0 }, ...first }),
    /^StartupError: All backups in \S+ are of the future: /,
  )
})

test('a backup that fails removes what it has written, and nothing else (D20.25)', async () => {
  const key = await newKey()
  const target = await newTarget()
  await backUp(target, '2026-11-01T03:00', key)
  const keys = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const { key } of target.blobs.list()) found.push(key)
    return found.sort()
  }
  const before = await keys()
  const ofOther = newBlobKey(count => realSystem.randomBytes(count))
  const failingWith = (own: Partial<BlobStore>): BackupTarget => {
    let writes = 0
    const write: BlobStore['write'] = async (...given) => {
      if (writes++ < 5) return await target.blobs.write(...given)
      if (!(await keys()).includes(ofOther)) await target.blobs.write(ofOther, Readable.from(['other']), signal)
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    }
    return { ...target, blobs: { ...timedBlobs(target.blobs), write, ...own } }
  }
  await assert.rejects(backUp(failingWith({}), '2026-11-02T03:00', key), /is full/)
  assert.deepEqual(await keys(), [...before, ofOther].sort())
  const remove = () => Promise.reject(new Error('the disk does not delete'))
  await assert.rejects(backUp(failingWith({ delete: remove }), '2026-11-02T04:00', key), /is full/)
  assert.deepEqual(await times(target), ['11-01T03'])
})

test('a service removes no backup that was made under another base address', async () => {
  const key = await newKey()
  const target = await newTarget()
  for (const at of ['2026-11-01T03:00', '2026-11-01T04:00'])
    for (const service of ['http://one.example/', 'http://two.example/'])
      await backUp(target, at.replace(':00', service.includes('one') ? ':00' : ':30'), key, { keep: '1d', service })
  assert.deepEqual(await times(target), ['11-01T04', '11-01T04'])
})

for (const isRefused of [true, false]) {
  test(`a backup that failed is told though its objects ${isRefused ? 'may not' : 'take long to'} be removed`, async () => {
    const target = await newTarget()
    const { signing, own } = await newKey()
    let [now, writes, deletions] = [Date.UTC(2026, 10, 1), 0, 0]
    const failing = withMembers<BlobStore>(target.blobs, {
      write: async (key, bytes, stop) => {
        if (++writes > 5) throw new Error('the network is down')
        return await target.blobs.write(key, bytes, stop)
      },
      delete: async key => {
        deletions++
        now += 45_000
        if (isRefused) throw new Error('objects of this bucket are locked')
        await target.blobs.delete(key)
      },
    })
    const store = { database, blobs, tables: layout.tables, system: { ...realSystem, now: () => now } }
    const spool = join(await temporaryFolder(), 'spool')
    const by = { program: '0.0.0', service: 'http://127.0.0.1/', created: now, signing, own }
    const to = { spool, recipients: [], encrypt: plain, signal }
    const making = makeGeneration({ ...store, ...by, ...to }, { ...target, blobs: failing })
    await assert.rejects(making, { message: 'the network is down' })
    assert.equal(deletions, isRefused ? 1 : 2, 'of six')
  })
}
