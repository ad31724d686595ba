import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { MAX_GROWTH, residentOf } from '../support/memory.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'

const MIB = 1_048_576
const skip = process.platform === 'linux' ? false : 'reads /proc'

async function startUpload(t: Parameters<typeof startProcess>[0]) {
  const service = await startProcess(t)
  const admin = await service.admin()
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const start = await residentOf(service.pid)
  let most = start
  const block = Buffer.alloc(MIB, 'x')
  const bodyOf = (mebibytes: number): Readable =>
    Readable.from(
      (async function* () {
        for (let sent = 0; sent < mebibytes; sent++) {
          yield block
          if (sent % 16 === 0) most = Math.max(most, await residentOf(service.pid))
        }
      })(),
      { objectMode: false },
    )
  const assertSmall = (): void =>
    assert.ok(most - start <= MAX_GROWTH, `grew by ${Math.round((most - start) / MIB)} MiB`)
  return { service, admin, context, entry, bodyOf, assertSmall }
}

test('memory stays within 96 MiB of its start, with a bucket somewhat more, while 1 GiB is uploaded', {
  skip,
}, async t => {
  const { admin, context, entry, bodyOf, assertSmall } = await startUpload(t)
  const stored = await admin.ask(`${context}/resource/${entry}`, { method: 'PUT', body: bodyOf(1024) })
  assert.equal(stored.json<{ size: number }>().size, 1024 * MIB)
  assertSmall()
})

test('memory stays within the same while 512 MiB come in one request of a resumable upload', { skip }, async t => {
  const { service, admin, context, entry, bodyOf, assertSmall } = await startUpload(t)
  const version = { 'tus-resumable': '1.0.0' }
  const length = { 'upload-length': String(512 * MIB) }
  const begun = await admin.ask(`${context}/uploads/${entry}`, { method: 'POST', headers: { ...version, ...length } })
  const stored = await admin.ask(String(begun.headers['location']).slice(service.base.length), {
    method: 'PATCH',
    headers: { ...version, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    body: bodyOf(512),
  })
  assert.equal(stored.status, 204, stored.text)
  assertSmall()
})
