import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { assertRefused, readEntry } from '../support/content.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putChunked, putFile, putForm } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const LIMIT = 100_000
const service = await startInProcess({ after }, { settings: { 'service.data.max-file-size': String(LIMIT) } })
const admin = await service.admin()
const context = await newContext(admin)
const newPlace = async (): Promise<{ id: string; path: string }> => {
  const id = await newEntry(admin, context)
  return { id, path: `${context}/resource/${id}` }
}
const head = (path: string, ...headers: string[]): string[] => [
  `PUT ${new URL(admin.base + path).pathname} HTTP/1.1`,
  `Cookie: auth_token=${admin.cookie}`,
  'Content-Type: text/plain',
  ...headers,
]
const nothingComesIn = async (): Promise<boolean> => (await blobsOf(service)).incoming.length === 0

test('a file of exactly the limit is stored, one byte more is not, however it comes (D7.4, D7.6)', async () => {
  const { id, path } = await newPlace()
  const [max, more] = ['x'.repeat(LIMIT), 'x'.repeat(LIMIT + 1)]
  const form = (content: string) =>
    putForm(admin, path, [
      { name: 'n', content: 'text' },
      { name: '0', fileName: 'a', content },
    ])
  for (const put of [
    (text: string) => putFile(admin, path, text),
    (text: string) => putChunked(admin, path, [text]),
    form,
  ]) {
    assert.equal((await put(max)).status, 201)
    const before = await readEntry(admin, context, id)
    service.system.pass(2000)
    const refused = await put(more)
    assertRefused(refused, 413, 'file-too-large')
    assert.equal(refused.json()['limit'], LIMIT)
    assert.deepEqual(await readEntry(admin, context, id), before)
    assert.equal((await admin.get(path)).bytes.length, LIMIT)
    assert.ok(await nothingComesIn())
  }
})

test('a client that asks first is refused before it sends a byte (D7.4)', async () => {
  const { path } = await newPlace()
  const request = await sendRaw(admin.base, head(path, 'Expect: 100-continue', `Content-Length: ${LIMIT + 1}`))
  await request.until(/"code":"file-too-large"/)
  assert.match(request.received(), /^HTTP\/1\.1 413 /)
  assert.doesNotMatch(request.received(), /100 Continue/)
  request.socket.destroy()
})

test('a guest who sends Expect is refused before the first byte as well (D1.5)', async () => {
  const { path } = await newPlace()
  const lines = head(path, 'Expect: 100-continue', 'Content-Length: 5').filter(line => !line.startsWith('Cookie'))
  const request = await sendRaw(admin.base, lines)
  await request.until(/"code":"not-signed-in"/)
  assert.doesNotMatch(request.received(), /100 Continue/)
  request.socket.destroy()
})

test('a permitted client that sends Expect gets 100 Continue (D7.4)', async () => {
  const { path } = await newPlace()
  const request = await sendRaw(
    admin.base,
    head(path, 'Expect: 100-continue', 'Content-Length: 5', 'Connection: close'),
  )
  await request.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
  request.socket.write('hello')
  await request.closed
  assert.match(request.received(), /HTTP\/1\.1 201 /)
  assert.equal((await admin.get(path)).text, 'hello')
})

test('an endless chunked body is stopped at the limit, not read to its end (D7.4)', async () => {
  const { path } = await newPlace()
  let sent = 0
  const answered = new AbortController()
  const endless = Readable.from(
    (function* () {
      while (!answered.signal.aborted) {
        sent += 65_536
        yield Buffer.alloc(65_536)
      }
    })(),
  )
  const answer = await admin
    .ask(path, { method: 'PUT', body: endless, headers: { 'content-type': 'text/plain' } })
    .catch((error: unknown) => error as Error)
  answered.abort()
  if (!(answer instanceof Error)) assertRefused(answer, 413, 'file-too-large')
  assert.ok(sent < 64 * 2 ** 20, `${sent} bytes were taken`)
  assert.equal((await admin.get(path)).status, 204)
  await eventually('nothing of it is left', nothingComesIn)
})

