import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { Files } from '../../src/files/files.ts'
import type { FilesOptions, Incoming } from '../../src/files/staging.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import type { ReachedThreshold } from '../../src/files/quota-thresholds.ts'
import { Scrubber } from '../../src/features/scrub/scrubber.ts'
import { readZip, writeZip, type ZipFolder, type ZipMember } from '../../src/files/zip.ts'
import { BlobMissing, type BlobStore } from '../../src/stores/blob-store.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { keptLog } from '../support/kept-log.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase, transactionOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'
import { quotas } from '../support/quota.ts'

const HOUR = 3_600_000
const place = (id: string) => ({ context: '3', id })

async function openFiles(t: TestContext, options: Partial<FilesOptions> = {}, quota = -1) {
  const database = await newDatabase(t)
  const folder = await FolderBlobStore.open(join(await temporaryFolder(), 'files'))
  /** What fails instead of being done. */
  const failing: { read?: Error; delete?: Error; delay?: Promise<void> } = {}
  const deleted: string[] = []
  const read: string[] = []
  const blobs: BlobStore = {
    write: (key, bytes, signal) => folder.write(key, bytes, signal),
    append: (key, offset, bytes) => folder.append(key, offset, bytes),
    readPieces: (key, size) => folder.readPieces(key, size),
    complete: (key, size) => folder.complete(key, size),
    list: () => folder.list(),
    unfinished: () => folder.unfinished(),
    setAside: key => folder.setAside(key),
    close: () => folder.close(),
    async read(key, range) {
      read.push(key)
      if (failing.read) throw failing.read
      return await folder.read(key, range)
    },
    async delete(key) {
      await failing.delay
      if (failing.delete) throw failing.delete
      deleted.push(key)
      await folder.delete(key)
    },
  }
  const transaction = transactionOf(database)
  const { log, said: saidWithFacts } = keptLog()
  const said = (): unknown[] => saidWithFacts().map(([level, message]) => [level, message])
  const machine = { system: new FakeSystem(), log }
  const ledger = new Ledger(database, machine.system, quotas(quota))
  const garbage = new Garbage(database, blobs, ledger, machine.system)
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, { maxFileSize: 1000, ...options })
  const scrubber = new Scrubber({ database, blobs, ...machine }, { interval: HOUR })
  await ledger.open(database, '3')
  const put = (id: string, content: string, more: Partial<Incoming> = {}): Promise<string> => {
    const incoming = {
      declaredSize: undefined,
      open: () => Readable.from([Buffer.from(content)]),
      signal: new AbortController().signal,
      ...more,
    }
    return files.put({ ...place(id), user: null }, incoming, {
      transaction,
      makeVisible: async (_writer, file) => file.blob,
    })
  }
  const remove = (id: string): Promise<boolean> => database.transaction(tx => files.remove(tx, place(id)))
  const spaces = async () => ({
    ...(await database.get<object>(sql`SELECT used, reserved FROM quota_usage WHERE kind = 'context' AND owner = '3'`)),
    uploads: (await database.all(sql`SELECT blob FROM uploads`)).length,
    discarded: (await database.all(sql`SELECT blob FROM discarded_blobs`)).length,
  })
  const { system } = machine
  return { database, transaction, files, blobs, put, remove, spaces, failing, deleted, read, said, scrubber, system }
}

test('what is stored is counted, and a file that is replaced or removed goes with its bytes', async t => {
  const { files, put, remove, deleted, spaces } = await openFiles(t)
  assert.deepEqual(files.taken, { count: 0, bytes: 0 })
  const first = await put('1', 'first')
  await put('2', 'other one')
  assert.deepEqual(files.taken, { count: 2, bytes: 14 })
  assert.deepEqual(deleted, [])
  const second = await put('1', 'second')
  await files.settled()
  assert.deepEqual(deleted, [first])
  assert.deepEqual(files.taken, { count: 3, bytes: 20 })
  assert.deepEqual(await spaces(), { used: 15, reserved: 0, uploads: 0, discarded: 0 })
  assert.deepEqual([await remove('1'), await remove('1'), await remove('none')], [true, false, false])
  assert.deepEqual(await spaces(), { used: 9, reserved: 0, uploads: 0, discarded: 1 })
  await files.collectGarbage()
  assert.deepEqual([deleted, (await spaces()).discarded], [[first, second], 0])
})

