import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { link, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { digestOf, fsck } from '../../src/files/fsck.ts'
import { type BlobStore, newBlobKey } from '../../src/stores/blob-store.ts'
import type { Database } from '../../src/stores/database.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { newDatabase } from '../support/store.ts'
import { withMembers } from '../support/with-members.ts'

/** A store with one context that holds two files of 5 and 7 bytes. */
async function openStore(t: TestContext) {
  const folder = await temporaryFolder()
  const database = await newDatabase(t)
  const blobs = await FolderBlobStore.open(join(folder, 'files'))
  const system = new FakeSystem()
  const write = async (text: string): Promise<string> => {
    const key = newBlobKey(count => system.randomBytes(count))
    await blobs.write(key, bytesOf(text), new AbortController().signal)
    return key
  }
  const add = async (entry: string, text: string): Promise<string> => {
    const blob = await write(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    await database.run(sql`INSERT INTO files (context, entry, blob, size, sha256)
      VALUES ('3', ${entry}, ${blob}, ${text.length}, ${sha256})`)
    return blob
  }
  await database.run(
    sql`INSERT INTO quota_usage (kind, owner, used, files) VALUES ('context', '3', 12, 2), ('context', '4', 0, 0)`,
  )
  const first = await add('1', 'first')
  await add('2', 'another')
  const pathOf = (key: string): string => join(folder, 'files', key.slice(0, 2), key)
  const find = async (repair = false): Promise<string[]> =>
    (await fsck({ database, blobs, isExclusive: true }, repair)).findings.map(finding => finding.kind)
  return { folder, database, blobs, first, write, pathOf, find }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

test('a sound store has no findings, and every byte of it is counted (D7.5)', async t => {
  const { database, blobs } = await openStore(t)
  assert.deepEqual(await fsck({ database, blobs, isExclusive: true }, false), {
    files: 2,
    bytes: 12,
    findings: [],
    isDoubtful: false,
  })
})

test('a wrong fill level is found, left alone without --repair, and mended with it (D7.5)', async t => {
  const { database, find } = await openStore(t)
  await database.run(sql`UPDATE quota_usage SET used = used + 88`)
  assert.deepEqual(await find(), ['fill-level', 'fill-level'])
  assert.deepEqual(await find(true), ['fill-level', 'fill-level'])
  assert.deepEqual(await find(), [])
  const rows = await database.all<{ used: number }>(sql`SELECT used FROM quota_usage ORDER BY owner`)
  assert.deepEqual(
    rows.map(row => row.used),
    [12, 0],
  )
})

test('reservations without an upload are found and released (D7.5)', async t => {
  const { database, find } = await openStore(t)
  await database.run(sql`UPDATE quota_usage SET reserved = 5 WHERE kind = 'context' AND owner = '3'`)
  await database.run(sql`INSERT INTO uploads (blob, context, reserved, expires) VALUES ('b', '4', 7, 0)`)
  assert.deepEqual(await find(true), ['reservation', 'reservation'])
  assert.deepEqual(await find(), [])
  assert.equal((await database.all(sql`SELECT * FROM uploads`)).length, 0)
})

test('bytes that belong to no file are found and deleted, half-written ones too (D7.5)', async t => {
  const { folder, database, blobs, write, find } = await openStore(t)
  await write('orphan')
  const discarded = await write('discarded')
  await database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${discarded})`)
  await writeFile(join(folder, 'files/incoming', 'ab'.repeat(20)), 'half')
  assert.deepEqual((await find()).sort(), ['discarded-blob', 'orphan-blob', 'orphan-blob'])
  await find(true)
  assert.deepEqual(await find(), [])
  const keys: string[] = []
  for await (const { key } of blobs.list()) keys.push(key)
  assert.equal(keys.length, 2)
  assert.equal((await database.all(sql`SELECT * FROM discarded_blobs`)).length, 0)
})

test('a name that a power cut left in both places is one file: a known one stays, an unknown one goes once', async t => {
  const { folder, database, blobs, first, write, pathOf, find } = await openStore(t)
  const incoming = (key: string): string => join(folder, 'files/incoming', key)
  await link(pathOf(first), incoming(first))
  assert.deepEqual(await find(true), [], 'both names are those of a file')
  const orphan = await write('orphan')
  await link(pathOf(orphan), incoming(orphan))
  const { findings, isDoubtful } = await fsck({ database, blobs, isExclusive: true }, true)
  assert.deepEqual(findings, [
    { kind: 'orphan-blob', repairable: true, message: `blob ${orphan}: 6 bytes that belong to no file` },
  ])
  assert.equal(isDoubtful, false)
  assert.deepEqual(await find(), [])
  assert.equal(await readFile(join(folder, 'files/removed', orphan), 'utf8'), 'orphan')
  assert.equal(await readFile(pathOf(first), 'utf8'), 'first')
})

test('bytes of unknown files are moved aside, and from there dropped after 30 days', async t => {
  const { folder, write, find } = await openStore(t)
  const removed = join(folder, 'files/removed')
  const orphan = await write('orphan')
  await find(true)
  assert.equal(await readFile(join(removed, orphan), 'utf8'), 'orphan')
  const long = new Date(Date.now() - 31 * 86_400_000)
  await utimes(join(removed, orphan), long, long)
  const next = await write('next')
  await find(true)
  assert.deepEqual(await readdir(removed), [next])
})

test('a database that has lost many files, or all, is not believed: nothing is repaired unless told so', async t => {
  const { database, blobs, write } = await openStore(t)
  const repair = async (force: boolean) => await fsck({ database, blobs, isExclusive: true }, true, { force })
  const count = async (): Promise<number> => {
    let found = 0
    for await (const { key } of blobs.list()) if (key) found++
    return found
  }
  for (let n = 0; n < 20; n++) await write(`lost ${n}`)
  await database.run(sql`UPDATE quota_usage SET used = 5 WHERE kind = 'context' AND owner = '3'`)
  await write('one more')
  assert.equal((await repair(false)).isDoubtful, true)
  assert.equal(await count(), 23)
  assert.equal((await database.all(sql`SELECT * FROM quota_usage WHERE used = 5`)).length, 1)
  assert.equal((await repair(true)).isDoubtful, false)
  assert.equal(await count(), 2)

  await database.run(sql`DELETE FROM files`)
  assert.equal((await repair(false)).isDoubtful, true)
  assert.equal(await count(), 2)
})

test('a damaged file is found by its digest though its size is right, and is never repaired away (D7.5)', async t => {
  const { database, blobs, first, pathOf } = await openStore(t)
  await writeFile(pathOf(first), 'First')
  for (const repair of [false, true]) {
    const { findings } = await fsck({ database, blobs, isExclusive: true }, repair)
    assert.deepEqual(
      findings.map(({ kind, repairable }) => ({ kind, repairable })),
      [{ kind: 'damaged-blob', repairable: false }],
    )
    assert.match(findings[0]?.message ?? '', /3\/1/)
  }
})

test('a file is damaged as well where only its recorded size is wrong (D7.5)', async t => {
  const { database, first, find } = await openStore(t)
  await database.run(sql`UPDATE files SET size = size + 1 WHERE blob = ${first}`)
  assert.ok((await find()).includes('damaged-blob'))
})

test('a file that is cut short is damaged, one whose bytes are gone is missing (D7.5)', async t => {
  const { blobs, first, pathOf, find } = await openStore(t)
  await writeFile(pathOf(first), 'fir')
  assert.deepEqual(await find(), ['damaged-blob'])
  await blobs.delete(first)
  assert.deepEqual(await find(true), ['missing-blob'])
  assert.deepEqual(await find(), ['missing-blob'])
})

test('a file that the disk cannot read is damaged, but a disk that can read none is no finding about files', {
  skip: process.platform !== 'linux',
}, async t => {
  const { database, first, pathOf, find } = await openStore(t)
  const { blob: second = '' } =
    (await database.get<{ blob: string }>(sql`SELECT blob FROM files WHERE entry = '2'`)) ?? {}
  // Reading the beginning of its memory gives every process EIO.
  const damage = async (blob: string): Promise<void> => {
    await rm(pathOf(blob))
    await symlink('/proc/self/mem', pathOf(blob))
  }
  await damage(first)
  assert.deepEqual(await find(), ['damaged-blob'])
  await damage(second)
  await assert.rejects(find(true), { code: 'EIO' })
})

test('a reservation in a context that is gone, which still counts for a user and the store, is found and released (D7.5)', async t => {
  const { database, blobs, find } = await openStore(t)
  await database.run(sql`INSERT INTO principals (id, kind, name) VALUES ('u', 'user', 'u')`)
  await database.run(sql`INSERT INTO quota_usage (kind, owner, used, files, reserved, reserved_files)
    VALUES ('user', 'u', 0, 0, 7, 1), ('store', '', 12, 2, 7, 1)`)
  await database.run(sql`INSERT INTO uploads (blob, context, user_id, reserved, reserved_files, expires)
    VALUES ('b', 'gone', 'u', 7, 1, 99999999999999)`)
  const message = 'context gone, which is gone: 7 bytes and 1 files are reserved for uploads that ended'
  const { findings } = await fsck({ database, blobs, isExclusive: true }, true)
  assert.deepEqual(findings, [{ kind: 'reservation', repairable: true, message }])
  assert.deepEqual(await database.all(sql`SELECT owner FROM quota_usage WHERE reserved > 0 OR reserved_files > 0`), [])
  assert.deepEqual(await find(), [])
})

test('while the service runs, the bytes and reservations of uploads in progress are left alone (D7.5)', async t => {
  const { database, blobs, write } = await openStore(t)
  const [uploading, discarded, orphan] = [await write('upload'), await write('discarded'), await write('orphan')]
  await database.run(sql`INSERT INTO uploads (blob, context, reserved, expires) VALUES (${uploading}, '4', 7, 0)`)
  await database.run(sql`UPDATE quota_usage SET reserved = 7 WHERE kind = 'context' AND owner = '4'`)
  await database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${discarded})`)
  const { findings } = await fsck({ database, blobs, isExclusive: false }, true)
  assert.deepEqual(findings, [
    { kind: 'orphan-blob', repairable: true, message: `blob ${orphan}: 6 bytes that belong to no file` },
  ])
  const keys: string[] = []
  for await (const { key } of blobs.list()) keys.push(key)
  assert.deepEqual([keys.length, keys.includes(orphan)], [4, false])
  assert.equal((await database.all(sql`SELECT * FROM uploads`)).length, 1)
  assert.equal((await database.all(sql`SELECT * FROM discarded_blobs`)).length, 1)
  const space = await database.get<{ reserved: number }>(
    sql`SELECT reserved FROM quota_usage WHERE kind = 'context' AND owner = '4'`,
  )
  assert.equal(space?.reserved, 7)
  // The same upload is the remains of a crash where nobody else uses the store.
  const kinds = (await fsck({ database, blobs, isExclusive: true }, false)).findings.map(({ kind }) => kind)
  assert.deepEqual(kinds.sort(), ['discarded-blob', 'orphan-blob', 'reservation'])
})

test('reservations that differ from those of the uploads are found while the service runs (D7.5)', async t => {
  const { database, blobs } = await openStore(t)
  await database.run(sql`UPDATE quota_usage SET reserved = 5 WHERE kind = 'context' AND owner = '3'`)
  const check = async (repair: boolean) => (await fsck({ database, blobs, isExclusive: false }, repair)).findings
  const message = 'context 3: 5 bytes and 0 files are reserved for uploads that ended'
  assert.deepEqual(await check(true), [{ kind: 'reservation', repairable: true, message }])
  assert.deepEqual(await check(false), [])
})

test('a context that holds files and has no fill level gets the sum of its files (D7.5)', async t => {
  const { database, find } = await openStore(t)
  await database.run(sql`DELETE FROM quota_usage WHERE kind = 'context' AND owner = '3'`)
  assert.deepEqual(await find(true), ['fill-level'])
  assert.deepEqual(await find(), [])
  const space = await database.get<{ used: number }>(
    sql`SELECT used FROM quota_usage WHERE kind = 'context' AND owner = '3'`,
  )
  assert.equal(space?.used, 12)
})

test('nothing of a damaged database is checked or repaired, because its tables are unreliable (D7.5)', async t => {
  const { database, blobs } = await openStore(t)
  await database.run(sql`UPDATE quota_usage SET used = 99`)
  const damaged: Database = withMembers(database, { findDamage: async () => ['page 7 is wrong', 'page 8 is wrong'] })
  assert.deepEqual(await fsck({ database: damaged, blobs, isExclusive: true }, true), {
    files: 0,
    bytes: 0,
    findings: ['page 7 is wrong', 'page 8 is wrong'].map(message => ({
      kind: 'database-damaged',
      repairable: false,
      message,
    })),
    isDoubtful: false,
  })
  assert.equal((await database.all(sql`SELECT * FROM quota_usage WHERE used = 99`)).length, 2)
})

test('a file that is replaced while it is checked is not reported; another failure of the store is (D7.5)', async t => {
  const { database, blobs, first, write, pathOf } = await openStore(t)
  const replace = async (): Promise<void> => {
    const blob = await write('first')
    await database.run(sql`UPDATE files SET blob = ${blob} WHERE entry = '1' AND context = '3'`)
  }
  const check = async (read: BlobStore['read']) =>
    (await fsck({ database, blobs: withMembers<BlobStore>(blobs, { read }), isExclusive: false }, false)).findings
  // Its bytes have gone with it.
  const gone = await check(async key => {
    if (key === first) {
      await replace()
      await blobs.delete(first)
    }
    return await blobs.read(key)
  })
  assert.deepEqual(gone, [])
  const row = await database.get<{ blob: string }>(sql`SELECT blob FROM files WHERE entry = '1'`)
  const second = row?.blob ?? ''
  await writeFile(pathOf(second), 'FIRST')
  const changed = await check(async key => {
    if (key === second) await replace()
    return await blobs.read(key)
  })
  assert.deepEqual(changed, [])
  await assert.rejects(
    check(async () => Promise.reject(new Error('disk'))),
    /disk/,
  )
})

test('a finding about a file names entry and blob, and what differs (D7.5)', async t => {
  const { database, blobs, first, pathOf } = await openStore(t)
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
  await writeFile(pathOf(first), 'fir')
  const check = async () => (await fsck({ database, blobs, isExclusive: true }, false)).findings
  const name = `file 3/1 (blob ${first})`
  const differs = `${name}: 3 bytes with SHA-256 ${digest('fir')}, recorded are 5 with ${digest('first')}`
  assert.deepEqual(await check(), [{ kind: 'damaged-blob', repairable: false, message: differs, blob: first }])
  await blobs.delete(first)
  const message = `${name}: the bytes are gone`
  assert.deepEqual(await check(), [{ kind: 'missing-blob', repairable: false, message, blob: first }])
})

test('a digest counts all pieces of a blob', async () => {
  const read = async () => Readable.from([Buffer.from('fi'), Buffer.from('rst')])
  const sha256 = createHash('sha256').update('first').digest('hex')
  assert.deepEqual(await digestOf({ read }, 'x'), { size: 5, sha256 })
})
