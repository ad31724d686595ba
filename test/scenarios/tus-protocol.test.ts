import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { assertRefused } from '../support/content.ts'
import type { Answer, Ask } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { terminateWith, uploadWith } from '../support/tus-client.ts'
import { putFile, putForm } from '../support/uploads.ts'
import { base64, createUpload, headOf, PIECE, sendBytes, TUS, uploadPath } from '../support/tus.ts'

const settings = {
  'service.data.max-file-size': '1m',
  'service.cors': 'on',
  'service.cors.origins.1': 'https://portal.example',
}
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const user = await newUser(service, admin)
const context = await newContext(admin, [user.id])

const newFile = async (): Promise<string> => `${context}/${await newEntry(user.visitor, context)}`
const contentOf = async (entry: string): Promise<string> =>
  (await user.visitor.get(entry.replace('/', '/resource/'))).text
const newUpload = async (entry: string, length: number, headers: Record<string, string> = {}): Promise<string> =>
  uploadPath(user.visitor, await createUpload(user.visitor, entry, { 'upload-length': String(length), ...headers }))
const offsetOf = (answer: Answer): string | undefined => answer.headers['upload-offset']?.toString()

test('HEAD tells offset and length, and that nothing may keep its response; of what is not there it tells no offset (D42.1)', async () => {
  const path = await newUpload(await newFile(), 5)
  for (const offset of [0, 2]) {
    const { status, headers } = await headOf(user.visitor, path)
    assert.deepEqual([status, headers['upload-offset'], headers['upload-length']], [200, String(offset), '5'])
    assert.equal(headers['cache-control'], 'no-store')
    if (offset === 0) assert.equal((await sendBytes(user.visitor, path, 0, 'ab')).status, 204)
  }
  assert.equal((await sendBytes(user.visitor, path, 2, 'cde')).status, 204)
  const { headers } = await headOf(user.visitor, path)
  assert.deepEqual([headers['upload-offset'], headers['upload-length']], ['5', '5'], 'of a complete upload too')
  const missing = await headOf(user.visitor, `${path}0`)
  assert.deepEqual([missing.status, missing.headers['upload-offset']], [404, undefined])
})

test('PATCH needs its type and the present offset, and tells the next one (D42.4)', async () => {
  const entry = await newFile()
  const path = await newUpload(entry, 6)
  for (const type of ['text/plain', undefined])
    for (const body of ['abc', ''])
      assertRefused(
        await user.visitor.ask(path, {
          method: 'PATCH',
          body,
          headers: { ...TUS, 'upload-offset': '0', ...(type === undefined ? {} : { 'content-type': type }) },
        }),
        415,
        'unsupported-type',
      )
  for (const offset of [1, 6, 7])
    assertRefused(await sendBytes(user.visitor, path, offset, 'abc'), 409, 'upload-offset')
  assert.equal(offsetOf(await headOf(user.visitor, path)), '0', 'nothing of a refused request is stored')
  const first = await sendBytes(user.visitor, path, 0, 'abc')
  assert.deepEqual([first.status, offsetOf(first)], [204, '3'])
  assertRefused(await sendBytes(user.visitor, path, 0, 'abc'), 409, 'upload-offset')
  const last = await sendBytes(user.visitor, path, 3, 'def')
  assert.deepEqual([last.status, offsetOf(last)], [204, '6'])
  assert.equal(await contentOf(entry), 'abcdef')
  assertRefused(await sendBytes(user.visitor, `${path}0`, 0, 'abc'), 404, 'not-found')
})

