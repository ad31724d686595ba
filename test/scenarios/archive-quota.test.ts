import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { archiveOf, exportOf, importInto, membersOf } from '../support/archives.ts'
import { assertRefused, type QuotaJson } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, startInProcess, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { onPostgres } from '../support/store.ts'
import { blobsOf } from '../support/blobs.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const quotaOn = { 'service.data.quota': 'on' }
const service = await startInProcess({ after }, { settings: quotaOn })
const admin = await service.admin()

const quotaOf = async (visitor: Visitor, context: string): Promise<QuotaJson> =>
  (await visitor.get(`${context}/quota`)).json<QuotaJson>()

/** A context with files of these sizes. */
async function withFiles(visitor: Visitor, ...sizes: number[]): Promise<string> {
  const context = await newContext(visitor)
  for (const [index, size] of sizes.entries()) {
    await newEntry(visitor, context, `?id=f${index}`)
    assert.equal((await putFile(visitor, `${context}/resource/f${index}`, Buffer.alloc(size, 'x'))).status, 201)
  }
  return context
}

test('an import fits or not by what is in the context afterwards; refused, it leaves everything as it was (D7.3, D7.4)', async () => {
  const archive = await exportOf(admin, await withFiles(admin, 600, 400))
  const target = await withFiles(admin, 300)
  await admin.put(`${target}/quota`, { quota: 999 })
  const blobs = await blobsOf(service)
  const refused = await importInto(admin, target, archive)
  assertRefused(refused, 413, 'quota-exceeded')
  assert.equal(refused.json()['quota'], 999)
  assert.deepEqual(await quotaOf(admin, target), { quota: 999, fillLevel: 300, hasDefaultQuota: false })
  assert.equal((await admin.get(`${target}/resource/f0`)).bytes.length, 300)
  assert.deepEqual(await blobsOf(service), blobs)

  await admin.put(`${target}/quota`, { quota: 1000 })
  for (let round = 0; round < 2; round++) assert.equal((await importInto(admin, target, archive)).status, 200)
  assert.deepEqual(await quotaOf(admin, target), { quota: 1000, fillLevel: 1000, hasDefaultQuota: false })
  // No room is held any more, and none is lost: exactly what was there fits in again.
  assertRefused(await putFile(admin, `${target}/resource/f0`, Buffer.alloc(601)), 413, 'quota-exceeded')
  assert.equal((await putFile(admin, `${target}/resource/f0`, Buffer.alloc(600))).status, 201)
})

test('a smaller content always fits, also into a context that is above its quota (D7.3)', async () => {
  const archive = await exportOf(admin, await withFiles(admin, 100))
  const target = await withFiles(admin, 300)
  await admin.put(`${target}/quota`, { quota: 50 })
  assert.equal((await importInto(admin, target, archive)).status, 200)
  assert.equal((await quotaOf(admin, target)).fillLevel, 100)
})

test('uploads and imports at the same time never fill a context above its quota (D7.3)', async () => {
  const archive = await exportOf(admin, await withFiles(admin, 600))
  const target = await withFiles(admin, 100)
  await newEntry(admin, target, '?id=other')
  await admin.put(`${target}/quota`, { quota: 1000 })
  const answers = await Promise.all([
    importInto(admin, target, archive),
    putFile(admin, `${target}/resource/other`, Buffer.alloc(700)),
    importInto(admin, target, archive),
    putFile(admin, `${target}/resource/f0`, Buffer.alloc(500)),
  ])
  const { fillLevel } = await quotaOf(admin, target)
  assert.ok(fillLevel <= 1000, `${fillLevel}: ${answers.map(({ status }) => status).join()}`)
  const ids = (await admin.get(target)).json<string[]>()
  const sizes = await Promise.all(ids.map(async id => (await admin.get(`${target}/resource/${id}`)).bytes.length))
  assert.equal(
    fillLevel,
    sizes.reduce((sum, size) => sum + size, 0),
  )
})

test('an import that takes a context to a threshold of its quota is reported like an upload', async () => {
  const archive = await exportOf(admin, await withFiles(admin, 900))
  const target = await withFiles(admin, 10)
  await admin.put(`${target}/quota`, { quota: 1000 })
  assert.equal((await importInto(admin, target, archive)).status, 200)
  const { events } = (await admin.get('management/audit?limit=5')).json<{ events: Array<Record<string, unknown>> }>()
  assert.deepEqual(events.find(({ event }) => event === 'quota-threshold')?.['detail'], {
    context: target,
    percent: 90,
    quota: 1000,
    fillLevel: 900,
  })
})

