import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { MAX_GROWTH, residentOf } from '../support/memory.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'

const MIB = 1_048_576
const SIZE = 160

const skip = process.platform === 'linux' ? false : 'reads /proc'

test('memory stays within 96 MiB of its start while 160 MiB are exported and imported', {
  skip,
}, async t => {
  const service = await startProcess(t)
  const admin = await service.admin()
  const [from, to] = [await newContext(admin), await newContext(admin)]
  const entry = await newEntry(admin, from)
  const block = Buffer.alloc(MIB, 'x')
  const body = Readable.from(Array<Buffer>(SIZE).fill(block), { objectMode: false })
  assert.equal((await admin.ask(`${from}/resource/${entry}`, { method: 'PUT', body })).status, 201)

  const start = await residentOf(service.pid)
  let most = start
  const headers = { cookie: `auth_token=${admin.cookie}` }
  const exporting = request(`${admin.base}${from}/export`, { agent: false, headers }).end()
  const [archive] = (await once(exporting, 'response')) as [IncomingMessage]
  const watched = Readable.from(
    (async function* () {
      let count = 0
      for await (const chunk of archive) {
        if (count++ % 256 === 0) most = Math.max(most, await residentOf(service.pid))
        yield chunk as Buffer
      }
    })(),
    { objectMode: false },
  )
  const type = { 'content-type': 'application/zip' }
  const imported = await admin.ask(`${to}/import`, { method: 'POST', body: watched, headers: type })
  assert.deepEqual(imported.json(), { entries: 1, files: 1, bytes: SIZE * MIB })
  most = Math.max(most, await residentOf(service.pid))
  assert.ok(most - start <= MAX_GROWTH, `grew by ${Math.round((most - start) / MIB)} MiB`)
})

test('an export of thirty revisions of 6 MB takes about as much memory as one of eight (D35.1)', { skip }, async t => {
  const service = await startProcess(t, { settings: { 'service.repository.provenance': 'on' } })
  const admin = await service.admin()
  const revised = async (revisions: number): Promise<string> => {
    const context = await newContext(admin)
    const entry = await newEntry(admin, context)
    for (let n = 0; n < revisions; n++) {
      const value = `${n}${'y'.repeat(6_000_000)}`
      const graph = { 'urn:a': { 'urn:p': [{ type: 'literal', value }] } }
      assert.equal((await admin.put(`${context}/metadata/${entry}`, graph)).status, 204)
    }
    return context
  }
  const mostWhileExporting = async (context: string): Promise<number> => {
    let most = 0
    const headers = { cookie: `auth_token=${admin.cookie}` }
    const exporting = request(`${admin.base}${context}/export`, { agent: false, headers }).end()
    const [archive] = (await once(exporting, 'response')) as [IncomingMessage]
    let size = 0
    for await (const chunk of archive) {
      size += (chunk as Buffer).length
      most = Math.max(most, await residentOf(service.pid))
    }
    assert.ok(archive.complete && size > 1000, `${size} bytes`)
    return most
  }
  const [many, eight] = [await revised(30), await revised(8)]
  const ofEight = await mostWhileExporting(eight)
  const ofMany = await mostWhileExporting(many)
  assert.ok(ofMany - ofEight <= MAX_GROWTH, `${Math.round((ofMany - ofEight) / MIB)} MiB more`)
})