test('every response of an address of uploads names the version, also each refusal (D42.1)', async () => {
  const entry = await newFile()
  const uploads = entry.replace('/', '/uploads/')
  const path = await newUpload(entry, 5)
  const refusals: ReadonlyArray<readonly [number, string, Ask]> = [
    [400, uploads, { method: 'POST', headers: TUS }],
    [400, `${path}?x=%zz`, { method: 'HEAD', headers: TUS }],
    [404, `${path}0`, { method: 'DELETE', headers: TUS }],
    [405, path, { method: 'PUT', headers: TUS }],
    [405, uploads, { method: 'GET', headers: TUS }],
    [409, path, { method: 'PATCH', body: 'x', headers: { ...PIECE, 'upload-offset': '3' } }],
    [412, path, { method: 'PATCH', body: 'x', headers: { ...PIECE, 'tus-resumable': '0.2.2', 'upload-offset': '0' } }],
    [412, path, { method: 'HEAD' }],
    [413, uploads, { method: 'POST', headers: { ...TUS, 'upload-length': String(2 ** 20 + 1) } }],
    [415, path, { method: 'PATCH', body: 'x', headers: { ...TUS, 'upload-offset': '0' } }],
  ]
  for (const [status, address, ask] of refusals) {
    const answer = await user.visitor.ask(address, ask)
    assert.deepEqual([answer.status, answer.headers['tus-resumable']], [status, '1.0.0'], `${ask.method} ${address}`)
    assert.equal(answer.headers['tus-version'], status === 412 ? '1.0.0' : undefined)
  }
  for (const visitor of [service.visitor(), (await newUser(service, admin)).visitor]) {
    const answer = await headOf(visitor, path)
    assert.equal(answer.headers['tus-resumable'], '1.0.0', String(answer.status))
  }
  assert.equal(offsetOf(await headOf(user.visitor, path)), '0', 'a request of another version is not processed')
})

test('`X-HTTP-Method-Override` is the method, whatever the request line says, at addresses of uploads alone (D42.1)', async () => {
  const entry = await newFile()
  const path = await newUpload(entry, 6)
  const as = (method: string, headers: Record<string, string> = {}) => ({
    ...TUS,
    'x-http-method-override': method,
    ...headers,
  })
  const head = await user.visitor.ask(path, { method: 'POST', headers: as('HEAD') })
  assert.deepEqual([head.status, offsetOf(head), head.text], [200, '0', ''])
  for (const [method, offset] of [
    ['POST', 0],
    ['GET', 3],
  ] as const) {
    const body = offset === 0 ? 'abc' : 'def'
    const headers = as('PATCH', { ...PIECE, 'upload-offset': String(offset) })
    const sent = await user.visitor.ask(path, { method, body, headers })
    assert.deepEqual([sent.status, offsetOf(sent)], [204, String(offset + 3)], sent.text)
  }
  assert.equal(await contentOf(entry), 'abcdef')
  const other = await newUpload(entry, 6)
  assert.equal((await user.visitor.ask(other, { method: 'POST', headers: as('DELETE') })).status, 204)
  assert.equal((await headOf(user.visitor, other)).status, 404)
  assertRefused(await user.visitor.ask(path, { method: 'POST', headers: as('NOTHING') }), 405, 'method-not-allowed')
  const elsewhere = { method: 'GET', headers: { 'x-http-method-override': 'DELETE' } }
  assert.equal((await user.visitor.ask(entry.replace('/', '/resource/'), elsewhere)).text, 'abcdef')
})

test('a creation names what is wrong with its length, and a final upload needs none (D42.1)', async () => {
  const entry = await newFile()
  for (const length of [undefined, '', '-1', '1.5', '1e3', '0x10', 'x'])
    assertRefused(
      await createUpload(user.visitor, entry, length === undefined ? {} : { 'upload-length': length }),
      400,
      'invalid-value',
    )
  assertRefused(await createUpload(user.visitor, entry, { 'upload-defer-length': '1' }), 400, 'invalid-value')
  const answer = await createUpload(user.visitor, entry, { 'upload-length': '5' })
  assert.equal(answer.status, 201)
  assert.match(String(answer.headers['location']), new RegExp(`^${service.base}${context}/uploads/`))
})

