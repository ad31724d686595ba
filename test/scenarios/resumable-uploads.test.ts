import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { blobsOf } from '../support/blobs.ts'
import { assertRefused } from '../support/content.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { openDatabaseOf } from '../support/store.ts'
import { base64, PIECE, TUS } from '../support/tus.ts'
import { uploadWith } from '../support/tus-client.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const settings = { 'service.data.quota': 'on' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const user = await newUser(service, admin)
const context = await newContext(admin, [user.id])

const quotas = async (): Promise<unknown[]> =>
  (await user.visitor.get(`quota?context=${context}`))
    .json<{ items: Array<{ owner: { kind: string }; fillLevel: number; files: number }> }>()
    .items.map(({ owner, fillLevel, files }) => [owner.kind, fillLevel, files])

async function create(
  entry: string,
  length: number,
  headers: Record<string, string> = {},
  visitor: Visitor = user.visitor,
): Promise<string> {
  const answer = await visitor.ask(`${context}/uploads/${entry}`, {
    method: 'POST',
    headers: { ...TUS, 'upload-length': String(length), ...headers },
  })
  assert.equal(answer.status, 201, answer.text)
  return String(answer.headers['location']).slice(visitor.base.length)
}

const send = (path: string, offset: number, body: Buffer, headers: Record<string, string> = {}): Promise<Answer> =>
  user.visitor.ask(path, { method: 'PATCH', body, headers: { ...PIECE, 'upload-offset': String(offset), ...headers } })

async function offsetOf(path: string, visitor: Visitor = user.visitor): Promise<number> {
  const answer = await visitor.ask(path, { method: 'HEAD', headers: TUS })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['cache-control'], 'no-store')
  return Number(answer.headers['upload-offset'])
}

test('the published client uploads in pieces, and the file has its name, type, digest and place in the quotas (D42.1)', async () => {
  const entry = await newEntry(user.visitor, context)
  const bytes = randomBytes(1_000_000)
  await uploadWith(service, { visitor: user.visitor, entry: `${context}/${entry}` }, bytes, { chunkSize: 300_000 })
  const file = await user.visitor.get(`${context}/resource/${entry}?download`)
  assert.ok(file.bytes.equals(bytes))
  assert.match(String(file.headers['content-type']), /^text\/plain/)
  assert.match(String(file.headers['content-disposition']), /filename\*=UTF-8''Gr%C3%BC%C3%9Fe\.txt/)
  const { sha256 } = (await user.visitor.get(`${context}/entry/${entry}?includeAll`)).json<{ sha256?: string }>()
  if (sha256 !== undefined) assert.equal(sha256, createHash('sha256').update(bytes).digest('hex'))
  assert.deepEqual(await quotas(), [
    ['context', 1_000_000, 1],
    ['user', 1_000_000, 1],
  ]) // prettier-ignore
  assert.equal((await user.visitor.delete(`${context}/resource/${entry}`)).status, 204)
})

test('with parallel uploads the published client makes one file of its parts (D42.3)', async () => {
  const entry = await newEntry(user.visitor, context)
  const bytes = randomBytes(700_001)
  await uploadWith(service, { visitor: user.visitor, entry: `${context}/${entry}` }, bytes, {
    parallelUploads: 3,
    chunkSize: 100_000,
  })
  assert.ok((await user.visitor.get(`${context}/resource/${entry}`)).bytes.equals(bytes))
  assert.deepEqual(await quotas(), [
    ['context', 700_001, 1],
    ['user', 700_001, 1],
  ]) // prettier-ignore
  assert.deepEqual((await blobsOf(service)).incoming, [])
  assert.equal((await user.visitor.delete(`${context}/resource/${entry}`)).status, 204)
})

test('an upload that breaks off goes on where it stopped, in another session; until then the old file is there (D42.2)', async () => {
  const entry = await newEntry(user.visitor, context)
  await putFile(user.visitor, `${context}/resource/${entry}`, 'old')
  const bytes = randomBytes(500_000)
  const path = await create(entry, bytes.length)
  const head = [
    `PATCH /${path} HTTP/1.1`,
    `Cookie: auth_token=${user.visitor.cookie}`,
    'Tus-Resumable: 1.0.0',
    'Content-Type: application/offset+octet-stream',
    'Upload-Offset: 0',
    `Content-Length: ${bytes.length}`,
  ]
  const broken = await sendRaw(service.base, head, bytes.subarray(0, 200_000))
  await eventually('the bytes arrive', async () => (await blobsOf(service)).incoming.length === 1)
  broken.socket.destroy()
  await eventually('what arrived is recorded', async () => (await offsetOf(path)) > 0)
  const again = service.visitor()
  assert.equal((await again.signIn(user.name, user.password)).status, 200)
  const offset = await offsetOf(path, again)
  const listed = (await again.get('auth/uploads')).json<{ items: Array<{ uri: string; received: number }> }>().items
  assert.deepEqual(
    listed.map(({ uri, received }) => [uri, received]),
    [[`${service.base}${path}`, offset]],
  ) // prettier-ignore
  assert.equal((await user.visitor.get(`${context}/resource/${entry}`)).text, 'old')
  const rest = await again.ask(path, {
    method: 'PATCH',
    body: bytes.subarray(offset),
    headers: { ...PIECE, 'upload-offset': String(offset) },
  })
  assert.deepEqual([rest.status, rest.headers['upload-offset']], [204, String(bytes.length)])
  assert.equal(rest.headers['upload-expires'], undefined, 'nothing expires any more')
  assert.ok((await user.visitor.get(`${context}/resource/${entry}`)).bytes.equals(bytes))
  assert.equal(await offsetOf(path), bytes.length, 'a client whose last response was lost learns that all is there')
  assert.equal((await send(path, bytes.length, Buffer.alloc(0))).status, 204)
  assert.deepEqual((await again.get('auth/uploads')).json<{ items: unknown[] }>().items, [])
  assert.equal((await user.visitor.delete(`${context}/resource/${entry}`)).status, 204)
})

