import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { StartupError, StoreUnavailable, TooLarge } from '../../src/base/errors.ts'
import { BlobMissing, type ListedBlob, newBlobKey } from '../../src/stores/blob-store.ts'
import { S3BlobStore } from '../../src/stores/s3/s3-blob-store.ts'
import { createS3Client, objectsIn, s3Call, type S3Options } from '../../src/stores/s3/s3-client.ts'
import { PART_SIZES, partNumber, partSize, planParts } from '../../src/stores/s3/s3-parts.ts'
import { blobStoreSuite } from '../conformance/blob-store.ts'
import { BUCKET, type FakeS3, INITIATED, MODIFIED, refusal, startFakeS3 } from '../support/fake-s3.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { eventually } from '../support/waiting.ts'

Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: 'tests',
  AWS_SECRET_ACCESS_KEY: 'not-a-secret',
  AWS_REGION: 'eu-north-1',
})

const MIB = 2 ** 20
const PART = 8 * MIB
const newKey = (): string => newBlobKey(randomBytes)
const neverAborted = new AbortController().signal

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

async function open(t: TestContext, place = `s3://${BUCKET}/some/prefix`, options: S3Options = {}) {
  const s3 = await startFakeS3(t)
  const store = await S3BlobStore.open(place, { endpoint: s3.url, ...options })
  t.after(() => store.close())
  s3.requests.length = 0
  return { s3, store }
}

const listed = async (store: S3BlobStore): Promise<ListedBlob[]> => {
  const found = []
  for await (const blob of store.list()) found.push(blob)
  return found
}

/** What was asked for, such as `PUT 3` for part 3, or `PUT` for a whole object. */
const asked = ({ requests }: FakeS3): string[] =>
  requests.map(({ method, query }) => [method, ...Object.keys(query), query['partNumber']].filter(Boolean).join(' '))

blobStoreSuite('blobs in a bucket', async t => (await open(t)).store)

test('a bucket may have a prefix for the names of its objects, and the server is checked first', async t => {
  const s3 = await startFakeS3(t)
  for (const [place, prefix] of [
    [`s3://${BUCKET}`, ''],
    [`s3://${BUCKET}/a`, 'a/'],
    [`s3://${BUCKET}/a/b`, 'a/b/'],
  ] as const) {
    s3.requests.length = 0
    s3.objects.clear()
    const store = await S3BlobStore.open(place, { endpoint: s3.url })
    assert.deepEqual(asked(s3), ['HEAD'])
    const key = newKey()
    await store.write(key, chunksOf(Buffer.from('x'), 1), neverAborted)
    assert.deepEqual([...s3.objects.keys()], [prefix + key])
    assert.deepEqual(await store.unfinished(), [])
    await store.close()
  }
})

test('a blob below one part is one request; a larger one is sent in parts and then completed', async t => {
  const { s3, store } = await open(t)
  const whole = randomBytes(PART + 1)
  for (const [size, requests] of [
    [0, ['PUT']],
    [PART - 1, ['PUT']],
    [PART, ['POST uploads', 'PUT partNumber uploadId 1', 'POST uploadId']],
    [PART + 1, ['POST uploads', 'PUT partNumber uploadId 1', 'PUT partNumber uploadId 2', 'POST uploadId']],
  ] as const) {
    s3.requests.length = 0
    const bytes = whole.subarray(0, size)
    const key = newKey()
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    assert.deepEqual(await store.write(key, chunksOf(bytes, 1_000_003), neverAborted), { size, sha256 })
    assert.deepEqual(asked(s3), requests)
    const sizes = s3.requests.filter(({ query }) => 'partNumber' in query).map(request => request.size)
    assert.deepEqual(sizes, size < PART ? [] : size === PART ? [PART] : [PART, size - PART])
    assert.ok((await buffer(await store.read(key))).equals(bytes))
    await store.delete(key)
  }
  assert.deepEqual([s3.objects.size, s3.uploads.size], [0, 0])
})