test('HEAD repeats `Upload-Metadata` as it was sent, with the members that mean nothing here (D42.1)', async () => {
  const entry = await newFile()
  for (const metadata of [
    `filename ${base64('a.txt')},is_confidential,x ${base64('\0ÿ')}`,
    `filetype ${base64('text/plain')}`,
  ]) {
    const path = await newUpload(entry, 1, { 'upload-metadata': metadata })
    assert.equal((await headOf(user.visitor, path)).headers['upload-metadata'], metadata)
    await sendBytes(user.visitor, path, 0, 'x')
    assert.equal((await headOf(user.visitor, path)).headers['upload-metadata'], metadata, 'also when it is complete')
  }
  const path = await newUpload(entry, 1)
  assert.equal((await headOf(user.visitor, path)).headers['upload-metadata'], undefined)
})

test('a missing type is one, also where a script has made a word of it (D42.1)', async () => {
  for (const filetype of ['', 'undefined', 'null']) {
    const entry = await newFile()
    const answer = await createUpload(user.visitor, entry, {
      ...PIECE,
      'upload-length': '1',
      'upload-metadata': `filetype ${base64(filetype)}`,
      body: 'x',
    })
    assert.equal(answer.status, 201, answer.text)
    const file = await user.visitor.get(entry.replace('/', '/resource/'))
    assert.equal(file.headers['content-type'], 'application/octet-stream')
  }
})

test('an empty file needs neither type nor bytes, with and without `Content-Length` (D42.1)', async () => {
  for (const headers of [
    {},
    { 'content-length': '0' },
    { 'content-length': '0', 'content-type': PIECE['content-type'] },
  ]) {
    const entry = await newFile()
    const answer = await createUpload(user.visitor, entry, { 'upload-length': '0', ...headers })
    assert.deepEqual([answer.status, offsetOf(answer)], [201, '0'], answer.text)
    const file = await user.visitor.get(entry.replace('/', '/resource/'))
    assert.deepEqual([file.status, file.text], [200, ''])
  }
})

