import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_GROWTH, residentOf } from '../support/memory.ts'
import { sendRaw } from '../support/raw-request.ts'
import { startProcess } from '../support/service.ts'

const MIB = 1_048_576
const [CONNECTIONS, REQUESTS] = [100, 2300]
const skip = process.platform === 'linux' ? false : 'reads /proc'

test('many connections that send many requests at once take no more memory than one read of each (D35.19)', {
  skip,
}, async t => {
  const service = await startProcess(t)
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => sendRaw(service.base, ['GET /none HTTP/1.1'])),
  )
  t.after(() => {
    for (const { socket } of connections) socket.destroy()
  })
  await Promise.all(connections.map(({ until }) => until(/^HTTP\/1.1 404/)))
  const start = await residentOf(service.pid)
  let most = start
  for (const { socket } of connections) socket.write('GET /none HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(REQUESTS))
  const visitor = service.visitor()
  for (let others = 0; others < 30; others++) {
    assert.equal((await visitor.get('auth/user')).status, 200)
    most = Math.max(most, await residentOf(service.pid))
  }
  const reads = CONNECTIONS * 65_536
  assert.ok(most - start <= MAX_GROWTH + reads, `grew by ${Math.round((most - start) / MIB)} MiB`)
})