test('a sender does not wait for the deletion of the file that theirs replaces, unless many are under way', async t => {
  const { files, put, failing, deleted } = await openFiles(t)
  let go = (): void => {}
  failing.delay = new Promise(resolve => (go = resolve))
  for (let n = 0; n <= 16; n++) await put('1', `file ${n}`)
  assert.equal(deleted.length, 0)
  let isDone = false
  const waiting = put('1', 'one too many').then(() => (isDone = true))
  await eventually('the last upload is committed', () => files.taken.count === 18)
  assert.equal(isDone, false)
  go()
  await waiting
  await files.settled()
  assert.equal(deleted.length, 17)
})

test('a file of a new entry is there together with the entry, or not at all', async t => {
  const { files, transaction, spaces } = await openFiles(t)
  const incoming = {
    declaredSize: 4,
    open: () => Readable.from([Buffer.from('four')]),
    signal: new AbortController().signal,
  }
  const result = await files.putNew({ context: '3', user: null }, incoming, {
    transaction,
    create: async (_writer, { size }) => ({ place: place('9'), size }),
  })
  assert.deepEqual(result, { place: place('9'), size: 4 })
  const found = await files.read(place('9'), () => 'all')
  assert.equal(found?.bytes && (await text(found.bytes)), 'four')
  const failing = files.putNew({ context: '3', user: null }, incoming, {
    transaction,
    create: async () => Promise.reject(new Error('no entry')),
  })
  await assert.rejects(failing, { message: 'no entry' })
  assert.deepEqual(await spaces(), { used: 4, reserved: 0, uploads: 0, discarded: 0 })
  assert.deepEqual(files.taken, { count: 1, bytes: 4 })
})

test('the scanner learns what is stored, where, and who sends it; what it refuses is not kept', async t => {
  const scanned: Record<string, unknown>[] = []
  const sender = { userId: 'u', address: '10.0.0.1' }
  const { signal } = new AbortController()
  const scanner = {
    requireScannable: () => {},
    async require(file: object) {
      scanned.push({ ...file })
      if (scanned.length > 1) throw new Error('refused')
    },
  }
  const { put, deleted, spaces } = await openFiles(t, { scanner })
  const blob = await put('1', 'abc', { sender, signal })
  const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  assert.deepEqual(scanned, [{ blob, size: 3, sha256, context: '3', entry: '1', sender, signal }])
  await assert.rejects(put('1', 'worse'), { message: 'refused' })
  assert.deepEqual(deleted, [scanned[1]?.['blob']])
  assert.deepEqual(await spaces(), { used: 3, reserved: 0, uploads: 0, discarded: 0 })
})

test('bytes that may still be under way are deleted later, and all others of a failed upload at once', async t => {
  for (const [reason, isLater] of [
    [new StoreUnavailable('The store of the files'), true],
    [new Error('client left'), false],
  ] as const) {
    const { put, deleted, spaces } = await openFiles(t)
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.from('some')
      throw reason
    }
    await assert.rejects(put('1', '', { open: failing }), reason)
    assert.equal(deleted.length, isLater ? 0 : 1)
    assert.deepEqual(await spaces(), { used: 0, reserved: 0, uploads: 0, discarded: isLater ? 1 : 0 })
  }
})

test('what cannot be deleted or undone is logged, and the request has its own result', async t => {
  const { files, put, remove, failing, said } = await openFiles(t)
  await put('1', 'first')
  failing.delete = new Error('read-only')
  await put('1', 'second')
  await files.settled()
  assert.deepEqual(said(), [['error', 'deleting a replaced file failed']])
  await remove('1')
  await files.collectGarbage()
  assert.deepEqual(said(), [['error', 'deleting old files failed']])
  const lost = new Error('client left')
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('x')
    throw lost
  }
  said()
  await assert.rejects(put('2', '', { open: broken }), lost)
  assert.deepEqual(said(), [['error', 'undoing an upload failed; it will be undone later']])
})