test('each response to bytes says when the upload expires from then on, until it cannot expire any more (D42.2)', async () => {
  const expires = ({ headers }: Answer): number => Date.parse(String(headers['upload-expires']))
  const created = await createUpload(user.visitor, await newFile(), { 'upload-length': '3' })
  const path = uploadPath(user.visitor, created)
  assert.match(String(created.headers['upload-expires']), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
  service.system.pass(60_000)
  const sent = await sendBytes(user.visitor, path, 0, 'a')
  assert.equal(expires(sent) - expires(created), 60_000)
  assert.equal(expires(await headOf(user.visitor, path)), expires(sent))
  assert.equal((await sendBytes(user.visitor, path, 1, 'bc')).headers['upload-expires'], undefined)
})

test('bytes with a checksum that differs or is unknown are refused, and the offset stays (D42.4)', async () => {
  const path = await newUpload(await newFile(), 3)
  const digest = (algorithm: string, text: string): string =>
    `${algorithm} ${base64(createHash(algorithm).update(text).digest())}`
  const send = (checksum: string): Promise<Answer> =>
    sendBytes(user.visitor, path, 0, 'abc', { 'upload-checksum': checksum })
  assertRefused(await send(digest('sha1', 'abd')), 460, 'upload-checksum')
  assertRefused(await send(digest('md5', 'abc')), 400, 'invalid-value')
  assert.equal(offsetOf(await headOf(user.visitor, path)), '0')
  assert.deepEqual([(await send(digest('sha1', 'abc'))).status, offsetOf(await headOf(user.visitor, path))], [204, '3'])
})

test('HEAD repeats `Upload-Concat` of a part and of a final upload, which takes no bytes (D42.3)', async () => {
  const entry = await newFile()
  const parts = []
  for (const text of ['abc', 'de']) {
    const part = await newUpload(entry, text.length, { 'upload-concat': 'partial' })
    assert.equal((await sendBytes(user.visitor, part, 0, text)).status, 204)
    const { headers } = await headOf(user.visitor, part)
    assert.deepEqual([headers['upload-concat'], headers['upload-offset']], ['partial', String(text.length)])
    parts.push(part)
  }
  // Addresses may be relative.
  const concat = `final;/${parts[0]} ${service.base}${parts[1]}`
  const metadata = `filename ${base64('joined.txt')}`
  const joined = await createUpload(user.visitor, entry, { 'upload-concat': concat, 'upload-metadata': metadata })
  const final = uploadPath(user.visitor, joined)
  assert.equal(await contentOf(entry), 'abcde')
  const { headers } = await headOf(user.visitor, final)
  assert.deepEqual(
    ['upload-concat', 'upload-metadata', 'upload-offset', 'upload-length'].map(name => headers[name]),
    [concat, metadata, '5', '5'],
  )
  for (const [offset, body] of [
    [5, ''],
    [5, 'x'],
    [0, 'x'],
  ] as const)
    assertRefused(await sendBytes(user.visitor, final, offset, body), 403, 'not-allowed')
  assert.equal(await contentOf(entry), 'abcde')
})

test('bytes beyond the end of a complete upload are refused (D42.4)', async () => {
  const entry = await newFile()
  const path = await newUpload(entry, 3)
  assert.equal((await sendBytes(user.visitor, path, 0, 'abc')).status, 204)
  assert.equal((await sendBytes(user.visitor, path, 3, '')).status, 204, 'the last response may have been lost')
  assertRefused(await sendBytes(user.visitor, path, 3, 'd'), 413, 'upload-too-long')
  assert.equal(await contentOf(entry), 'abc')
})

test('an upload that was given up is gone (D42.1)', async () => {
  const path = await newUpload(await newFile(), 3)
  assert.equal((await user.visitor.ask(path, { method: 'DELETE', headers: TUS })).status, 204)
  assert.equal((await headOf(user.visitor, path)).status, 404)
  assertRefused(await sendBytes(user.visitor, path, 0, 'abc'), 404, 'not-found')
})

test('OPTIONS tells what the server can do, whatever version it is asked in (D42.1)', async () => {
  for (const headers of [{}, { 'tus-resumable': '9.9.9' }]) {
    const answer = await service.visitor().ask(`${context}/uploads/1`, { method: 'OPTIONS', headers })
    assert.equal(answer.status, 204)
    assert.equal(answer.headers['tus-version'], '1.0.0')
    assert.equal(answer.headers['tus-max-size'], String(2 ** 20))
    assert.equal(
      answer.headers['tus-extension'],
      'creation,creation-with-upload,expiration,termination,checksum,concatenation',
    )
    assert.equal(answer.headers['tus-checksum-algorithm'], 'sha1,sha256')
  }
})

test('pages of a listed origin may send and read every header of the protocol (W3.0.5, D42.1)', async () => {
  const origin = 'https://portal.example'
  const namesIn = ({ headers }: Answer, header: string): string[] => String(headers[header]).toLowerCase().split(', ')
  const path = `${context}/uploads/1`
  const preflight = await service.visitor().ask(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PATCH' },
  })
  const sent =
    'tus-resumable upload-length upload-offset upload-metadata upload-checksum upload-concat x-http-method-override x-request-id'
  for (const name of sent.split(' ')) assert.ok(namesIn(preflight, 'access-control-allow-headers').includes(name), name)
  const answer = await service.visitor().ask(path, { method: 'OPTIONS', headers: { origin } })
  const read =
    'location tus-resumable tus-version tus-extension tus-max-size tus-checksum-algorithm upload-length upload-offset upload-expires upload-metadata upload-concat'
  for (const name of read.split(' ')) assert.ok(namesIn(answer, 'access-control-expose-headers').includes(name), name)
})

