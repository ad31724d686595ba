import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { fsck } from '../../src/files/fsck.ts'
import { Ledger, RESERVATION_TTL } from '../../src/files/quota-ledger.ts'
import { ResumableFiles } from '../../src/features/uploads/resumable-files.ts'
import type { ResumableUpload } from '../../src/features/uploads/resumable-upload.ts'
import type { Queries } from '../../src/stores/database.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { insertUploadTarget } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { inContext, quotas, usedBytes } from '../support/quota.ts'
import { newDatabase } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const DAY = 86_400_000
const MIB = 2 ** 20

async function open(t: TestContext) {
  const [database, folder, system] = [await newDatabase(t), await temporaryFolder(), new FakeSystem()]
  const blobs = await FolderBlobStore.open(`${folder}/files`)
  const ledger = new Ledger(database, system, quotas(300 * MIB))
  await ledger.open(database, '3')
  await insertUploadTarget(database, 'u', { context: '3', id: '1' })
  const files = new ResumableFiles({ database, blobs, ledger, system })
  const garbage = new Garbage(database, blobs, ledger, system)
  const create = async (length: number, isPartial = false): Promise<ResumableUpload> => {
    const upload = { uploader: 'u', payers: inContext('3'), entry: '1', length, mediaType: 'text/plain' }
    const single = {
      hasShare: true,
      fileName: undefined,
      metadata: undefined,
      isPartial,
      isEntryNew: false,
      replaced: undefined,
    }
    return await files.records.find(await database.transaction(tx => files.create(tx, { ...upload, ...single })))
  }
  const append = (upload: ResumableUpload, bytes: AsyncIterable<Uint8Array>, options: typeof inSteps) =>
    files.claim(upload, claimed => files.append(claimed, bytes, options))
  const complete = (upload: ResumableUpload) => files.claim(upload, claimed => files.complete(claimed))
  const join = (parts: readonly ResumableUpload[]) =>
    files.join(
      parts,
      {
        uploader: 'u',
        payers: inContext('3'),
        entry: '1',
        mediaType: 'text/plain',
        fileName: undefined,
        metadata: undefined,
        concat: 'final',
      },
      work => database.transaction(work),
    )
  /** Holds the next copy of bytes of uploads after its last byte is stored. */
  const holdCopy = () => {
    const appended = blobs.append.bind(blobs)
    let release = (): void => {}
    const waiting = new Promise<void>(resolve => (release = resolve))
    const copy: { blob?: string; release: () => void } = { release }
    blobs.append = async (key, offset, bytes) => {
      blobs.append = appended
      const size = await blobs.append(key, offset, bytes)
      copy.blob = key
      await waiting
      return size
    }
    return copy
  }
  return { database, blobs, ledger, files, garbage, system, create, append, complete, join, holdCopy }
}

async function* chunks(...all: ReadonlyArray<Buffer | Error>): AsyncGenerator<Uint8Array> {
  for (const chunk of all) {
    if (chunk instanceof Error) throw chunk
    yield chunk
  }
}

const inSteps = { inOneStep: false, accept: () => {} }

for (const isExclusive of [true, false])
  test(`an upload survives a start${isExclusive ? '' : ' of another node'} until it expires; then storage and bytes are free (D42.2)`, async t => {
    const { database, blobs, files, garbage, system, create, append } = await open(t)
    const upload = await create(100)
    await append(upload, chunks(Buffer.alloc(60)), inSteps)
    await garbage.recover(isExclusive)
    assert.equal((await files.records.find(upload.id)).received, 60)
    assert.deepEqual(await usedBytes(database, '3'), { used: 0, reserved: 100 })
    assert.deepEqual((await fsck({ database, blobs, isExclusive: true }, true)).findings, [])
    system.pass(DAY - 1)
    await garbage.recover(isExclusive)
    assert.equal((await files.records.find(upload.id)).isExpired, 0)
    system.pass(2)
    assert.equal((await files.records.find(upload.id)).isExpired, 1)
    await garbage.recover(isExclusive)
    assert.deepEqual(await usedBytes(database, '3'), { used: 0, reserved: 0 })
    assert.deepEqual(await blobs.unfinished(), [])
    await files.forgetOld()
    assert.equal((await files.records.find(upload.id)).isExpired, 1, 'its client still learns what happened')
    system.pass(DAY)
    await files.forgetOld()
    await assert.rejects(files.records.find(upload.id), { code: 'not-found' })
  })

test('bytes beyond the recorded offset, as a crash leaves them, are replaced (D42.2)', async t => {
  const { blobs, create, append, complete } = await open(t)
  const bytes = randomBytes(1000)
  const upload = await create(1000)
  const first = await append(upload, chunks(bytes.subarray(0, 400)), inSteps)
  await blobs.append(upload.blob, 400, chunks(randomBytes(900)))
  const whole = await append(first, chunks(bytes.subarray(400)), inSteps)
  await complete(whole)
  const again = await complete(whole)
  assert.equal(again.size, 1000, 'a crash after the renaming is no obstacle')
  const read: Buffer[] = []
  for await (const chunk of await blobs.read(upload.blob)) read.push(chunk as Buffer)
  assert.ok(Buffer.concat(read).equals(bytes))
})

