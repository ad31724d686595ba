import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requirePeer } from '../support/peers/peer.ts'

const present = { name: 'Present', available: () => true }
const absent = { name: 'Absent', available: () => false }

test('a test runs with a peer that is installed, and is skipped by name without it', t => {
  const before = process.env['REQUIRE_PEERS']
  t.after(
    () => void (before === undefined ? delete process.env['REQUIRE_PEERS'] : (process.env['REQUIRE_PEERS'] = before)),
  )
  const skipped: string[] = []
  const asked = { skip: (message: string) => void skipped.push(message) }

  delete process.env['REQUIRE_PEERS']
  assert.equal(requirePeer(asked, present), true)
  assert.deepEqual(skipped, [])
  assert.equal(requirePeer(asked, absent), false)
  assert.match(skipped.join(), /^Absent is not installed/)

  process.env['REQUIRE_PEERS'] = '1'
  assert.equal(requirePeer(asked, present), true)
  assert.throws(() => requirePeer(asked, absent), /Absent is not installed/)
  assert.equal(skipped.length, 1)
})