test('storage is reserved for the whole length, and returned to the byte when the upload is given up (D42.2)', async t => {
  t.after(() => admin.delete(`quota/users/${user.id}`))
  const entry = await newEntry(user.visitor, context)
  const { fillLevel } = (await admin.get(`quota/users/${user.id}`)).json<{ fillLevel: number }>()
  assert.equal((await admin.put(`quota/users/${user.id}`, { quota: fillLevel + 1000 })).status, 200)
  const path = await create(entry, 900)
  const refused = await user.visitor.ask(`${context}/uploads/${entry}`, {
    method: 'POST',
    headers: { ...TUS, 'upload-length': '101' },
  })
  assertRefused(refused, 413, 'quota-exceeded')
  assert.equal((await send(path, 0, Buffer.alloc(400))).status, 204)
  assert.equal((await user.visitor.ask(path, { method: 'DELETE', headers: TUS })).status, 204)
  assertRefused(await user.visitor.ask(path, { method: 'DELETE', headers: TUS }), 404, 'not-found')
  assert.deepEqual((await blobsOf(service)).incoming, [])
  const next = await create(entry, 1000)
  // The time of an upload is that of the database, which has a clock of its own on PostgreSQL.
  const database = await openDatabaseOf(service.folder)
  t.after(() => database.close())
  await database.run(sql`UPDATE resumable_uploads SET expires = expires - 86400001`)
  assertRefused(await send(next, 0, Buffer.from('x')), 410, 'upload-expired')
})

test('wrong offsets, checksums, lengths, versions and types are refused by name, and store nothing (D42.4)', async () => {
  const entry = await newEntry(user.visitor, context)
  const bytes = randomBytes(100)
  const path = await create(entry, 100)
  assertRefused(await send(path, 5, bytes), 409, 'upload-offset')
  const wrong = { 'upload-checksum': `sha256 ${base64(createHash('sha256').update('other').digest())}` }
  assertRefused(await send(path, 0, bytes, wrong), 460, 'upload-checksum')
  assert.equal(await offsetOf(path), 0)
  for (const headers of [{ 'upload-checksum': 'md5 x' }, { 'upload-offset': '-1' }, { 'upload-offset': 'x' }])
    assertRefused(await send(path, 0, bytes, headers), 400, 'invalid-value')
  assertRefused(await send(path, 0, randomBytes(101)), 413, 'upload-too-long')
  assertRefused(await send(path, await offsetOf(path), bytes, { 'tus-resumable': '0.2.2' }), 412, 'tus-version')
  assertRefused(
    await send(path, await offsetOf(path), bytes, { 'content-type': 'text/plain' }),
    415,
    'unsupported-type',
  )
  for (const headers of [
    {},
    { 'upload-length': 'x' },
    { 'upload-length': '5', 'upload-concat': 'some' },
    { 'upload-length': '5', 'upload-metadata': `filetype ${base64('no type')}` },
  ]) {
    const answer = await user.visitor.ask(`${context}/uploads/${entry}`, {
      method: 'POST',
      headers: { ...TUS, ...headers },
    })
    assertRefused(answer, 400, 'invalid-value')
  }
  const good = await create(entry, 100)
  const right = { 'upload-checksum': `sha1 ${base64(createHash('sha1').update(bytes).digest())}` }
  assert.equal((await send(good, 0, bytes, right)).status, 204)
  assert.ok((await user.visitor.get(`${context}/resource/${entry}`)).bytes.equals(bytes))
})

test('creation may bring the first bytes, or all of them; an empty file is complete at once (D42.1)', async () => {
  for (const [length, body] of [
    [6, 'abcdef'],
    [6, 'abc'],
    [0, ''],
  ] as const) {
    const entry = await newEntry(user.visitor, context)
    const answer = await user.visitor.ask(`${context}/uploads/${entry}`, {
      method: 'POST',
      body,
      headers: { ...PIECE, 'upload-length': String(length) },
    })
    assert.deepEqual([answer.status, answer.headers['upload-offset']], [201, String(body.length)], answer.text)
    const path = String(answer.headers['location']).slice(service.base.length)
    if (body.length < length) assert.equal((await send(path, 3, Buffer.from('def'))).status, 204)
    assert.equal((await user.visitor.get(`${context}/resource/${entry}`)).text, 'abcdef'.slice(0, length))
  }
})