test('what arrived before an error of the sender is kept; long requests are recorded on the way (D42.2)', async t => {
  const { files, create, append } = await open(t)
  const upload = await create(200 * MIB)
  const mib = Buffer.alloc(MIB)
  const failing = chunks(...Array.from({ length: 130 }, () => mib), new Error('gone'))
  await assert.rejects(append(upload, failing, inSteps), /gone/)
  assert.equal((await files.records.find(upload.id)).received, 130 * MIB)
  await assert.rejects(append(upload, chunks(mib), inSteps), { code: 'upload-offset' })
  const present = await files.records.find(upload.id)
  const refused = append(present, chunks(mib), {
    inOneStep: true,
    accept: () => {
      throw new Error('wrong checksum')
    },
  })
  await assert.rejects(refused, /wrong checksum/)
  assert.equal((await files.records.find(upload.id)).received, 130 * MIB)
})

test('nothing is kept of a long request that turns out to have too many bytes (D42.4)', async t => {
  const { files, create, append } = await open(t)
  const upload = await append(await create(200 * MIB), chunks(Buffer.alloc(10)), inSteps)
  const mib = Buffer.alloc(MIB)
  const tooMany = chunks(...Array.from({ length: 201 }, () => mib))
  await assert.rejects(append(upload, tooMany, inSteps), { code: 'upload-too-long' })
  assert.equal((await files.records.find(upload.id)).received, 10)
})

test('parts are copied by one request at a time, whatever their order; what it copies stays during a repair beside it (D42.3, D20.1)', async t => {
  const { database, blobs, files, garbage, create, append, complete, join, holdCopy } = await open(t)
  const parts: ResumableUpload[] = []
  for (const text of ['one', 'two']) parts.push(await append(await create(3, true), chunks(Buffer.from(text)), inSteps))
  const copy = holdCopy()
  const joining = join(parts)
  await eventually('the first part is copied', () => copy.blob !== undefined)
  const before = (await blobs.unfinished()).length
  for (const others of [parts, parts.toReversed(), parts.slice(1)])
    await assert.rejects(join(others), { code: 'upload-locked' })
  assert.equal((await blobs.unfinished()).length, before)
  assert.deepEqual((await fsck({ database, blobs, isExclusive: false }, true, { force: true })).findings, [])
  copy.release()
  const joined = await joining
  await assert.rejects(join(parts), { code: 'not-found' })
  assert.deepEqual(await usedBytes(database, '3'), { used: 0, reserved: 6 })
  await garbage.collect()
  assert.deepEqual(await blobs.unfinished(), [joined.blob])
  await complete(joined)
  const read: Buffer[] = []
  for await (const chunk of await blobs.read(joined.blob)) read.push(chunk as Buffer)
  assert.equal(Buffer.concat(read).toString(), 'onetwo')
  assert.equal((await files.records.find(joined.id)).received, 6)
})

test('a part that ends while it is joined ends the joining, and leaves nothing (D42.3)', async t => {
  const { database, blobs, files, garbage, create, append, join, holdCopy } = await open(t)
  const part = await append(await create(3, true), chunks(Buffer.from('one')), inSteps)
  const copy = holdCopy()
  const joining = join([part])
  await eventually('the part is copied', () => copy.blob !== undefined)
  await database.transaction(tx => files.cancel(tx, part))
  copy.release()
  await assert.rejects(joining, { code: 'not-found' })
  await garbage.collect()
  assert.deepEqual([await blobs.unfinished(), await usedBytes(database, '3')], [[], { used: 0, reserved: 0 }])
  assert.deepEqual((await fsck({ database, blobs, isExclusive: true }, false)).findings, [])
})

for (const what of ['joins parts', 'takes an upload over'] as const)
  test(`a copy of bytes is deleted with its upload, and by the next start, when the process that ${what} dies (D42.2, D42.3)`, async t => {
    const { database, blobs, files, garbage, create, append, join } = await open(t)
    const upload = await append(await create(4, what === 'joins parts'), chunks(Buffer.from('four')), inSteps)
    const other = await append(await create(4), chunks(Buffer.from('more')), inSteps)
    // Without an answer of the store nothing is cleaned up, as after a crash.
    const appended = blobs.append.bind(blobs)
    let copies = 0
    const dying = async (one: ResumableUpload): Promise<void> => {
      blobs.append = async (key, offset, bytes) => {
        await appended(key, offset, bytes)
        copies++
        throw new StoreUnavailable('The store of the files')
      }
      if (what === 'joins parts') await assert.rejects(join([one]), StoreUnavailable)
      else {
        await database.run(sql`UPDATE resumable_uploads SET claim = 'other', claimed = ${2 ** 52} WHERE id = ${one.id}`)
        await assert.rejects(append(one, chunks(), inSteps), StoreUnavailable)
      }
      blobs.append = appended
    }
    const remaining = async (isExclusive: boolean): Promise<number> => {
      if (isExclusive) await files.recover()
      await garbage.collect()
      return (await blobs.unfinished()).length
    }
    await dying(upload)
    assert.deepEqual([copies, await remaining(false)], [1, 3])
    assert.deepEqual((await fsck({ database, blobs, isExclusive: false }, true, { force: true })).findings, [])
    assert.equal(await remaining(true), 2)
    assert.deepEqual((await fsck({ database, blobs, isExclusive: true }, false)).findings, [])
    await dying(upload)
    assert.deepEqual([copies, await remaining(false)], [2, 3])
    await database.transaction(tx => files.cancel(tx, upload))
    assert.deepEqual([await remaining(false), await blobs.unfinished()], [1, [other.blob]])
  })

