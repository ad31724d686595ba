import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { newContext, newEntry, startProcess } from '../support/service.ts'

const MIB = 1_048_576
const GIGABYTE = 1024

/** Resident memory of a process in bytes; Linux only. */
async function residentOf(pid: number): Promise<number> {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

const skip = process.platform === 'linux' ? false : 'reads /proc'

test('memory stays within 64 MiB of its start while 1 GiB is uploaded', { skip }, async t => {
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
  assert.ok(most - start <= 64 * MIB, `grew by ${Math.round((most - start) / MIB)} MiB`)
})
