import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { assertRefused, DCT, LABEL, modifiedOf, readEntry, valuesOf } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { sendRaw } from '../support/raw-request.ts'
import { multipartBody, multipartHeaders, putChunked, putFile, putForm } from '../support/uploads.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
const newPlace = async (): Promise<{ id: string; path: string }> => {
  const id = await newEntry(admin, context)
  return { id, path: `${context}/resource/${id}` }
}
const about = async (id: string, predicate: string): Promise<string[]> =>
  valuesOf(admin, await readEntry(admin, context, id), `${context}/resource/${id}`, predicate)
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

test('a raw PUT stores the bytes, their type and their size; 201 for the first and every later one (W3.8.1)', async () => {
  const { id, path } = await newPlace()
  for (const text of ['hello', 'other bytes']) {
    service.system.pass(2000)
    const answer = await putFile(admin, path, text, { 'content-type': 'image/jpg; charset=x' })
    assert.equal(answer.status, 201)
    assert.ok(answer.headers['last-modified'])
    assert.deepEqual(answer.json()['sha256'], sha256(text))
    const got = await admin.get(path, { accept: 'application/json' })
    assert.equal(got.text, text)
    assert.equal(got.headers['content-type'], 'image/jpg')
    assert.deepEqual(await about(id, `${DCT}format`), ['image/jpg'])
    assert.deepEqual(await about(id, `${DCT}extent`), [String(text.length)])
    const entry = await readEntry(admin, context, id)
    assert.deepEqual(entry.resource, { sha256: sha256(text) })
    assert.equal(Date.parse(modifiedOf(admin, context, entry)), service.system.now())
  }
})

test('chunks without a length are stored as well, none and many (W3.8.1)', async () => {
  const { path } = await newPlace()
  for (const chunks of [['a', 'bc', ''], [], Array<string>(300).fill('0123456789')]) {
    assert.equal((await putChunked(admin, path, chunks)).status, 201)
    const got = await admin.get(path)
    assert.equal(got.status, 200)
    assert.equal(got.text, chunks.join(''))
  }
})

test('Content-Length: 0 stores an empty file, no body at all is 400 and leaves the file alone (D7.6)', async () => {
  const { id, path } = await newPlace()
  const bare = async (): Promise<void> => {
    const { pathname } = new URL(admin.base + path)
    const cookie = `Cookie: auth_token=${admin.cookie}`
    const request = await sendRaw(admin.base, [`PUT ${pathname} HTTP/1.1`, cookie, 'Connection: close'])
    await request.closed
    assert.match(request.received(), /^HTTP\/1\.1 400 /)
    assert.match(request.received(), /"code":"missing-body"/)
  }
  await bare()
  assert.equal((await admin.get(path)).status, 204)
  await putFile(admin, path, 'content')
  const before = await readEntry(admin, context, id)
  await bare()
  assert.deepEqual(await readEntry(admin, context, id), before)
  assert.equal((await admin.get(path)).text, 'content')
  assert.equal((await putFile(admin, path, '')).status, 201)
  const empty = await admin.get(path)
  assert.deepEqual([empty.status, empty.text, empty.headers['content-length']], [200, '', '0'])
  assert.deepEqual(await about(id, `${DCT}extent`), ['0'])
})

test('without a type it is application/octet-stream; mimeType wins over the header; nonsense is 400 (W3.8.1)', async () => {
  const { path } = await newPlace()
  const put = (query: string, type?: string) =>
    admin.ask(path + query, { method: 'PUT', body: 'x', headers: type === undefined ? {} : { 'content-type': type } })
  const typeAfter = async (): Promise<unknown> => (await admin.get(path)).headers['content-type']
  await put('')
  assert.equal(await typeAfter(), 'application/octet-stream')
  await put('?mimeType=IMAGE%2FPNG', 'text/plain')
  assert.equal(await typeAfter(), 'image/png')
  await put('?mimeType=', 'text/plain')
  assert.equal(await typeAfter(), 'application/octet-stream')
  for (const type of ['nonsense', 'a/b%0D%0AX:y', 'a/b/c', 'a b/c'])
    assertRefused(await put(`?mimeType=${type}`, 'text/plain'), 400, 'invalid-value', type)
  assert.equal(await typeAfter(), 'application/octet-stream')
})