test('a file is too large exactly above the limit, whether its size was declared or not', async t => {
  const { put } = await openFiles(t)
  const refusal = {
    code: 'file-too-large',
    message: 'A file may have at most 1000 bytes.',
    extra: { limit: 1000 },
  }
  await put('1', 'x'.repeat(1000))
  await put('1', 'x'.repeat(1000), { declaredSize: 1000 })
  await assert.rejects(put('1', 'x'.repeat(1001)), refusal)
  const untouched = { declaredSize: 1001, open: () => assert.fail('the body was requested') }
  await assert.rejects(put('1', '', untouched), refusal)
  const full = await openFiles(t, {
    requireSpace: bytes => {
      throw new Error(`no space for ${bytes}`)
    },
  })
  await assert.rejects(full.put('1', '', untouched), refusal)
  await assert.rejects(full.put('1', '', { ...untouched, declaredSize: 7 }), { message: 'no space for 7' })
  await assert.rejects(full.put('1', '', { open: untouched.open }), { message: 'no space for 0' })
})

test('the check of the present file comes first', async t => {
  const { files, transaction, put } = await openFiles(t)
  const seen: unknown[] = []
  const incoming = {
    declaredSize: 10_000,
    open: () => assert.fail('the body was requested'),
    signal: new AbortController().signal,
  }
  const check = (present: { readonly size: number } | undefined): void => {
    seen.push(present?.size)
    throw new Error('refused')
  }
  const attempt = () =>
    files.put({ ...place('1'), user: null }, incoming, { check, transaction, makeVisible: async () => {} })
  await assert.rejects(attempt(), { message: 'refused' })
  await put('1', 'abc')
  await assert.rejects(attempt(), { message: 'refused' })
  assert.deepEqual(seen, [undefined, 3])
})

test('a threshold is reported once it is reached, with the usage of that moment', async t => {
  const reached: ReachedThreshold[] = []
  const { put } = await openFiles(t, { onThreshold: async one => void reached.push(one) }, 100)
  await put('1', 'x'.repeat(79))
  assert.deepEqual(reached, [])
  await put('2', 'x'.repeat(11))
  await put('3', 'x')
  assert.deepEqual(
    reached.map(({ percent, usage: { owner, used } }) => ({ percent, owner, used })),
    [{ percent: 90, owner: { kind: 'context', id: '3' }, used: { bytes: 90, files: 2 } }],
  )
})

test('a known record is used once; after that the record is read again, three times at most', async t => {
  const { files, put, failing, read } = await openFiles(t, { verifyOnRead: true })
  const blob = await put('1', 'abc')
  const bytesOf = async (reading: ReturnType<Files['read']>): Promise<string | undefined> => {
    const found = await reading
    return found?.bytes && (await text(found.bytes))
  }
  const known = { blob: 'f'.repeat(40), size: 3, sha256: 'x' }
  assert.equal(await bytesOf(files.read(place('1'), () => 'all', known)), 'abc')
  assert.deepEqual(read, [known.blob, blob])
  assert.equal(await bytesOf(files.read(place('1'), () => ({ first: 1, last: 2 }))), 'bc')
  assert.equal(await files.read(place('none'), () => assert.fail('there is no file')), undefined)
  read.length = 0
  failing.read = new BlobMissing(blob)
  await assert.rejects(
    files.read(place('1'), () => 'all'),
    { code: 'file-missing', cause: failing.read },
  )
  assert.equal(read.length, 3)
  read.length = 0
  failing.read = new Error('broken')
  await assert.rejects(
    files.read(place('1'), () => 'all'),
    failing.read,
  )
  assert.equal(read.length, 1)
})

