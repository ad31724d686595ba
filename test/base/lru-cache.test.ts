import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LruCache } from '../../src/base/lru-cache.ts'

test('a text is prepared once while it is among the most recently used', () => {
  const prepared: string[] = []
  const cache = new LruCache(text => {
    prepared.push(text)
    return text.toUpperCase()
  }, 2)
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) assert.equal(cache.get(text), text.toUpperCase())
  assert.deepEqual(prepared, ['a', 'b', 'c', 'b'])
  assert.equal(cache.size, 2)
})

test('a text that cannot be prepared leaves nothing behind', () => {
  const cache = new LruCache<string>(() => {
    throw new Error('syntax')
  }, 2)
  assert.throws(() => cache.get('a'), { message: 'syntax' })
  assert.equal(cache.size, 0)
})