test('a part that the server could not store is sent again, with all its bytes', async t => {
  const { s3, store } = await open(t)
  const whole = randomBytes(2 * PART + 1)
  let failures = 0
  s3.intercept = ({ query }) =>
    query['partNumber'] === '2' && failures++ === 0 ? refusal(500, 'InternalError') : undefined
  const key = newKey()
  const sha256 = createHash('sha256').update(whole).digest('hex')
  assert.deepEqual(await store.write(key, chunksOf(whole, 65_536), neverAborted), { size: whole.length, sha256 })
  assert.deepEqual(
    s3.requests.flatMap(({ query, size }) => ('partNumber' in query ? [[query['partNumber'], size]] : [])),
    [
      ['1', PART],
      ['2', PART],
      ['2', PART],
      ['3', 1],
    ],
  )
  assert.ok((await buffer(await store.read(key))).equals(whole))
})

test('pieces become equal parts: the server copies what is in one piece, the rest is sent again', async t => {
  const { s3, store } = await open(t, `s3://${BUCKET}/a prefix`)
  const whole = randomBytes(27 * MIB)
  const join = async (cuts: readonly number[], isKnown = true): Promise<unknown[]> => {
    const key = newKey()
    let offset = 0
    for (const end of cuts) offset += await store.append(key, offset, chunksOf(whole.subarray(offset, end), MIB))
    s3.requests.length = 0
    const bytes = whole.subarray(0, offset)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    assert.deepEqual(await store.complete(key, offset, isKnown ? sha256 : undefined), { size: offset, sha256 })
    assert.deepEqual([...s3.objects.keys()], [`a prefix/${key}`])
    assert.ok(s3.objects.get(`a prefix/${key}`)?.equals(bytes))
    s3.objects.clear()
    return s3.requests
      .filter(({ query }) => 'partNumber' in query)
      .sort((a, b) => Number(a.query['partNumber']) - Number(b.query['partNumber']))
      .map(({ size, copied, copiedRange }) => (copied === undefined ? size : (copiedRange ?? 'all')))
  }
  assert.deepEqual(await join([5 * MIB, 10 * MIB, 11 * MIB]), ['all', 'all', 'all'])
  assert.deepEqual(await join([20 * MIB]), ['all'])
  assert.deepEqual(await join([8 * MIB, 27 * MIB]), [
    'all',
    `bytes=0-${PART - 1}`,
    `bytes=${PART}-${2 * PART - 1}`,
    `bytes=${2 * PART}-${19 * MIB - 1}`,
  ])
  assert.deepEqual(await join([6 * MIB + 1, 27 * MIB]), [
    PART,
    `bytes=${2 * MIB - 1}-${10 * MIB - 2}`,
    `bytes=${10 * MIB - 1}-${18 * MIB - 2}`,
    `bytes=${18 * MIB - 1}-${21 * MIB - 2}`,
  ])
  assert.deepEqual(
    await join([8 * MIB, 15 * MIB, 20 * MIB]),
    ['all', PART, 4 * MIB],
    'a range of a small object cannot be copied',
  )
  assert.deepEqual(await join([8 * MIB, 12 * MIB, 13 * MIB]), ['all', 5 * MIB])
  assert.deepEqual(await join([5 * MIB - 1, 11 * MIB]), [PART, `bytes=${3 * MIB + 1}-${6 * MIB}`])
  assert.deepEqual(await join([5 * MIB, 10 * MIB, 11 * MIB], false), [PART, 3 * MIB], 'the digest is not known')
  assert.deepEqual(await join([1 * MIB, 2 * MIB]), [], 'one request')
})

