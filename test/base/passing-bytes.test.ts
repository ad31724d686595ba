import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notePassing } from '../../src/base/passing-bytes.ts'

const MIB = 1_048_576

test('buffers that were dropped are collected long before the engine would look for them', () => {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let passed = 0; passed < 256 * MIB; passed += 65_536) {
    Buffer.allocUnsafeSlow(65_536)[0] = 1
    notePassing(65_536)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  // The engine itself looks after 32 MiB; what one collection finds is counted as free by the next.
  assert.ok(most < 16 * MIB, `${most / MIB} MiB`)
})
