import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSettings } from '../../src/config/load.ts'

test('a removed key is a warning that says what to do instead, and has no effect', () => {
  const { settings, warnings, unknownKeys } = loadSettings({ overrides: ['service.http.threads=4'] })
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^service\.http\.threads has no effect any more: .*several processes on PostgreSQL/)
  assert.deepEqual(unknownKeys, ['service.http.threads'])
  assert.ok(!('service.http.threads' in settings))
})