test('a crash while the pieces of a complete blob are deleted is no obstacle', async t => {
  const { s3, store } = await open(t)
  const [key, bytes] = [newKey(), randomBytes(12 * MIB)]
  for (const offset of [0, 6 * MIB])
    await store.append(key, offset, chunksOf(bytes.subarray(offset, offset + 6 * MIB), MIB))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  s3.intercept = ({ method, name }) =>
    method === 'DELETE' && /\.0*6/.test(name) ? refusal(403, 'AccessDenied') : undefined
  await assert.rejects(store.complete(key, bytes.length, sha256), StoreUnavailable)
  assert.equal(s3.objects.size, 2)
  s3.intercept = undefined
  assert.deepEqual(await store.complete(key, bytes.length, sha256), { size: bytes.length, sha256 })
  assert.deepEqual([...s3.objects.keys()], [`some/prefix/${key}`])
  await store.delete(key)
  await store.append(key, 6 * MIB, chunksOf(bytes.subarray(6 * MIB), MIB))
  await assert.rejects(store.complete(key, bytes.length, sha256), BlobMissing)
})

test('when there are too many small parts, the server makes large ones of them, and all stay equal', async t => {
  const partSizes = { small: 5 * MIB, count: 4, large: 10 * MIB }
  const { s3, store } = await open(t, undefined, { partSizes })
  const whole = randomBytes(47 * MIB)
  for (const size of [20 * MIB, 20 * MIB + 1, 30 * MIB, 47 * MIB]) {
    s3.requests.length = 0
    const [key, bytes] = [newKey(), whole.subarray(0, size)]
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    assert.deepEqual(await store.write(key, chunksOf(bytes, 1_000_003), neverAborted), { size, sha256 })
    assert.ok((await buffer(await store.read(key))).equals(bytes))
    const sent = s3.requests
      .filter(({ query }) => 'partNumber' in query)
      .reduce((sum, request) => sum + request.size, 0)
    assert.equal(sent, size, 'no byte is sent twice')
    await store.delete(key)
  }
  assert.deepEqual([s3.objects.size, s3.uploads.size], [0, 0])
})

test('pieces whose joining fails are kept for the next attempt, and nothing else is left', async t => {
  const { s3, store } = await open(t)
  const key = newKey()
  const whole = randomBytes(6 * MIB)
  const sha256 = createHash('sha256').update(whole).digest('hex')
  await store.append(key, 0, chunksOf(whole.subarray(0, 5 * MIB), MIB))
  await store.append(key, 5 * MIB, chunksOf(whole.subarray(5 * MIB), MIB))
  s3.intercept = ({ query }) => (query['partNumber'] === '2' ? refusal(403, 'AccessDenied') : undefined)
  await assert.rejects(store.complete(key, whole.length, sha256), StoreUnavailable)
  assert.deepEqual([s3.objects.size, s3.uploads.size], [2, 0])
  s3.intercept = undefined
  await store.complete(key, whole.length, sha256)
  assert.deepEqual([s3.objects.size, s3.uploads.size], [1, 0])
})

test('a blob above 7.8 GiB has larger parts, and one with more than ten thousand is refused', () => {
  const LARGE = 8 * PART
  assert.deepEqual(
    [1, 1000, 1001].map(n => [partSize(n, PART_SIZES), partNumber(n, PART_SIZES)]),
    [
      [PART, 1],
      [PART, 1000],
      [LARGE, 126],
    ],
  )
  const most = 1000 + 10_000 - 125
  assert.equal(partNumber(most, PART_SIZES), 10_000)
  const limit = 10_000 * LARGE
  assert.throws(
    () => partNumber(most + 1, PART_SIZES),
    (error: unknown) => {
      assert.ok(error instanceof TooLarge)
      assert.deepEqual(
        [error.code, error.message, error.extra],
        ['file-too-large', `A file may have at most ${limit} bytes.`, { limit }],
      )
      return true
    },
  )
})