test('a part of a file and an encoded one are refused, and the file that was there stays (RFC 9110 14.5, 8.4)', async () => {
  const { path } = await newPlace()
  const put = (headers: Readonly<Record<string, string>>) =>
    admin.ask(path, { method: 'PUT', body: 'part', headers: { 'content-type': 'text/plain', ...headers } })
  assert.equal((await put({ 'content-encoding': 'Identity' })).status, 201)
  assertRefused(await put({ 'content-range': 'bytes 0-3/10' }), 400, 'invalid-value')
  for (const coding of ['gzip', 'aws-chunked', 'identity, br'])
    assertRefused(await put({ 'content-encoding': coding }), 415, 'unsupported-type', coding)
  assert.equal((await admin.get(path)).text, 'part')
})

test('in a form the first file counts; text before it is skipped, files after it are dropped (D7.6)', async () => {
  const { id, path } = await newPlace()
  const answer = await putForm(admin, path, [
    { name: 'note', content: 'a text field' },
    { name: '0', fileName: 'Notes ü.txt', type: 'text/plain; charset=utf-8', content: 'the file' },
    { name: '1', fileName: 'second.bin', content: 'another file' },
    { name: 'after', content: 'more text' },
  ])
  assert.equal(answer.status, 201, answer.text)
  assert.equal((await admin.get(path)).text, 'the file')
  assert.deepEqual(await about(id, LABEL), ['Notes ü.txt'])
  assert.deepEqual(await about(id, `${DCT}format`), ['text/plain'])
})

test('an empty file in a form is stored as one (D7.6)', async () => {
  const { path } = await newPlace()
  assert.equal((await putForm(admin, path, [{ name: '0', fileName: 'empty.txt', content: '' }])).status, 201)
  assert.equal((await admin.get(path)).status, 200)
})

test('a form without a file, malformed or broken off is 400, and the file that was there stays (D7.4)', async () => {
  const { id, path } = await newPlace()
  await putFile(admin, path, 'before')
  const before = await readEntry(admin, context, id)
  const file = { name: '0', fileName: 'a.txt', content: 'x'.repeat(5000) }
  const whole = multipartBody([file])
  const bodies: Readonly<Record<string, string>> = {
    'no file': multipartBody([{ name: 'a', content: 'text' }]),
    'no parts': multipartBody([]),
    nothing: '',
    'no boundary in it': 'just text',
    'cut in the file': whole.slice(0, 2000),
    'cut in the end': whole.slice(0, -4),
    'cut in the headers': whole.slice(0, 40),
    'without an end': multipartBody([file], ''),
  }
  for (const [what, body] of Object.entries(bodies)) {
    const answer = await admin.ask(path, { method: 'PUT', body, headers: multipartHeaders })
    assert.equal(answer.status, 400, `${what}: ${answer.text}`)
  }
  const noBoundary = { 'content-type': 'multipart/form-data' }
  assertRefused(await admin.ask(path, { method: 'PUT', body: whole, headers: noBoundary }), 400, 'invalid-form')
  assert.deepEqual(await readEntry(admin, context, id), before)
  assert.equal((await admin.get(path)).text, 'before')
  assert.deepEqual((await blobsOf(service)).incoming, [])
})

