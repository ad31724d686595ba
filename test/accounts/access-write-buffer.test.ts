import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Access, AccessWriteBuffer } from '../../src/accounts/access-write-buffer.ts'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { until } from '../support/waiting.ts'

test('accesses that the store did not take because it was out of reach are written again by themselves', async () => {
  const access: Access = { lastAccess: 1, expires: 2, cookieSent: 3 }
  const written: Array<ReadonlyMap<string, Access>> = []
  let attempts = 0
  const buffer = new AccessWriteBuffer(1, async notes => {
    if (++attempts === 1) throw new StoreUnavailable('The store')
    written.push(notes)
  })
  buffer.add('one', access)
  await until(
    () => written.length,
    count => count > 0,
  )
  assert.deepEqual(written, [new Map([['one', access]])])
  await buffer.flush()
  assert.equal(buffer.of('one'), undefined)
})