test('however an object was cut, its planned parts are equal, cover it once, and are few enough', () => {
  const GIB = 2 ** 30
  const object = { Bucket: BUCKET, Key: 'x' }
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 * GIB }), { minLength: 1, maxLength: 12 }), cuts => {
      let offset = 0
      const pieces = cuts.map(size => ({ object, size, offset: (offset += size) - size }))
      const parts = planParts(pieces, PART_SIZES)
      let end = 0
      for (const [index, part] of parts.entries()) {
        assert.deepEqual([part.number, part.first], [index + 1, end])
        end = part.end
        if (index < parts.length - 1) assert.equal(part.end - part.first, parts[0]?.end)
        if (part.copied)
          assert.ok(part.copied.offset <= part.first && part.end <= part.copied.offset + part.copied.size)
      }
      assert.equal(end, offset)
      assert.ok(parts.length <= 10_000 && (parts.length === 1 || (parts[0]?.end ?? 0) >= 5 * MIB))
    }),
  )
})

test('listings, of blobs and of what crashes have left, are read to their last page', async t => {
  const { s3, store } = await open(t)
  s3.pageSize = 2
  const keys = Array.from({ length: 5 }, newKey)
  const prefix = 'some/prefix/'
  for (const [index, key] of keys.entries()) s3.objects.set(prefix + key, Buffer.alloc(index))
  const unfinished = Array.from({ length: 5 }, newKey)
  for (const [index, key] of unfinished.entries()) {
    const parts = Array.from({ length: index }, (_, at) => [at + 1, Buffer.alloc(at + 10)] as const)
    s3.uploads.set(`u${index}`, { id: `u${index}`, name: prefix + key, parts: new Map(parts) })
  }
  // Objects and uploads of other programs.
  for (const name of [`${prefix}README`, `${prefix}sub/${newKey()}`, `some/prefix${newKey()}`, newKey()]) {
    s3.objects.set(name, Buffer.alloc(1))
    s3.uploads.set(name, { id: name, name, parts: new Map() })
  }
  assert.deepEqual(await listed(store), [
    ...unfinished.map((key, index) => {
      const size = [0, 10, 21, 33, 46][index]
      return { key, size, modified: Date.parse(INITIATED) }
    }),
    ...keys.map((key, size) => ({ key, size, modified: Date.parse(MODIFIED) })),
  ])
})

test('an upload that ends while it is listed has no bytes, and any other failure ends the listing', async t => {
  const { s3, store } = await open(t)
  const key = newKey()
  s3.uploads.set('u', { id: 'u', name: `some/prefix/${key}`, parts: new Map([[1, Buffer.alloc(9)]]) })
  s3.intercept = ({ query }) => ('uploadId' in query ? refusal(404, 'NoSuchUpload') : undefined)
  assert.deepEqual(await listed(store), [{ key, size: 0, modified: Date.parse(INITIATED) }])
  s3.intercept = ({ query }) => ('uploadId' in query ? refusal(403, 'AccessDenied') : undefined)
  await assert.rejects(listed(store), StoreUnavailable)
  // What the server does not say is not guessed.
  s3.intercept = ({ query }) =>
    'uploads' in query
      ? { status: 200, body: '<ListMultipartUploadsResult></ListMultipartUploadsResult>' }
      : { status: 200, body: `<ListBucketResult><Contents><Key>some/prefix/${key}</Key></Contents></ListBucketResult>` }
  assert.deepEqual(await listed(store), [{ key, size: 0, modified: 0 }])
})

test('deleting a blob also ends its unfinished uploads, and those of no other blob', async t => {
  const { s3, store } = await open(t)
  const [key, other] = [newKey(), newKey()]
  for (const [id, name] of [
    ['u1', key],
    ['u2', key],
    ['u3', other],
  ] as const)
    s3.uploads.set(id, { id, name: `some/prefix/${name}`, parts: new Map() })
  await store.delete(key)
  assert.deepEqual([...s3.uploads.keys()], ['u3'])
  // One that somebody else has ended meanwhile is no failure; everything else is.
  s3.intercept = ({ query, method }) =>
    method === 'DELETE' && 'uploadId' in query ? refusal(404, 'NoSuchUpload') : undefined
  await store.delete(other)
  s3.intercept = ({ query, method }) => (method === 'DELETE' && 'uploadId' in query ? refusal(403, 'No') : undefined)
  await assert.rejects(store.delete(other), StoreUnavailable)
})

