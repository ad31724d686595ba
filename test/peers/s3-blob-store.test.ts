import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { CreateMultipartUploadCommand, PutObjectCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import { BlobMissing, newBlobKey } from '../../src/stores/blob-store.ts'
import { S3BlobStore } from '../../src/stores/s3/s3-blob-store.ts'
import { blobStoreSuite } from '../conformance/blob-store.ts'
import { cephGateway } from '../support/peers/ceph-gateway.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { useGateway } from '../support/s3.ts'

const MIB = 2 ** 20
const newKey = (): string => newBlobKey(randomBytes)
const neverAborted = new AbortController().signal

if (!cephGateway.available()) test('blobs in a bucket', t => void requirePeer(t, cephGateway))
else {
  const gateway = useGateway(before, after)
  const newPlace = (): string => `s3://${gateway().bucket}/${newKey()}`
  const listed = async (store: S3BlobStore): Promise<string[]> => {
    const found = []
    for await (const { key, size } of store.list()) found.push(`${key} ${size}`)
    return found.sort()
  }
  async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < count; n++) yield randomBytes(MIB)
  }
  const client = (): S3Client => new S3Client({ endpoint: gateway().url, forcePathStyle: true })

  blobStoreSuite('blobs in a bucket', () => S3BlobStore.open(newPlace()))

  test('a blob of exactly one part, of two, and of a byte more or less comes back as it went in', async t => {
    const store = await S3BlobStore.open(newPlace())
    t.after(() => store.close())
    for (const size of [8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 16 * MIB, 16 * MIB + 1]) {
      const key = newKey()
      const bytes = randomBytes(size)
      assert.equal((await store.write(key, chunksOf(bytes, 1_000_003), neverAborted)).size, size)
      const read = await store.read(key)
      const parts = []
      for await (const chunk of read) parts.push(chunk as Buffer)
      assert.ok(Buffer.concat(parts).equals(bytes), `${size}`)
    }
  })

  test('pieces of any size, and more small parts than fit, become one blob of equal parts', async t => {
    const store = await S3BlobStore.open(newPlace(), { partSizes: { small: 5 * MIB, count: 4, large: 10 * MIB } })
    t.after(() => store.close())
    const whole = randomBytes(43 * MIB)
    const sha256 = createHash('sha256').update(whole).digest('hex')
    const requireWhole = async (key: string): Promise<void> => {
      const hash = createHash('sha256')
      for await (const chunk of await store.read(key)) hash.update(chunk as Buffer)
      assert.equal(hash.digest('hex'), sha256)
      assert.deepEqual(await listed(store), [`${key} ${whole.length}`])
      await store.delete(key)
    }
    for (const cuts of [[6 * MIB + 1], [10 * MIB, 20 * MIB, 30 * MIB, 40 * MIB], [1, 17 * MIB, 39 * MIB]]) {
      const key = newKey()
      let offset = 0
      for (const end of [...cuts, whole.length])
        offset += await store.append(key, offset, chunksOf(whole.subarray(offset, end), MIB))
      assert.deepEqual(await store.complete(key, whole.length, sha256), { size: whole.length, sha256 })
      await requireWhole(key)
    }
    const key = newKey()
    assert.deepEqual(await store.write(key, chunksOf(whole, MIB), neverAborted), { size: whole.length, sha256 })
    await requireWhole(key)
  })

  test('parts of a blob that a crash left behind are listed with their size and can be deleted, but not read', async t => {
    const place = newPlace()
    const store = await S3BlobStore.open(place)
    t.after(() => store.close())
    const key = newKey()
    const object = { Bucket: gateway().bucket, Key: `${place.split('/').slice(3).join('/')}/${key}` }
    const { UploadId } = await client().send(new CreateMultipartUploadCommand(object))
    await client().send(new UploadPartCommand({ ...object, UploadId, PartNumber: 1, Body: Buffer.alloc(1000) }))
    assert.deepEqual(await listed(store), [`${key} 1000`])
    await assert.rejects(store.read(key), BlobMissing)
    await store.delete(key)
    assert.deepEqual(await listed(store), [])
  })

  test('a source that fails and a client that leaves after several parts leave nothing', async t => {
    const store = await S3BlobStore.open(newPlace())
    t.after(() => store.close())
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield* mebibytes(20)
      throw new Error('connection lost')
    }
    await assert.rejects(store.write(newKey(), failing(), neverAborted), { message: 'connection lost' })
    const left = new AbortController()
    async function* stuck(): AsyncGenerator<Uint8Array> {
      yield* mebibytes(20)
      left.abort(new Error('client left'))
      await new Promise(() => {})
    }
    await assert.rejects(store.write(newKey(), stuck(), left.signal), { message: 'client left' })
    assert.deepEqual(await listed(store), [])
  })

  test('foreign objects in the bucket and beside the prefix are not listed as blobs', async t => {
    const place = newPlace()
    const store = await S3BlobStore.open(place)
    t.after(() => store.close())
    const prefix = place.split('/').slice(3).join('/')
    for (const Key of [`${prefix}/README`, `${prefix}/sub/${newKey()}`, `${prefix}${newKey()}`, newKey()]) {
      await client().send(new PutObjectCommand({ Bucket: gateway().bucket, Key, Body: 'x' }))
    }
    assert.deepEqual(await listed(store), [])
  })

  test('more blobs than fit into one page of a listing are all listed', async t => {
    const store = await S3BlobStore.open(newPlace())
    t.after(() => store.close())
    const keys = Array.from({ length: 1010 }, newKey)
    for (let n = 0; n < keys.length; n += 50) {
      await Promise.all(keys.slice(n, n + 50).map(key => store.write(key, chunksOf(Buffer.from('x'), 1), neverAborted)))
    }
    assert.deepEqual(await listed(store), keys.map(key => `${key} 1`).sort())
  })

  test('an upload uses the memory of a few parts, regardless of its size and of the size of its chunks', async t => {
    const store = await S3BlobStore.open(newPlace())
    t.after(() => store.close())
    let highest = 0
    const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().arrayBuffers)), 5)
    t.after(() => clearInterval(watch))
    const before = process.memoryUsage().arrayBuffers
    const megabyte = randomBytes(MIB)
    async function* large(): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < 200; n++) yield* chunksOf(megabyte, 1000)
    }
    assert.equal((await store.write(newKey(), large(), neverAborted)).size, 200 * MIB)
    assert.ok(highest - before < 100 * MIB, `${Math.round((highest - before) / MIB)} MiB`)
  })

  test('a reader that stops early or never starts leaves no connection open', async t => {
    const store = await S3BlobStore.open(newPlace(), { timeout: 2000 })
    t.after(() => store.close())
    const key = newKey()
    await store.write(key, mebibytes(20), neverAborted)
    const sockets = (): number => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
    const openBefore = sockets()
    for (let n = 0; n < 60; n++) {
      const stream = await store.read(key)
      if (n % 2 === 0) for await (const chunk of stream) if (chunk) break
      stream.destroy()
    }
    // One that has just been let go of may still be closing.
    for (let n = 0; n < 1000 && sockets() > openBefore + 2; n++) await new Promise(resolve => setTimeout(resolve, 10))
    assert.ok(sockets() <= openBefore + 2, `${sockets() - openBefore} more than before`)
  })

  test('a missing bucket or one without access stops the start with a clear message', async () => {
    const { bucket } = gateway()
    await assert.rejects(
      S3BlobStore.open('s3://nobody-has-this'),
      error => error instanceof StartupError && /there is no such bucket/.test(error.message),
    )
    const secret = process.env['AWS_SECRET_ACCESS_KEY'] ?? ''
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong'
    try {
      await assert.rejects(
        S3BlobStore.open(`s3://${bucket}`),
        error => error instanceof StartupError && /refuses these credentials/.test(error.message),
      )
    } finally {
      process.env['AWS_SECRET_ACCESS_KEY'] = secret
    }
  })

  test('a server that hangs or is down is reported as StoreUnavailable soon, and is used again when it is back', async t => {
    const store = await S3BlobStore.open(newPlace(), { timeout: 1500 })
    t.after(() => store.close())
    const key = newKey()
    await store.write(key, mebibytes(1), neverAborted)
    const everyVerbFails = async (): Promise<void> => {
      const began = performance.now()
      await assert.rejects(store.read(key), StoreUnavailable)
      await assert.rejects(store.write(newKey(), mebibytes(1), neverAborted), StoreUnavailable)
      await assert.rejects(store.write(newKey(), mebibytes(20), neverAborted), StoreUnavailable)
      await assert.rejects(store.delete(newKey()), StoreUnavailable)
      await assert.rejects(listed(store), StoreUnavailable)
      assert.ok(performance.now() - began < 300_000)
    }
    gateway().freeze()
    try {
      await everyVerbFails()
    } finally {
      gateway().thaw()
    }
    for await (const chunk of await store.read(key)) assert.ok(chunk)
    await gateway().kill()
    await everyVerbFails()
    await gateway().start()
    for await (const chunk of await store.read(key)) assert.ok(chunk)
  })

  test('a reader outlives a restart of the server in the middle of a blob', async t => {
    const store = await S3BlobStore.open(newPlace(), { timeout: 60_000 })
    t.after(() => store.close())
    const key = newKey()
    const { sha256 } = await store.write(key, mebibytes(40), neverAborted)
    let size = 0
    const hash = createHash('sha256')
    for await (const chunk of await store.read(key)) {
      if (size === 0) {
        await gateway().kill()
        await gateway().start()
      }
      size += (chunk as Buffer).length
      hash.update(chunk as Buffer)
    }
    assert.equal(size, 40 * MIB)
    assert.equal(hash.digest('hex'), sha256)
  })
}

function* cut(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  yield* cut(bytes, size)
}
