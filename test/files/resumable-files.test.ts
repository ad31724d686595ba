import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { Garbage } from '../../src/files/garbage.ts'
import { fsck } from '../../src/files/fsck.ts'
import { Ledger, RESERVATION_TTL } from '../../src/files/quota-ledger.ts'
import { ResumableFiles, type ResumableUpload } from '../../src/files/resumable-files.ts'
import type { Queries } from '../../src/stores/database.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { inContext, quotas, usedBytes } from '../support/quota.ts'
import { newDatabase } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const HOUR = 3_600_000
const MIB = 2 ** 20

async function open(t: TestContext) {
  const [database, folder, system] = [await newDatabase(t), await temporaryFolder(), new FakeSystem()]
  const blobs = await FolderBlobStore.open(`${folder}/files`)
  const ledger = new Ledger(database, system, quotas(300 * MIB))
  await ledger.open(database, '3')
  const files = new ResumableFiles({ database, blobs, ledger, system }, { ttl: HOUR })
  const garbage = new Garbage(database, blobs, ledger, system)
  const create = (length: number) =>
    files.create({
      uploader: 'u',
      payers: inContext('3'),
      entry: '1',
      length,
      mediaType: 'text/plain',
      fileName: undefined,
      isPart: false,
      isEntryNew: false,
      replaced: undefined,
    })
  const append = (upload: ResumableUpload, bytes: AsyncIterable<Uint8Array>, options: typeof inSteps) =>
    files.claim(upload, claimed => files.append(claimed, bytes, options))
  const complete = (upload: ResumableUpload) => files.claim(upload, claimed => files.complete(claimed))
  return { database, blobs, ledger, files, garbage, system, create, append, complete }
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
    assert.equal((await files.find(upload.id)).received, 60)
    assert.deepEqual(await usedBytes(database, '3'), { used: 0, reserved: 100 })
    assert.deepEqual((await fsck({ database, blobs, isExclusive: true }, true)).findings, [])
    system.pass(HOUR - 1)
    await garbage.recover(isExclusive)
    assert.equal((await files.find(upload.id)).isExpired, 0)
    system.pass(2)
    assert.equal((await files.find(upload.id)).isExpired, 1)
    await garbage.recover(isExclusive)
    assert.deepEqual(await usedBytes(database, '3'), { used: 0, reserved: 0 })
    assert.deepEqual(await blobs.unfinished(), [])
    await files.forgetOld()
    assert.equal((await files.find(upload.id)).isExpired, 1, 'its client still learns what happened')
    system.pass(25 * HOUR)
    await files.forgetOld()
    await assert.rejects(files.find(upload.id), { code: 'not-found' })
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
  assert.equal((await files.find(upload.id)).received, 130 * MIB)
  await assert.rejects(append(upload, chunks(mib), inSteps), { code: 'upload-offset' })
  const present = await files.find(upload.id)
  const refused = append(present, chunks(mib), {
    inOneStep: true,
    accept: () => {
      throw new Error('wrong checksum')
    },
  })
  await assert.rejects(refused, /wrong checksum/)
  assert.equal((await files.find(upload.id)).received, 130 * MIB)
})

test('a request keeps its claim for as long as it lasts, and no longer (D42.2)', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { database, files, system, create } = await open(t)
  const { id } = await create(10)
  let end = (): void => {}
  const working = files.claim(await files.find(id), () => new Promise<void>(resolve => (end = resolve)))
  await eventually('it is claimed', () => claimed(database))
  for (let third = 1; third <= 4; third++) {
    system.pass(RESERVATION_TTL / 3)
    t.mock.timers.tick(RESERVATION_TTL / 3)
    const isRenewed = sql`SELECT 1 AS found FROM resumable_uploads WHERE claimed = ${system.now()}`
    await eventually('it is renewed', async () => (await database.get(isRenewed)) !== undefined)
  }
  assert.equal((await files.find(id)).isClaimed, 1)
  end()
  await working
  assert.equal((await files.find(id)).isClaimed, 0)
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

  const other = new ResumableFiles({ database, blobs, ledger, system }, { ttl: HOUR })
  const begun = await append(await create(1000), chunks(first), inSteps)
  const whole = await other.claim(begun, claimed => other.append(claimed, chunks(rest), inSteps))
  assert.deepEqual(await complete(whole), stored, 'the first one has not seen all')
  assert.equal(reads, 1)
})

test('a request that goes on while another process still sends leaves the bytes of both apart (D42.2)', async t => {
  const { database, blobs, garbage, create, append, complete } = await open(t)
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
  const whole = await append(upload, chunks(bytes.subarray(300)), inSteps)
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