test('a server that refuses or fails is unavailable; an object that is missing is missing, but not with its bucket', async t => {
  const { s3, store } = await open(t)
  const unavailable = async (work: Promise<unknown>, status: number): Promise<void> => {
    const error: unknown = await work.then(
      () => assert.fail('it succeeded'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof StoreUnavailable, String(error))
    assert.equal(error.message, 'The store of the files cannot be reached at the moment.')
    const { $metadata } = error.cause as { $metadata: { httpStatusCode: number } }
    assert.equal($metadata.httpStatusCode, status)
  }
  for (const [status, code, requests] of [
    [403, 'AccessDenied', 1],
    [404, 'NoSuchBucket', 1],
    [500, 'InternalError', 3],
  ] as const) {
    s3.intercept = () => refusal(status, code)
    s3.requests.length = 0
    await unavailable(store.read(newKey()), status)
    assert.equal(s3.requests.length, requests, 'attempts')
    await unavailable(listed(store), status)
    await unavailable(store.delete(newKey()), status)
  }
  s3.intercept = () => refusal(404, 'NoSuchKey')
  const key = newKey()
  await assert.rejects(store.read(key), (error: unknown) => {
    assert.ok(error instanceof BlobMissing)
    assert.equal((error.cause as Error).name, 'NoSuchKey')
    return true
  })
})

test('after a failure of the server the upload is left for later; after one of the source it is ended', async t => {
  const { s3, store } = await open(t)
  const bytes = randomBytes(PART + 1)
  for (const failing of ['uploads', 'partNumber', 'complete', 'put']) {
    s3.requests.length = 0
    s3.intercept = ({ method, query }) => {
      const kind =
        'partNumber' in query ? 'partNumber' : 'uploads' in query ? 'uploads' : 'uploadId' in query ? 'complete' : 'put'
      return kind === failing && method !== 'GET' ? refusal(403, 'AccessDenied') : undefined
    }
    const size = failing === 'put' ? 10 : bytes.length
    await assert.rejects(store.write(newKey(), chunksOf(bytes.subarray(0, size), MIB), neverAborted), StoreUnavailable)
    assert.ok(!s3.requests.some(({ method }) => method === 'DELETE' || method === 'GET'), failing)
  }
  s3.intercept = undefined
  s3.uploads.clear()
  const lost = new Error('connection lost')
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield* chunksOf(bytes, MIB)
    throw lost
  }
  await assert.rejects(store.write(newKey(), failing(), neverAborted), lost)
  assert.deepEqual([s3.uploads.size, s3.objects.size], [0, 0])
  // The error of the source is reported, also where nothing can be removed.
  s3.intercept = ({ method }) => (method === 'DELETE' ? refusal(403, 'AccessDenied') : undefined)
  await assert.rejects(store.write(newKey(), failing(), neverAborted), lost)
  assert.equal(s3.uploads.size, 1)
})

test('a part that fails ends the waiting for a source that is stuck', async t => {
  const { s3, store } = await open(t)
  s3.intercept = ({ query }) => ('partNumber' in query ? refusal(403, 'AccessDenied') : undefined)
  async function* stuck(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(PART)
    await new Promise(() => {})
  }
  await assert.rejects(store.write(newKey(), stuck(), neverAborted), StoreUnavailable)
})

