import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BlobStore, timedBlobs } from '../../src/stores/blob-store.ts'

test('a timed store passes on all that it is given, such as the digest of a complete upload', async () => {
  const calls: unknown[] = []
  const inner = new Proxy({} as BlobStore, {
    get:
      (_, name) =>
      async (...given: unknown[]) =>
        void calls.push([name, ...given]),
  })
  const store = timedBlobs(inner)
  const bytes = (async function* () {})()
  const signal = new AbortController().signal
  await store.write('key', bytes, signal)
  await store.read('key', { first: 0, last: 1 })
  await store.append('key', 5, bytes)
  await store.readPieces('key', 5)
  await store.complete('key', 5, 'digest')
  await store.setAside('key')
  await store.delete('key')
  assert.deepEqual(calls, [
    ['write', 'key', bytes, signal],
    ['read', 'key', { first: 0, last: 1 }],
    ['append', 'key', 5, bytes],
    ['readPieces', 'key', 5],
    ['complete', 'key', 5, 'digest'],
    ['setAside', 'key'],
    ['delete', 'key'],
  ])
})