test('the scrubber logs each change of a file’s state once, with its place', async t => {
  const { scrubber, put, failing, said, system, database } = await openFiles(t)
  await put('1', 'abc')
  const blob = (await database.get<{ blob: string }>(sql`SELECT blob FROM files`))?.blob ?? ''
  const round = async (): Promise<unknown[]> => {
    system.pass(HOUR)
    await scrubber.run(HOUR)
    return said()
  }
  assert.deepEqual(await round(), [])
  failing.read = new BlobMissing(blob)
  assert.deepEqual(await round(), [['error', 'the bytes of a file are missing: restore it from a backup']])
  assert.deepEqual(await round(), [])
  delete failing.read
  assert.deepEqual(await round(), [['info', 'the bytes of a file are intact again']])
  await database.run(sql`UPDATE files SET sha256 = 'other'`)
  assert.deepEqual(await round(), [['error', 'the bytes of a file are damaged: restore it from a backup']])
  failing.read = new Error('away')
  await assert.rejects(round(), { message: 'away' })
  delete failing.read
  scrubber.close()
  system.pass(HOUR)
  assert.equal(await scrubber.run(HOUR), 0)
})

const zipOf = async (...members: ReadonlyArray<ZipMember | ZipFolder>): Promise<Buffer> => {
  async function* all(): AsyncGenerator<ZipMember | ZipFolder> {
    yield* members
  }
  return await buffer(writeZip(all(), new Date(2026, 0, 2, 3, 4, 6)))
}
const partsOf = async (archive: Buffer) => {
  const parts = []
  const read = async ({ first, last }: { first: number; last: number }) =>
    Readable.from([archive.subarray(first, last + 1)])
  for await (const part of readZip({ size: archive.length, read })) parts.push(part)
  return parts
}

test('a zip has its members and folders in order, compressed as wished, with one time', async () => {
  const bytes = Buffer.alloc(5000, 'x')
  const archive = await zipOf(
    { name: 'plain', isDeflated: false, bytes: Readable.from([bytes]) },
    { folder: 'empty/' },
    { name: 'packed', isDeflated: true, bytes: Readable.from([bytes]) },
  )
  const parts = await partsOf(archive)
  assert.deepEqual(
    parts.map(({ name, size, isDeflated }) => [name, size, isDeflated]),
    [
      ['plain', 5000, false],
      ['empty/', 0, false],
      ['packed', 5000, true],
    ],
  )
  for (const index of [0, 2]) {
    const part = parts[index] ?? assert.fail('it is missing')
    assert.ok((await buffer(await part.open())).equals(bytes))
  }
  assert.ok(archive.length < 6000)
  // APPNOTE 4.4.6: seconds in twos, minutes, hours; days, months, years since 1980.
  const [time, date] = [(3 << 11) | (4 << 5) | 3, (46 << 9) | (1 << 5) | 2]
  for (
    let at = archive.indexOf('PK\x01\x02', 0, 'latin1');
    at >= 0;
    at = archive.indexOf('PK\x01\x02', at + 4, 'latin1')
  )
    assert.deepEqual([archive.readUInt16LE(at + 12), archive.readUInt16LE(at + 14)], [time, date])
})

test('a zip that is damaged or encrypted is refused with the reason', async () => {
  const archive = await zipOf({ name: 'a', isDeflated: true, bytes: Readable.from([Buffer.from('text')]) })
  const directory = archive.indexOf('PK\x01\x02', 0, 'latin1')
  const encrypted = Buffer.from(archive)
  encrypted.writeUInt16LE(encrypted.readUInt16LE(directory + 8) | 1, directory + 8)
  await assert.rejects(partsOf(encrypted), { code: 'invalid-archive', message: '"a" is encrypted.' })
  const begin = 'The archive is damaged or not a zip file: '
  for (const wrong of [Buffer.from('no zip'), Buffer.alloc(0), archive.subarray(0, -30), Buffer.alloc(1000, 'PK')])
    await assert.rejects(partsOf(wrong), (error: unknown) => {
      assert.ok(error instanceof Error && error.cause instanceof Error)
      assert.equal(error.message, `${begin}${error.cause.message}.`)
      return true
    })
})

test('a member that fails makes the zip fail', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('x')
      throw new Error('unreadable')
    })(),
  )
  await assert.rejects(zipOf({ name: 'a', isDeflated: false, bytes: broken }), { message: 'unreadable' })
  assert.equal(broken.destroyed, true)
})