test('a body that is not the plain bytes of the file is refused at both doors, and reserves nothing (D42.4)', async () => {
  const entry = await newFile()
  const path = await newUpload(entry, 5)
  for (const [headers, status, code] of [
    [{ 'content-encoding': 'gzip' }, 415, 'unsupported-type'],
    [{ 'content-range': 'bytes 0-4/10' }, 400, 'invalid-value'],
  ] as const) {
    const before = (await user.visitor.get('auth/uploads')).text
    const answers = [
      await user.visitor.ask(entry.replace('/', '/resource/'), { method: 'PUT', body: 'abcde', headers }),
      await createUpload(user.visitor, entry, { ...PIECE, ...headers, 'upload-length': '5', body: 'abcde' }),
      await sendBytes(user.visitor, path, 0, 'abcde', headers),
    ]
    for (const answer of answers) assertRefused(answer, status, code)
    assert.equal((await user.visitor.get('auth/uploads')).text, before)
  }
  assert.equal((await sendBytes(user.visitor, path, 0, 'abcde', { 'content-encoding': 'identity' })).status, 204)
})

test('a name that no file can have is refused at every door, and changes nothing (D7.7)', async () => {
  const entry = await newFile()
  const resource = entry.replace('/', '/resource/')
  await putFile(user.visitor, resource, 'before')
  for (const name of ['..', '.', 'a/..', 'a\\.', 'a\0b', '\0']) {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`
    const answers = [
      await createUpload(user.visitor, entry, { 'upload-length': '1', 'upload-metadata': `filename ${base64(name)}` }),
      await user.visitor.ask(resource, { method: 'PUT', body: 'x', headers: { 'content-disposition': disposition } }),
      await user.visitor.ask(`${context}?file`, {
        method: 'POST',
        body: 'x',
        headers: { 'content-disposition': disposition },
      }),
    ]
    for (const answer of answers) {
      assertRefused(answer, 400, 'invalid-value')
      assert.ok(answer.json<{ detail: string }>().detail.includes(JSON.stringify(name)), answer.text)
    }
  }
  const part = { name: 'file', content: 'x' }
  assertRefused(await putForm(user.visitor, resource, [{ ...part, fileName: 'a\0b' }]), 400, 'invalid-value')
  assert.equal(await contentOf(entry), 'before')
  // A form names no folders.
  assert.equal((await putForm(user.visitor, resource, [{ ...part, fileName: 'a/..' }])).status, 201)
  const { headers } = await user.visitor.get(`${resource}?download`)
  assert.equal(headers['content-disposition'], `attachment; filename=${entry.split('/')[1]}`)
})

test('the published client uploads an empty file, and with POST in place of PATCH where a proxy refuses that (D42.1)', async () => {
  for (const [text, options] of [
    ['', {}],
    ['', { uploadDataDuringCreation: true }],
    ['abcdef', { overridePatchMethod: true, addRequestId: true, chunkSize: 4 }],
    ['abcdef', { uploadDataDuringCreation: true, chunkSize: 4 }],
    ['abcdef', { metadata: { filename: 'a.bin', filetype: 'undefined' } }],
    ['abcdef', { parallelUploads: 2, headers: { 'x-app': 'y' } }],
  ] as const) {
    const entry = await newFile()
    await uploadWith(service, { visitor: user.visitor, entry }, Buffer.from(text), options)
    const file = await user.visitor.get(entry.replace('/', '/resource/'))
    assert.deepEqual([file.status, file.text], [200, text], JSON.stringify(options))
  }
})

test('the published client goes on with an upload of before, and gives one up (D42.1)', async () => {
  const entry = await newFile()
  const begun = await newUpload(entry, 6)
  assert.equal((await sendBytes(user.visitor, begun, 0, 'abc')).status, 204)
  const to = { visitor: user.visitor, entry }
  await uploadWith(service, to, Buffer.from('abcdef'), { uploadUrl: service.base + begun })
  assert.equal(await contentOf(entry), 'abcdef')
  // One that is there already is no upload any more, for this client too.
  await uploadWith(service, to, Buffer.from('abcdef'), { uploadUrl: service.base + begun })
  const other = await newUpload(entry, 6)
  await terminateWith(service, user.visitor, other)
  assert.equal((await headOf(user.visitor, other)).status, 404)
})
