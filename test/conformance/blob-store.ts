import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { BlobMissing, type BlobStore, type StoredBlob, newBlobKey } from '../../src/stores/blob-store.ts'

const MIB = 2 ** 20
const newKey = (): string => newBlobKey(randomBytes)
const neverAborted = new AbortController().signal

async function* chunks(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}

/** What every place for bytes keeps. `open` gives an empty store. */
export function blobStoreSuite(name: string, open: (t: TestContext) => Promise<BlobStore>): void {
  const opened = async (t: TestContext): Promise<BlobStore> => {
    const store = await open(t)
    t.after(() => store.close())
    return store
  }
  const put = (store: BlobStore, key: string, text: string): Promise<StoredBlob> =>
    store.write(key, chunks(Buffer.from(text)), neverAborted)
  const textOf = async (stream: Promise<Readable>): Promise<string> => (await buffer(await stream)).toString()
  const keysOf = async (store: BlobStore): Promise<string[]> => {
    const keys = new Set<string>()
    for await (const { key } of store.list()) keys.add(key)
    return [...keys].sort()
  }

  describe(name, () => {
    test('a blob has the size and the SHA-256 of its bytes (FIPS 180-2, B.1 and the empty message)', async t => {
      const store = await opened(t)
      assert.deepEqual(await put(store, newKey(), 'abc'), {
        size: 3,
        sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      })
      const empty = newKey()
      assert.deepEqual(await store.write(empty, chunks(), neverAborted), {
        size: 0,
        sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      })
      assert.equal(await textOf(store.read(empty)), '')
    })

    test('bytes come back as they went in, however they were cut into chunks', async t => {
      const store = await opened(t)
      const parts = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 600 })
      await fc.assert(
        fc.asyncProperty(parts, async parts => {
          const key = newKey()
          const whole = Buffer.concat(parts)
          const stored = await store.write(key, chunks(...parts), neverAborted)
          assert.deepEqual(stored, { size: whole.length, sha256: createHash('sha256').update(whole).digest('hex') })
          assert.ok((await buffer(await store.read(key))).equals(whole))
        }),
        { numRuns: 20 },
      )
    })

    test('a blob of several MiB comes back as it went in', async t => {
      const store = await opened(t)
      const whole = randomBytes(5 * 2 ** 20 + 17)
      const key = newKey()
      await store.write(key, Readable.from([whole.subarray(0, 3_000_000), whole.subarray(3_000_000)]), neverAborted)
      assert.ok((await buffer(await store.read(key))).equals(whole))
    })

    test('bytes that arrive in pieces become one blob, also when that is repeated, whether their digest is known or not', async t => {
      const store = await opened(t)
      const whole = randomBytes(13 * MIB)
      const stored = { size: whole.length, sha256: createHash('sha256').update(whole).digest('hex') }
      for (const [ends, known] of [
        [[6, 12, 13], stored.sha256],
        [[6, 12, 13], undefined],
        [[1, 13], stored.sha256],
      ] as const) {
        const key = newKey()
        let offset = 0
        for (const end of ends) offset += await store.append(key, offset, chunks(whole.subarray(offset, end * MIB)))
        await assert.rejects(store.read(key), BlobMissing)
        assert.deepEqual(await store.complete(key, whole.length, known), stored)
        assert.ok((await buffer(await store.read(key))).equals(whole))
        assert.deepEqual(await store.complete(key, whole.length, known), stored)
        assert.deepEqual(await keysOf(store), [key])
        await store.delete(key)
      }
      assert.deepEqual(await keysOf(store), [])
    })

    test('an append drops all bytes beyond its offset, also those of several earlier appends', async t => {
      const store = await opened(t)
      for (const known of [true, false]) {
        const [key, whole] = [newKey(), randomBytes(900)]
        await store.append(key, 0, chunks(whole.subarray(0, 100)))
        for (const offset of [100, 500, 900]) await store.append(key, offset, chunks(randomBytes(400)))
        await store.append(key, 100, chunks(whole.subarray(100, 200)))
        await store.append(key, 200, chunks(whole.subarray(200)))
        assert.ok((await buffer(await store.readPieces(key, 900))).equals(whole))
        const sha256 = createHash('sha256').update(whole).digest('hex')
        assert.deepEqual(await store.complete(key, 900, known ? sha256 : undefined), { size: 900, sha256 })
        assert.ok((await buffer(await store.read(key))).equals(whole))
      }
    })

    test('a range gives the bytes from the first to the last, both included', async t => {
      const store = await opened(t)
      const key = newKey()
      await put(store, key, '0123456789')
      assert.equal(await textOf(store.read(key, { first: 0, last: 0 })), '0')
      assert.equal(await textOf(store.read(key, { first: 3, last: 6 })), '3456')
      assert.equal(await textOf(store.read(key, { first: 9, last: 9 })), '9')
      assert.equal(await textOf(store.read(key, { first: 0, last: 9 })), '0123456789')
      for (const range of [
        { first: 2, last: 1 },
        { first: -1, last: 1 },
        { first: 0, last: 0.5 },
      ])
        await assert.rejects(store.read(key, range), RangeError)
    })

    test('reading what is not there rejects with BlobMissing', async t => {
      const store = await opened(t)
      await assert.rejects(store.read(newKey()), BlobMissing)
      await assert.rejects(store.read(newKey(), { first: 0, last: 1 }), BlobMissing)
    })

    test('a deleted blob is gone, and deleting it again is no error', async t => {
      const store = await opened(t)
      const [gone, kept] = [newKey(), newKey()]
      await put(store, gone, 'gone')
      await put(store, kept, 'kept')
      await store.delete(gone)
      await store.delete(gone)
      await store.delete(newKey())
      await assert.rejects(store.read(gone), BlobMissing)
      assert.deepEqual(await keysOf(store), [kept])
      assert.equal(await textOf(store.read(kept)), 'kept')
    })

    test('a reader that has begun reads to the end although the blob is deleted meanwhile', async t => {
      const store = await opened(t)
      const key = newKey()
      const whole = randomBytes(2 ** 20)
      await store.write(key, chunks(new Uint8Array(whole)), neverAborted)
      const stream = await store.read(key)
      await store.delete(key)
      assert.ok((await buffer(stream)).equals(whole))
    })

    test('list gives every blob with its size and a time', async t => {
      const store = await opened(t)
      const expected = new Map<string, number>()
      for (let size = 0; size < 20; size++) {
        const key = newKey()
        await store.write(key, chunks(Buffer.alloc(size)), neverAborted)
        expected.set(key, size)
      }
      const listed = new Map<string, number>()
      for await (const { key, size, modified } of store.list()) {
        listed.set(key, size)
        assert.ok(Number.isSafeInteger(modified) && modified > 0)
      }
      assert.deepEqual(listed, expected)
    })

    test('blobs written side by side do not mix', async t => {
      const store = await opened(t)
      const keys = Array.from({ length: 30 }, newKey)
      await Promise.all(keys.map(key => put(store, key, key.repeat(1000))))
      for (const key of keys) assert.equal(await textOf(store.read(key)), key.repeat(1000))
    })

    test('a source that fails leaves nothing, and its error comes through', async t => {
      const store = await opened(t)
      const key = newKey()
      const reason = new Error('connection lost')
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield randomBytes(3 * 2 ** 20)
        throw reason
      }
      await assert.rejects(store.write(key, failing(), neverAborted), error => error === reason)
      await assert.rejects(store.read(key), BlobMissing)
      assert.deepEqual(await keysOf(store), [])
    })

    test('an abort ends the write even while the source is stuck, and leaves nothing', async t => {
      const store = await opened(t)
      const key = newKey()
      const controller = new AbortController()
      const reason = new Error('client left')
      async function* stuck(): AsyncGenerator<Uint8Array> {
        yield randomBytes(2 * 2 ** 20)
        setImmediate(() => controller.abort(reason))
        await new Promise(() => {})
      }
      await assert.rejects(store.write(key, stuck(), controller.signal), error => error === reason)
      await assert.rejects(store.read(key), BlobMissing)
      assert.deepEqual(await keysOf(store), [])
    })

    test('an abort before the write begins takes nothing from the source', async t => {
      const store = await opened(t)
      const reason = new Error('too late')
      let asked = false
      async function* source(): AsyncGenerator<Uint8Array> {
        asked = true
        yield randomBytes(1)
      }
      await assert.rejects(store.write(newKey(), source(), AbortSignal.abort(reason)), error => error === reason)
      assert.equal(asked, false)
      assert.deepEqual(await keysOf(store), [])
    })

    test('a key that this program did not make is refused by every verb', async t => {
      const store = await opened(t)
      const key = newKey()
      const wrong = [
        '',
        '../../etc/passwd',
        key.toUpperCase(),
        `${key}0`,
        key.slice(1),
        `${key}\n`,
        `${key.slice(3)}/..`,
      ]
      for (const refused of wrong.filter(text => text !== key)) {
        await assert.rejects(put(store, refused, 'x'), TypeError)
        await assert.rejects(store.read(refused), TypeError)
        await assert.rejects(store.delete(refused), TypeError)
      }
    })
  })
}
