import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEntry } from '../../src/model/entry.ts'

test('cached metadata that an entry is created with are as old as the entry; without them there is no such time', () => {
  const place = { context: '3', id: '1', by: undefined, now: 5 }
  assert.equal(newEntry({ ...place, cachedExternalMetadata: {} }).cached, 5)
  assert.equal(newEntry(place).cached, undefined)
})
