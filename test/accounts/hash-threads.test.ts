import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { HashThreads } from '../../src/accounts/password-schemes.ts'
import { until } from '../support/waiting.ts'

const cost = { memory: 19_456, iterations: 2, parallelism: 1 }

/** Of every thread of this process, its own first. */
const niceness = (): number[] =>
  readdirSync('/proc/self/task').flatMap(thread => {
    try {
      return Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16])
    } catch {
      return []
    }
  })

test('passwords are hashed on threads of a lower priority than the one that answers requests (D5.1)', {
  skip: process.platform !== 'linux',
}, async () => {
  const [own = 0] = niceness()
  const lower = (): number => niceness().filter(one => one > own).length
  const threads = new HashThreads(2)
  assert.equal(lower(), 0, 'none before there is work')
  const stored = await threads.hash('Good-Password-12', cost)
  const checks = await Promise.all(['Good-Password-12', 'other'].map(password => threads.verify(password, stored)))
  assert.deepEqual(checks, [true, false])
  assert.ok(lower() >= 1)
  await threads.close()
  // A thread that has ended may be seen for a moment longer.
  await until(lower, count => count === 0)
})

test('closing lets the work in progress end', async () => {
  const threads = new HashThreads(1)
  const hashing = threads.hash('Good-Password-12', cost)
  await threads.close()
  assert.match(await hashing, /^\$argon2id\$/)
})