test('a user has at most 1000 uploads that can go on (D42.6)', async t => {
  const { database, files, create, system } = await open(t)
  const first = await create(1)
  await database.transaction(async tx => {
    for (let count = 1; count < 1000; count++)
      await tx.run(sql`INSERT INTO resumable_uploads (id, uploader, context, entry, blob, length, media_type, expires)
        SELECT ${`u${count}`}, uploader, context, entry, ${`b${count}`}, length, media_type, expires
          FROM resumable_uploads WHERE id = ${first.id}`)
  })
  await assert.rejects(create(1), {
    code: 'conflict',
    message: 'A user has at most 1000 uploads in progress. Finish or delete one first.',
  })
  await database.transaction(tx => files.cancel(tx, first))
  await create(1)
  system.pass(DAY + 1)
  await create(1)
})

test('a request keeps its claim for as long as it lasts, and no longer (D42.2)', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { database, files, system, create } = await open(t)
  const { id } = await create(10)
  let end = (): void => {}
  const working = files.claim(await files.records.find(id), () => new Promise<void>(resolve => (end = resolve)))
  await eventually('it is claimed', () => claimed(database))
  for (let third = 1; third <= 4; third++) {
    system.pass(RESERVATION_TTL / 3)
    t.mock.timers.tick(RESERVATION_TTL / 3)
    const isRenewed = sql`SELECT 1 AS found FROM resumable_uploads WHERE claimed = ${system.now()}`
    await eventually('it is renewed', async () => (await database.get(isRenewed)) !== undefined)
  }
  assert.equal((await files.records.find(id)).isClaimed, 1)
  end()
  await working
  assert.equal((await files.records.find(id)).isClaimed, 0)
})

test('a file whose bytes one process has received is not read again for its digest; of several processes it is (D42.2)', async t => {
  const { blobs, ledger, database, system, create, append, complete } = await open(t)
  let reads = 0
  const readPieces = blobs.readPieces.bind(blobs)
  blobs.readPieces = (key, size) => {
    reads++
    return readPieces(key, size)
  }
  const bytes = randomBytes(1000)
  const stored = { size: 1000, sha256: createHash('sha256').update(bytes).digest('hex') }
  const [first, rest] = [bytes.subarray(0, 400), bytes.subarray(400)]
  const refuse = { inOneStep: true, accept: () => assert.fail('wrong checksum') }

  const one = await append(await create(1000), chunks(first), inSteps)
  await assert.rejects(append(one, chunks(randomBytes(600)), refuse), /wrong checksum/)
  assert.deepEqual(await complete(await append(one, chunks(rest), inSteps)), stored)
  assert.equal(reads, 0)

  const other = new ResumableFiles({ database, blobs, ledger, system })
  const begun = await append(await create(1000), chunks(first), inSteps)
  const whole = await other.claim(begun, claimed => other.append(claimed, chunks(rest), inSteps))
  assert.deepEqual(await complete(whole), stored, 'the first one has not seen all')
  assert.equal(reads, 1)
})

test('a request that goes on while another process still sends leaves the bytes of both apart (D42.2)', async t => {
  const { database, blobs, garbage, create, append, complete, holdCopy } = await open(t)
  const bytes = randomBytes(1000)
  const upload = await append(await create(1000), chunks(bytes.subarray(0, 300)), inSteps)
  let release = (): void => {}
  const waiting = new Promise<void>(resolve => (release = resolve))
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield randomBytes(100)
    await waiting
    yield randomBytes(100)
  }
  const stuck = append(upload, slow(), inSteps)
  await eventually('it has begun', async () => (await blobs.unfinished()).length === 1 && (await claimed(database)))
  const copy = holdCopy()
  const going = append(upload, chunks(bytes.subarray(300)), inSteps)
  await eventually('its bytes are copied', () => copy.blob !== undefined)
  assert.deepEqual((await fsck({ database, blobs, isExclusive: false }, true, { force: true })).findings, [])
  copy.release()
  const whole = await going
  release()
  await assert.rejects(stuck, { code: 'upload-offset' })
  await garbage.collect()
  assert.deepEqual(await blobs.unfinished(), [whole.blob])
  await complete(whole)
  const read: Buffer[] = []
  for await (const chunk of await blobs.read(whole.blob)) read.push(chunk as Buffer)
  assert.ok(Buffer.concat(read).equals(bytes))
})

const claimed = async (database: Queries): Promise<boolean> =>
  (await database.get(sql`SELECT 1 AS found FROM resumable_uploads WHERE claim IS NOT NULL`)) !== undefined