test('an entry that was created for an upload goes with it, if its user could delete it (D42.5)', async () => {
  const newentry = { 'upload-metadata': `filename ${base64('a.txt')},newentry` }
  const exists = async (entry: string): Promise<number> => (await admin.get(`${context}/entry/${entry}`)).status
  const giveUp = async (path: string): Promise<void> => {
    assert.equal((await user.visitor.ask(path, { method: 'DELETE', headers: TUS })).status, 204)
  }
  const list = await newEntry(user.visitor, context, '?graphtype=list')
  const entry = await newEntry(
    user.visitor,
    context,
    `?list=${encodeURIComponent(`${service.base}${context}/entry/${list}`)}`,
  )
  await giveUp(await create(entry, 10))
  assert.equal(await exists(entry), 200, 'another client may have use for it')
  await giveUp(await create(entry, 10, newentry))
  assert.equal(await exists(entry), 404)
  assert.deepEqual((await user.visitor.get(`${context}/resource/${list}`)).json(), [])

  const filled = await newEntry(user.visitor, context)
  const late = await create(filled, 10, newentry)
  await putFile(user.visitor, `${context}/resource/${filled}`, 'bytes')
  await giveUp(late)
  assert.equal((await user.visitor.get(`${context}/resource/${filled}`)).text, 'bytes')

  const other = await newUser(service, admin)
  const foreign = await newEntry(admin, context)
  const write = [{ type: 'uri', value: `${service.base}_principals/resource/${other.id}` }]
  const info = { [`${service.base}${context}/resource/${foreign}`]: { 'http://entrystore.org/terms/write': write } }
  assert.equal((await admin.put(`${context}/entry/${foreign}`, info)).status, 204)
  const path = await create(foreign, 10, newentry, other.visitor)
  assert.equal((await other.visitor.ask(path, { method: 'DELETE', headers: TUS })).status, 204)
  assert.equal(await exists(foreign), 200, 'only the resource is theirs')
})

test('an upload belongs to its user, and needs the right to write at each step (D42.2)', async () => {
  const other = await newUser(service, admin)
  const entry = await newEntry(admin, context)
  const path = await create(entry, 10)
  assertRefused(await service.visitor().ask(path, { method: 'GET' }), 401, 'not-signed-in')
  assertRefused(await other.visitor.ask(path, { method: 'GET' }), 403, 'not-allowed')
  assertRefused(await admin.ask(path, { method: 'GET' }), 404, 'not-found')
  assert.equal((await send(path, 0, Buffer.alloc(9))).status, 204)
  const info = { [`${service.base}_contexts/entry/${context}`]: {} }
  assert.equal((await admin.put(`_contexts/entry/${context}`, info)).status, 204)
  assertRefused(await send(path, 9, Buffer.alloc(1)), 403, 'not-allowed')
  assert.equal((await admin.get(`${context}/resource/${entry}`)).status, 204, 'no file')
})

test('a token that opens some contexts lists no uploads into others (D42.2, D24.4)', async () => {
  const [open, closed] = [await newContext(admin, [user.id]), await newContext(admin, [user.id])]
  for (const place of [open, closed]) {
    const headers = { ...TUS, 'upload-length': '10' }
    const entry = await newEntry(user.visitor, place)
    const answer = await user.visitor.ask(`${place}/uploads/${entry}`, { method: 'POST', headers })
    assert.equal(answer.status, 201, answer.text)
  }
  const expires = new Date(service.system.now() + 3_600_000).toISOString()
  const token = { name: 'one', expires, scopes: ['read'], contexts: [open] }
  const made = await user.visitor.post('auth/access-tokens', token)
  assert.equal(made.status, 201, made.text)
  const authorization = `Bearer ${made.json<{ token: string }>().token}`
  const listed = await service.visitor().ask('auth/uploads', { method: 'GET', headers: { authorization } })
  const items = listed.json<{ items: Array<{ context: string }> }>().items
  assert.deepEqual(
    items.map(({ context: place }) => place),
    [open],
  ) // prettier-ignore
})

test('OPTIONS tells what the server can do (D42.1)', async () => {
  const answer = await service.visitor().ask(`${context}/uploads/1`, { method: 'OPTIONS' })
  assert.equal(answer.status, 204)
  assert.equal(answer.headers['tus-version'], '1.0.0')
  assert.equal(
    answer.headers['tus-extension'],
    'creation,creation-with-upload,expiration,termination,checksum,concatenation',
  )
  assert.equal(answer.headers['tus-checksum-algorithm'], 'sha1,sha256')
})
