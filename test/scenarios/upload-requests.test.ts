import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { blobsOf, bucket } from '../support/blobs.ts'
import { assertRefused } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { type RawRequest, sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, newUser, type Service, startInProcess, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { base64, createUpload, giveUp, headOf, newUpload, PIECE, sendBytes } from '../support/tus.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const anna = await newUser(service, admin)
const context = await newContext(admin, [anna.id])

const fileOf = async (entry: string): Promise<Buffer> => (await admin.get(`${context}/resource/${entry}`)).bytes

/** A request with bytes from the offset 0 on, which the service has begun to receive. */
async function beginPatch(visitor: Visitor, path: string, length: number): Promise<RawRequest> {
  const request = await sendRaw(visitor.base, [
    `PATCH /${path} HTTP/1.1`,
    `Cookie: auth_token=${visitor.cookie}`,
    'Tus-Resumable: 1.0.0',
    'Content-Type: application/offset+octet-stream',
    'Upload-Offset: 0',
    `Content-Length: ${length}`,
    'Expect: 100-continue',
  ])
  await request.until(/^HTTP\/1.1 100 /)
  return request
}

/** Sends these bytes, and waits until some have come. */
async function sendSome({ folder }: Service, { socket }: RawRequest, bytes: Buffer): Promise<void> {
  const before = (await blobsOf({ folder })).incoming.length
  socket.write(bytes)
  if (bucket === undefined)
    await eventually('some bytes have come', async () => (await blobsOf({ folder })).incoming.length > before)
}

test('only a request that may go on with an upload ends one that is being received (D42.4)', async () => {
  const stranger = await newUser(service, admin)
  const path = await newUpload(anna.visitor, `${context}/${await newEntry(anna.visitor, context)}`, 10)
  const request = await beginPatch(anna.visitor, path, 10)
  assertRefused(await sendBytes(service.visitor(), path, 0, Buffer.alloc(10)), 401, 'not-signed-in')
  for (const visitor of [stranger.visitor, admin]) {
    assert.ok([403, 404].includes((await sendBytes(visitor, path, 0, Buffer.alloc(10))).status))
    assert.ok([403, 404].includes((await headOf(visitor, path)).status))
  }
  assertRefused(await giveUp(stranger.visitor, path), 404, 'not-found')
  assertRefused(await sendBytes(anna.visitor, path, 5, Buffer.alloc(5)), 409, 'upload-offset')
  assertRefused(await sendBytes(anna.visitor, path, 0, Buffer.alloc(11)), 413, 'upload-too-long')
  request.socket.write(Buffer.alloc(10))
  await request.until(/HTTP\/1.1 204 /)
  request.socket.destroy()
})

test('nothing of a request with more bytes than declared is kept (D42.4)', async () => {
  const entry = await newEntry(anna.visitor, context)
  await putFile(anna.visitor, `${context}/resource/${entry}`, 'old')
  const path = await newUpload(anna.visitor, `${context}/${entry}`, 5)
  for (const body of [Buffer.from('new and more'), Readable.from([Buffer.from('new a'), Buffer.from('nd more')])]) {
    assertRefused(await sendBytes(anna.visitor, path, 0, body), 413, 'upload-too-long')
    assert.equal((await headOf(anna.visitor, path)).headers['upload-offset'], '0')
    assert.equal((await fileOf(entry)).toString(), 'old')
  }
  assert.equal((await sendBytes(anna.visitor, path, 0, 'right')).status, 204)
  assert.equal((await fileOf(entry)).toString(), 'right')
})

test('a creation whose bytes are refused leaves no upload, but the entry, and nothing reserved (D42.4)', async () => {
  const own = await newContext(admin, [anna.id])
  const entry = await newEntry(anna.visitor, own)
  const { length } = (await anna.visitor.get('auth/uploads')).json<{ items: unknown[] }>().items
  assert.equal((await admin.put(`${own}/quota`, { quota: 10 })).status, 200)
  const other = base64(createHash('sha256').update('other').digest())
  const refusals = [
    { body: 'eleven byte', status: 413 },
    { body: 'too short', 'upload-checksum': `sha256 ${other}`, status: 460 },
    { body: 'ten bytes!', 'upload-metadata': 'newentry', 'upload-checksum': `sha256 ${other}`, status: 460 },
  ]
  for (const { status, ...request } of refusals) {
    const answer = await createUpload(anna.visitor, `${own}/${entry}`, { ...PIECE, 'upload-length': '10', ...request })
    assert.equal(answer.status, status, answer.text)
    assert.equal((await anna.visitor.get('auth/uploads')).json<{ items: unknown[] }>().items.length, length)
  }
  assert.equal((await createUpload(anna.visitor, `${own}/${entry}`, { 'upload-length': '10' })).status, 201)
})

test('a client that asks for the offset beside its dead request goes on from there (D42.2)', async () => {
  const entry = await newEntry(anna.visitor, context)
  const bytes = randomBytes(500_000)
  const path = await newUpload(anna.visitor, `${context}/${entry}`, bytes.length)
  const dead = await beginPatch(anna.visitor, path, bytes.length)
  await sendSome(service, dead, bytes.subarray(0, 200_000))
  const offset = Number((await headOf(anna.visitor, path)).headers['upload-offset'])
  if (bucket === undefined) assert.ok(offset > 0, 'what has come is kept')
  assert.equal((await sendBytes(anna.visitor, path, offset, bytes.subarray(offset))).status, 204)
  assert.ok((await fileOf(entry)).equals(bytes))
  await dead.until(/HTTP\/1.1 409 /)
  dead.socket.destroy()
})

test('of requests with bytes at the same time one wins (D42.4)', async () => {
  for (let round = 0; round < 10; round++) {
    const entry = await newEntry(anna.visitor, context)
    const path = await newUpload(anna.visitor, `${context}/${entry}`, 100_000)
    const bodies = Array.from({ length: 3 }, () => randomBytes(100_000))
    const answers = await Promise.all(bodies.map(body => sendBytes(anna.visitor, path, 0, body)))
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [204, 409, 409],
    )
    assert.ok((await fileOf(entry)).equals(bodies[statuses.indexOf(204)] ?? Buffer.alloc(0)))
  }
})

test('what has come of a request is kept when the service stops (D42.2)', async t => {
  const folder = await temporaryFolder()
  const first = await startProcess(t, { folder })
  const visitor = await first.admin()
  const own = await newContext(visitor)
  const bytes = randomBytes(2_000_000)
  const entry = await newEntry(visitor, own)
  const path = await newUpload(visitor, `${own}/${entry}`, bytes.length)
  const request = await beginPatch(visitor, path, bytes.length)
  await sendSome(first, request, bytes.subarray(0, 1_000_000))
  const stopped = first.stop('SIGTERM')
  await request.until(/HTTP\/1.1 503 /)
  assert.equal(await stopped, 0)

  const again = await (await startProcess(t, { folder })).admin()
  const offset = Number((await headOf(again, path)).headers['upload-offset'])
  if (bucket === undefined) assert.ok(offset > 0, 'what has come is kept')
  assert.equal((await sendBytes(again, path, offset, bytes.subarray(offset))).status, 204)
  assert.ok((await again.get(`${own}/resource/${entry}`)).bytes.equals(bytes))
})