test('the name comes from Content-Disposition, in any of the forms of RFC 6266; the next upload without one drops it', async () => {
  const { id, path } = await newPlace()
  const names: Readonly<Record<string, string>> = {
    'attachment; filename="plain.txt"': 'plain.txt',
    'attachment; filename=token.txt': 'token.txt',
    'attachment; filename="with \\"quotes\\" in it"': 'with "quotes" in it',
    "attachment; filename*=UTF-8''%e2%82%ac%20rates.txt": '€ rates.txt',
    'attachment; filename="fallback.txt"; filename*=utf-8\'\'na%C3%AFve.txt': 'naïve.txt',
  }
  for (const [header, name] of Object.entries(names)) {
    assert.equal((await putFile(admin, path, 'x', { 'content-disposition': header })).status, 201, header)
    assert.deepEqual(await about(id, LABEL), [name], header)
  }
  await putFile(admin, path, 'x')
  assert.deepEqual(await about(id, LABEL), [])
})

test('guests and strangers neither upload nor delete, and not a byte of theirs is asked for (D1.5, D7.4)', async () => {
  const { id, path } = await newPlace()
  const { visitor } = await newUser(service, admin)
  await putFile(admin, path, 'mine')
  const before = await readEntry(admin, context, id)
  const someone = service.visitor()
  assertRefused(await putFile(someone, path, 'yours'), 401, 'not-signed-in')
  assertRefused(await putChunked(someone, path, ['yours']), 401, 'not-signed-in')
  assertRefused(await putForm(someone, path, [{ name: '0', fileName: 'a', content: 'yours' }]), 401, 'not-signed-in')
  assertRefused(await someone.delete(path), 401, 'not-signed-in')
  assertRefused(await someone.get(path), 401, 'not-signed-in')
  assertRefused(await putFile(visitor, path, 'yours'), 403, 'not-allowed')
  assertRefused(await visitor.delete(path), 403, 'not-allowed')
  assert.deepEqual(await readEntry(admin, context, id), before)
  assert.equal((await admin.get(path)).text, 'mine')
})

test('DELETE removes the file and its description in info, once (W3.8.1)', async () => {
  const { id, path } = await newPlace()
  assertRefused(await admin.delete(path), 404, 'no-file')
  await putFile(admin, path, 'x', { 'content-disposition': 'inline; filename="a.txt"' })
  const { stored } = await blobsOf(service)
  assert.equal((await admin.delete(path)).status, 204)
  assert.equal((await blobsOf(service)).stored.length, stored.length - 1)
  assert.equal((await admin.get(path)).status, 204)
  for (const predicate of [LABEL, `${DCT}format`, `${DCT}extent`]) assert.deepEqual(await about(id, predicate), [])
  assertRefused(await admin.delete(path), 404, 'no-file')
})

test('only Local entries without a graph type of their own hold files', async () => {
  const link = await newEntry(admin, context, '?entrytype=link&resource=http://ex.org/a')
  assertRefused(await putFile(admin, `${context}/resource/${link}`, 'x'), 405, 'method-not-allowed')
  const named = await newEntry(admin, context, '?informationresource=false')
  assertRefused(await putFile(admin, `${context}/resource/${named}`, 'x'), 400, 'invalid-type')
  assertRefused(await putFile(admin, `${context}/resource/none`, 'x'), 404, 'not-found')
})

test('an upload can be made conditional on the file that is there (D7.7)', async () => {
  const { path } = await newPlace()
  assertRefused(await putFile(admin, path, 'x', { 'if-match': '*' }), 412, 'precondition-failed')
  assert.equal((await putFile(admin, path, 'one', { 'if-none-match': '*' })).status, 201)
  assertRefused(await putFile(admin, path, 'two', { 'if-none-match': '*' }), 412, 'precondition-failed')
  const etag = String((await admin.get(path)).headers.etag)
  assertRefused(await putFile(admin, path, 'two', { 'if-match': '"0"' }), 412, 'precondition-failed')
  assert.equal((await putFile(admin, path, 'two', { 'if-match': etag })).status, 201)
  const remove = (condition: string) => admin.ask(path, { method: 'DELETE', headers: { 'if-match': condition } })
  assertRefused(await remove(etag), 412, 'precondition-failed')
  assert.equal((await remove('*')).status, 204)
})

