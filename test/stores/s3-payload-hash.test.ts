import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { PayloadHash } from '../../src/stores/s3/s3-payload-hash.ts'

const hex = async (hash: PayloadHash): Promise<string> => Buffer.from(await hash.digest()).toString('hex')

test('a digest is that of all pieces, as text or bytes, and begins anew after a reset', async () => {
  const hash = new PayloadHash()
  assert.equal(await hex(hash), createHash('sha256').digest('hex'))
  const memory = new Uint8Array([0, 1, 2, 3])
  for (const piece of ['Grüße', memory.subarray(1, 3), new DataView(memory.buffer, 2), memory.buffer])
    hash.update(piece)
  assert.equal(
    await hex(hash),
    createHash('sha256')
      .update('Grüße')
      .update(Buffer.from([1, 2, 2, 3, 0, 1, 2, 3]))
      .digest('hex'),
  )
  hash.reset()
  hash.update('b')
  assert.equal(await hex(hash), createHash('sha256').update('b').digest('hex'))
})

test('with a secret it is an HMAC, also after a reset', async () => {
  for (const secret of ['secret', new Uint8Array([1, 2, 3])]) {
    const hash = new PayloadHash(secret)
    hash.update('a')
    assert.equal(await hex(hash), createHmac('sha256', secret).update('a').digest('hex'))
    hash.reset()
    hash.update('b')
    assert.equal(await hex(hash), createHmac('sha256', secret).update('b').digest('hex'))
  }
})
