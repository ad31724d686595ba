import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { MAX_GROWTH, residentOf } from '../support/memory.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'

const MIB = 1_048_576
const GIGABYTE = 1024
const skip = process.platform === 'linux' ? false : 'reads /proc'

test('memory stays within 96 MiB of its start, with a bucket somewhat more, while 1 GiB is uploaded', {
  skip,
}, async t => {
  const service = await startProcess(t)
  const admin = await service.admin()
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const start = await residentOf(service.pid)
  let most = start
  const block = Buffer.alloc(MIB, 'x')
  const body = Readable.from(
    (async function* () {
      for (let sent = 0; sent < GIGABYTE; sent++) {
        yield block
        if (sent % 16 === 0) most = Math.max(most, await residentOf(service.pid))
      }
    })(),
    { objectMode: false },
  )
  const stored = await admin.ask(`${context}/resource/${entry}`, { method: 'PUT', body })
  assert.equal(stored.json<{ size: number }>().size, GIGABYTE * MIB)
  assert.ok(most - start <= MAX_GROWTH, `grew by ${Math.round((most - start) / MIB)} MiB`)
})