test('parallel uploads to one entry leave one of the contents whole, and no other byte (D7.4)', async () => {
  const { id, path } = await newPlace()
  const { stored } = await blobsOf(service)
  const contents = Array.from({ length: 16 }, (_, index) => String.fromCodePoint(97 + index).repeat(50_000 + index))
  const answers = await Promise.all(contents.map(content => putFile(admin, path, content)))
  for (const answer of answers) assert.equal(answer.status, 201, answer.text)
  const { text, headers } = await admin.get(path)
  assert.ok(contents.includes(text))
  assert.equal(headers.etag, `"${sha256(text)}"`)
  assert.deepEqual(await about(id, `${DCT}extent`), [String(text.length)])
  const after = await blobsOf(service)
  assert.equal(after.stored.length, stored.length + 1)
  assert.deepEqual(after.incoming, [])
})

test('half a surrogate pair in a file name does not make the file unreadable', async () => {
  const { path } = await newPlace()
  const body = [
    '--b',
    'Content-Disposition: form-data; name="f"; filename*=utf-16le\'\'%61%00%00%D8',
    'Content-Type: text/plain',
    '',
    'content',
    '--b--',
    '',
  ].join('\r\n')
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  assert.equal((await admin.ask(path, { method: 'PUT', body, headers })).status, 201)
  const got = await admin.get(path)
  assert.equal(got.status, 200, got.text)
  assert.match(String(got.headers['content-disposition']), /filename\*=UTF-8''a%EF%BF%BD/)
})

test('a browser writes a file by POST with `method=put`, and deletes it with `method=delete` (W3.0.4)', async () => {
  const id = await newEntry(admin, context)
  const put = (query: string) => admin.ask(`${context}/resource/${id}${query}`, { method: 'POST', body: 'bytes' })
  assertRefused(await put(''), 405, 'method-not-allowed')
  assertRefused(await put('?method=patch'), 405, 'method-not-allowed')
  assert.equal((await put('?method=put')).status, 201)
  assert.equal((await admin.get(`${context}/resource/${id}`)).text, 'bytes')
  const elsewhere = { method: 'POST', body: 'other', headers: { origin: 'https://evil.example' } }
  const forged = await admin.ask(`${context}/resource/${id}?method=put`, elsewhere)
  assertRefused(forged, 403, 'cross-site-request')
  const guest = service.visitor()
  for (const method of ['put', 'delete']) {
    const byGuest = await guest.ask(`${context}/resource/${id}?method=${method}`, { method: 'POST', body: 'other' })
    assertRefused(byGuest, 401, 'not-signed-in')
  }
  assert.equal((await admin.get(`${context}/resource/${id}`)).text, 'bytes')
  const headers = { origin: 'https://evil.example' }
  for (const part of ['resource', 'entry']) {
    const path = `${context}/${part}/${id}?method=DELETE`
    assertRefused(await admin.ask(path, { method: 'POST', headers }), 403, 'cross-site-request')
    assert.equal((await admin.ask(path, { method: 'POST' })).status, 204)
    assert.equal((await admin.get(`${context}/${part}/${id}`)).status, part === 'entry' ? 404 : 204)
  }
})

test('a file that came in chunks of many sizes has all its bytes, in their order (W3.8.1)', async () => {
  const sizes = [1, 2000, 3, 1, 1, 70_000, 127, 128, 1023, 1024, 5, 300_000]
  let [count, chunks, bytes] = [0, '', '']
  while (count < 4000) {
    const chunk = String(count).padEnd(count % 100 < 97 ? 1 + (count % 7) : (sizes[count % sizes.length] ?? 1), '.')
    chunks += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    bytes += chunk
    count++
  }
  const { path } = await newPlace()
  const head = [`PUT ${new URL(admin.base).pathname}${path} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`]
  const sent = await sendRaw(admin.base, [...head, 'Transfer-Encoding: chunked'], `${chunks}0\r\n\r\n`)
  await sent.until(/^HTTP\/1\.1 20/)
  assert.equal((await admin.get(path)).text, bytes)
  sent.socket.destroy()
})