for (const framing of ['Content-Length: 99999999999', 'Transfer-Encoding: chunked']) {
  test(`a client that keeps sending after its upload was refused is disconnected soon: ${framing} (D7.4)`, async () => {
    const { path } = await newPlace()
    const { socket, closed } = await sendRaw(admin.base, head(path, framing))
    const piece = Buffer.alloc(65_536)
    const pieces = framing.includes('chunked') ? [Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')] : [piece]
    while (!socket.destroyed && socket.bytesWritten < 200 * 2 ** 20) {
      for (const bytes of pieces) socket.write(bytes)
      if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
    }
    assert.ok(socket.bytesWritten < 64 * 2 ** 20, `${socket.bytesWritten} bytes were taken`)
  })
}

for (const framing of ['Content-Length: 50000', 'Transfer-Encoding: chunked']) {
  test(`a client that leaves in mid-upload leaves the old file as it was: ${framing} (D7.4)`, async () => {
    const { id, path } = await newPlace()
    await putFile(admin, path, 'before')
    const before = await readEntry(admin, context, id)
    const { headers } = await admin.get(path)
    const request = await sendRaw(
      admin.base,
      head(path, framing),
      framing.includes('chunked') ? `4000\r\n${'x'.repeat(0x4000)}\r\n` : 'x'.repeat(20_000),
    )
    await eventually('the upload has begun', async () => !(await nothingComesIn()))
    request.socket.destroy()
    await eventually('nothing of it is left', nothingComesIn)
    const got = await admin.get(path)
    assert.equal(got.text, 'before')
    for (const name of ['etag', 'digest', 'last-modified']) assert.equal(got.headers[name], headers[name], name)
    assert.deepEqual(await readEntry(admin, context, id), before)
  })
}

test('a body that stops, of a file or of metadata, is 408, and nothing of it is left (D7.4)', async t => {
  const service = await startInProcess(t, { settings: { 'service.http.body.idle-timeout': '1s' } })
  const admin = await service.admin()
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  for (const [kind, type] of [
    ['resource', 'text/plain'],
    ['metadata', 'application/json'],
  ]) {
    const request = await sendRaw(
      admin.base,
      [
        `PUT ${new URL(`${admin.base}${context}/${kind}/${id}`).pathname} HTTP/1.1`,
        `Cookie: auth_token=${admin.cookie}`,
        `Content-Type: ${type}`,
        'Content-Length: 50000',
      ],
      '{',
    )
    await request.until(/"code":"request-timeout"/)
    assert.match(request.received(), /^HTTP\/1\.1 408 /, kind)
    request.socket.destroy()
  }
  await eventually('nothing of it is left', async () => (await blobsOf(service)).incoming.length === 0)
  assert.equal((await admin.get(`${context}/resource/${id}`)).status, 204)
})

test('an entry that is deleted in mid-upload gets no file (D7.4)', async () => {
  const { id, path } = await newPlace()
  const { stored } = await blobsOf(service)
  const request = await sendRaw(admin.base, head(path, 'Content-Length: 10', 'Connection: close'), 'xxxxx')
  await eventually('the upload has begun', async () => !(await nothingComesIn()))
  assert.equal((await admin.delete(`${context}/entry/${id}`)).status, 204)
  request.socket.write('xxxxx')
  await request.closed
  assert.match(request.received(), /^HTTP\/1\.1 404 /)
  assert.deepEqual(await blobsOf(service), { stored, incoming: [] })
})

test('a declared size beyond all whole numbers is 413 before a byte is asked for, limit or not (D7.4)', async () => {
  const service = await startInProcess({ after })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  const request = await sendRaw(admin.base, [
    `PUT ${new URL(admin.base + path).pathname} HTTP/1.1`,
    `Cookie: auth_token=${admin.cookie}`,
    'Content-Length: 9007199254740993',
    'Expect: 100-continue',
  ])
  await request.until(/^HTTP\/1\.1 /)
  request.socket.destroy()
  assert.match(request.received(), /^HTTP\/1\.1 413 /)
})

test('an upload whose sender loses the right or the account meanwhile is not stored (D1.5)', async t => {
  const own = await startInProcess(t)
  const admin = await own.admin()
  for (const loseIt of ['disabled', 'no access list'] as const) {
    const { id, visitor } = await newUser(own, admin)
    const context = await newContext(admin, [id])
    const entry = await newEntry(visitor, context)
    const body = new PassThrough()
    const upload = visitor.ask(`${context}/resource/${entry}`, { method: 'PUT', body })
    body.write('first half, ')
    await eventually('the upload begins', async () => (await blobsOf(own)).incoming.length === 1)
    if (loseIt === 'disabled') await admin.put(`_principals/resource/${id}`, { disabled: true })
    else await admin.put(`_contexts/entry/${context}`, {})
    body.end('second half')
    assert.equal((await upload).status, loseIt === 'disabled' ? 401 : 403, loseIt)
    assert.equal((await admin.get(`${context}/resource/${entry}`)).status, 204, loseIt)
    assert.deepEqual(await blobsOf(own), { stored: [], incoming: [] }, loseIt)
  }
})