test('a file over the largest size is 413 in an archive as well (D7.6)', async t => {
  const archive = await exportOf(admin, await withFiles(admin, 5, 101))
  const small = await startInProcess(t, { settings: { 'service.data.max-file-size': '100' } })
  const smallAdmin = await small.admin()
  const target = await newContext(smallAdmin)
  assertRefused(await importInto(smallAdmin, target, archive), 413, 'file-too-large')
  assert.deepEqual((await smallAdmin.get(target)).json(), [])
  assert.deepEqual(await blobsOf(small), { stored: [], incoming: [] })
})

test('a file that is larger than its directory entry is refused, not truncated', async () => {
  const archive = await exportOf(admin, await withFiles(admin, 50))
  const members = await membersOf(archive)
  const larger = await archiveOf(
    members.map(one => (one.name === 'files/f0' ? { ...one, bytes: Buffer.alloc(90) } : one)),
  )
  // The directory claims 50 where 90 bytes are.
  const at = larger.lastIndexOf('files/f0') - 46
  larger.writeUInt32LE(50, at + 24)
  const target = await withFiles(admin, 10)
  assertRefused(await importInto(admin, target, larger), 400, 'invalid-archive')
  assert.equal((await quotaOf(admin, target)).fillLevel, 10)
})

/** Sends the first part of an archive and stays on the line. */
async function sendHalf(visitor: Visitor, context: string, archive: Buffer) {
  const sending = request(`${visitor.base}${context}/import`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/zip',
      'content-length': archive.length,
      cookie: `auth_token=${visitor.cookie}`,
    },
  })
  sending.on('error', () => {})
  sending.write(archive.subarray(0, archive.length / 2))
  await once(sending, 'socket')
  return sending
}

test('a client that leaves in mid-import leaves nothing behind (D7.4)', async () => {
  const archive = await exportOf(admin, await withFiles(admin, 200_000))
  const target = await withFiles(admin, 10)
  const before = await blobsOf(service)
  const sending = await sendHalf(admin, target, archive)
  await eventually('it has begun', async () => (await blobsOf(service)).incoming.length === 1)
  sending.destroy()
  await eventually('nothing of it is left', async () => (await blobsOf(service)).incoming.length === 0)
  assert.deepEqual(await blobsOf(service), before)
  assert.deepEqual((await admin.get(target)).json(), ['f0'])
})

/** Where others may be at work, what a crash leaves stays until its lease has run out: postgres-nodes.test.ts. */
const withExclusiveLock = { skip: onPostgres && 'there are leases' }

test(
  'kill -9 in mid-import: the next start finds the old content, no bytes and no reservation left over (D7.5)',
  withExclusiveLock,
  async t => {
    const folder = await temporaryFolder()
    const first = await startProcess(t, { folder, settings: quotaOn })
    const one = await first.admin()
    const archive = await exportOf(one, await withFiles(one, 200_000))
    const target = await withFiles(one, 10)
    await sendHalf(one, target, archive)
    await eventually('it has begun', async () => (await blobsOf(first)).incoming.length === 1)
    await first.stop('SIGKILL')

    const second = await startProcess(t, { folder, settings: quotaOn })
    const two = await second.admin()
    assert.deepEqual((await two.get(target)).json(), ['f0'])
    await eventually('nothing of it is left', async () => (await blobsOf(second)).incoming.length === 0)
    assert.equal((await blobsOf(second)).stored.length, 2)
    await two.put(`${target}/quota`, { quota: 20 })
    assert.equal((await putFile(two, `${target}/resource/f0`, Buffer.alloc(20))).status, 201)
  },
)

test('an export that the client stops reading is ended, and nothing stays open', async () => {
  const context = await withFiles(admin, 5_000_000)
  const asking = request(`${admin.base}${context}/export`, {
    agent: false,
    headers: { cookie: `auth_token=${admin.cookie}` },
  })
  asking.on('error', () => {})
  asking.end()
  const [response] = (await once(asking, 'response')) as [Readable]
  await once(response, 'readable')
  asking.destroy()
  // The files can still be replaced and the context go; and another export is whole.
  assert.equal((await membersOf(await exportOf(admin, context))).length, 6)
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
})