test('a client that leaves ends each kind of request, with its own reason', async t => {
  const { s3, store } = await open(t)
  for (const [kind, size] of [
    ['PUT', 10],
    ['POST uploads', PART],
    ['PUT partNumber uploadId 1', PART],
    ['POST uploadId', PART],
  ] as const) {
    const left = new AbortController()
    const reason = new Error(`left during ${kind}`)
    s3.intercept = request => {
      if (asked({ ...s3, requests: [request] })[0] !== kind) return undefined
      left.abort(reason)
      return 'silence'
    }
    await assert.rejects(store.write(newKey(), chunksOf(Buffer.alloc(size), MIB), left.signal), reason)
    s3.intercept = undefined
    await eventually('the request is given up', () => s3.open() === 0)
  }
})

test('a server that stays silent is unavailable after the timeout', async t => {
  const s3 = await startFakeS3(t)
  s3.intercept = () => 'silence'
  const silent = { endpoint: s3.url, timeout: 50 }
  for (const purpose of ['read', 'write'] as const) {
    const client = createS3Client(purpose, silent)
    t.after(() => client.destroy())
    const listing = objectsIn(client, { Bucket: BUCKET, Prefix: '' }).next()
    await assert.rejects(listing, StoreUnavailable)
  }
  await assert.rejects(S3BlobStore.open(`s3://${BUCKET}`, silent), StartupError)
})

test('many readers that take their time keep nobody else from reading', async t => {
  const { s3, store } = await open(t)
  const key = newKey()
  s3.objects.set(`some/prefix/${key}`, Buffer.alloc(MIB / 4))
  const slow = []
  for (let n = 0; n < 60; n++) slow.push(await store.read(key))
  assert.equal((await buffer(await store.read(key))).length, MIB / 4)
  for (const stream of slow) stream.destroy()
})

test('a start says why the bucket cannot be used', async t => {
  const s3 = await startFakeS3(t)
  const nobody = await freePort()
  for (const [reply, endpoint, reason] of [
    [{ status: 404 }, s3.url, /^there is no such bucket$/],
    [{ status: 403 }, s3.url, /^the server refuses these credentials$/],
    [{ status: 400 }, s3.url, /^[^.]*400[^.]*$|^[A-Z]\w*$/],
    [undefined, `http://127.0.0.1:${nobody}`, /ECONNREFUSED/],
    // Refused at both addresses of the name.
    [undefined, `http://localhost:${nobody}`, /ECONNREFUSED/],
  ] as const) {
    s3.intercept = () => reply
    await assert.rejects(S3BlobStore.open(`s3://${BUCKET}/x`, { endpoint }), (error: unknown) => {
      assert.ok(error instanceof StartupError)
      const [, found] = /^The bucket bucket cannot be used: (.*)\.$/.exec(error.message) ?? []
      assert.match(found ?? error.message, reason)
      assert.ok(error.cause instanceof Error)
      return true
    })
  }
})

test('a server other than that of Amazon gets a region only where one is needed, and has its buckets in the path', async t => {
  const s3 = await startFakeS3(t)
  for (const [region, expected] of [
    [undefined, 'us-east-1'],
    ['garage', 'garage'],
  ] as const) {
    s3.requests.length = 0
    const store = await S3BlobStore.open(`s3://${BUCKET}`, { endpoint: s3.url, region })
    await store.close()
    assert.deepEqual(
      s3.requests.map(request => request.region),
      [expected],
    )
  }
  for (const [region, expected] of [
    [undefined, 'eu-north-1'],
    ['eu-west-3', 'eu-west-3'],
  ] as const) {
    const client = createS3Client('write', { region })
    assert.deepEqual([await client.config.region(), client.config.forcePathStyle], [expected, false])
    client.destroy()
  }
})

test('a call that fails because its caller has left fails with the reason of that', async () => {
  const left = new Error('left')
  await assert.rejects(s3Call(Promise.reject(new Error('aborted')), AbortSignal.abort(left)), left)
  await assert.rejects(s3Call(Promise.reject(new Error('broken')), neverAborted), StoreUnavailable)
  assert.equal(await s3Call(Promise.resolve(3), AbortSignal.abort(left)), 3)
})
