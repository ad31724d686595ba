import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashThreads } from '../../src/accounts/passwords.ts'
import { after } from '../support/after.ts'

const cost = { memory: 19_456, iterations: 2, parallelism: 1 }

test('passwords are hashed and checked on threads of their own (D5.1)', async () => {
  const threads = new HashThreads(2)
  after(() => threads.close())
  const stored = await threads.hash('Good-Password-12', cost)
  assert.match(stored, /^\$argon2id\$/)
  const checks = await Promise.all(['Good-Password-12', 'other'].map(password => threads.verify(password, stored)))
  assert.deepEqual(checks, [true, false])
})
