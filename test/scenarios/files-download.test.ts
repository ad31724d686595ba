import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { assertRefused, graphOf, LABEL, DCT, textTerm } from '../support/content.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.inline-types.1': 'application/pdf' } })
const admin = await service.admin()
const context = await newContext(admin)

async function upload(text: string, headers: Record<string, string> = {}): Promise<string> {
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, text, headers)).status, 201)
  return path
}

const TEXT = '0123456789abcdef'
const file = await upload(TEXT)

test('a download has headers for ETag, digests, length and ranges, and against sniffing and execution (D7.7)', async () => {
  const { headers, text } = await admin.get(file)
  const digest = createHash('sha256').update(TEXT)
  const hex = digest.copy().digest('hex')
  assert.equal(text, TEXT)
  assert.equal(headers.etag, `"${hex}"`)
  assert.equal(headers['digest'], `sha-256=${hex}`)
  assert.equal(headers['repr-digest'], `sha-256=:${digest.digest('base64')}:`)
  assert.equal(headers['content-length'], String(TEXT.length))
  assert.equal(headers['accept-ranges'], 'bytes')
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['content-security-policy'], "sandbox; default-src 'none'; frame-ancestors 'none'")
  assert.equal(headers['cache-control'], 'private')
  assert.ok(headers['last-modified'])
})

test('HEAD has the same headers and no body, and ignores ranges (RFC 9110 14.2)', async () => {
  const get = await admin.get(file)
  for (const headers of [{}, { range: 'bytes=0-3' }, { range: 'bytes=99-' }]) {
    const head = await admin.ask(file, { method: 'HEAD', headers })
    assert.equal(head.status, 200, JSON.stringify(headers))
    assert.equal(head.bytes.length, 0)
    for (const name of ['etag', 'digest', 'content-length', 'content-type', 'last-modified', 'content-disposition'])
      assert.equal(head.headers[name], get.headers[name], name)
  }
})

test('a range is 206 with what was asked for (RFC 9110 14)', async () => {
  const ranges: Readonly<Record<string, readonly [text: string, contentRange: string]>> = {
    'bytes=0-0': ['0', 'bytes 0-0/16'],
    'bytes=2-5': ['2345', 'bytes 2-5/16'],
    'bytes=10-': ['abcdef', 'bytes 10-15/16'],
    'bytes=-4': ['cdef', 'bytes 12-15/16'],
    'bytes=-99': [TEXT, 'bytes 0-15/16'],
    'bytes=12-99': ['cdef', 'bytes 12-15/16'],
    'bytes=0-15': [TEXT, 'bytes 0-15/16'],
    'Bytes = 3-4': ['34', 'bytes 3-4/16'],
  }
  for (const [range, [text, contentRange]] of Object.entries(ranges)) {
    const answer = await admin.get(file, { range })
    assert.equal(answer.status, 206, range)
    assert.equal(answer.text, text, range)
    assert.equal(answer.headers['content-range'], contentRange)
    assert.equal(answer.headers['content-length'], String(text.length))
  }
})

test('a range outside the file is 416 with the size (RFC 9110 15.5.17)', async () => {
  for (const range of ['bytes=16-', 'bytes=16-20', 'bytes=-0', `bytes=${'9'.repeat(30)}-`]) {
    const answer = await admin.get(file, { range })
    assertRefused(answer, 416, 'range-not-satisfiable', range)
    assert.equal(answer.headers['content-range'], 'bytes */16')
  }
  const empty = await upload('')
  assertRefused(await admin.get(empty, { range: 'bytes=0-' }), 416, 'range-not-satisfiable')
})

test('a malformed range, another unit or several ranges get the whole (RFC 9110 14.2)', async () => {
  for (const range of [
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-2',
    'bytes=1',
    'lines=0-1',
    'bytes=0-1,4-5',
    '0-5',
    'bytes=1.5-',
  ]) {
    const answer = await admin.get(file, { range })
    assert.equal(answer.status, 200, range)
    assert.equal(answer.text, TEXT, range)
  }
})

test('If-Range returns the part if the state is current, otherwise the whole new file (RFC 9110 13.1.5)', async () => {
  const { headers } = await admin.get(file)
  const etag = String(headers.etag)
  const modified = String(headers['last-modified'])
  const asked = async (ifRange: string): Promise<number> =>
    (await admin.get(file, { range: 'bytes=0-3', 'if-range': ifRange })).status
  assert.equal(await asked(etag), 206)
  assert.equal(await asked(modified), 206)
  for (const other of ['"0"', `W/${etag}`, new Date(0).toUTCString(), 'nonsense'])
    assert.equal(await asked(other), 200, other)
})

test('a client with the current file gets 304, before ranges are considered (RFC 9110 13.2.2)', async () => {
  const { headers } = await admin.get(file)
  for (const condition of [
    { 'if-none-match': String(headers.etag) },
    { 'if-none-match': `W/${headers.etag}` },
    { 'if-modified-since': String(headers['last-modified']) },
    { 'if-none-match': String(headers.etag), range: 'bytes=0-3' },
  ]) {
    const answer = await admin.get(file, condition)
    assert.equal(answer.status, 304)
    assert.equal(answer.bytes.length, 0)
    assert.equal(answer.headers.etag, headers.etag)
  }
  assertRefused(await admin.get(file, { 'if-match': '"0"' }), 412, 'precondition-failed')
})

test('active types are sent as attachments, whatever their case or parameters (D7.7)', async () => {
  const active = [
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'text/javascript',
    'application/octet-stream',
    'x/unknown',
    'text/css',
    'text/markdown',
  ]
  for (const type of active) {
    const { headers } = await admin.get(await upload('<script>', { 'content-type': type }))
    assert.match(String(headers['content-disposition']), /^attachment/, type)
    assert.match(String(headers['content-security-policy']), /^sandbox;/)
  }
  for (const type of [
    'image/png',
    'image/jpeg',
    'audio/ogg',
    'video/mp4',
    'text/plain',
    'text/csv',
    'application/json',
  ]) {
    const path = await upload('x', { 'content-type': type })
    assert.match(String((await admin.get(path)).headers['content-disposition']), /^inline/, type)
    assert.match(String((await admin.get(`${path}?download`)).headers['content-disposition']), /^attachment/)
  }
})

test('what the operator allows is shown inline, in its sandbox still (service.data.inline-types)', async () => {
  const { headers } = await admin.get(await upload('%PDF', { 'content-type': 'application/pdf' }))
  assert.match(String(headers['content-disposition']), /^inline/)
  assert.match(String(headers['content-security-policy']), /^sandbox;/)
})

test('a file is offered under its name, in ASCII and in UTF-8, never as a path or a second header (RFC 6266)', async () => {
  const offered = async (name: string): Promise<string> => {
    const id = await newEntry(admin, context)
    const path = `${context}/resource/${id}`
    await putFile(admin, path, 'x')
    const r = admin.base + path
    const info = graphOf(r, LABEL, textTerm(name))
    assert.equal((await admin.put(`${context}/entry/${id}`, info)).status, 204)
    const { headers, status } = await admin.get(path)
    assert.equal(status, 200, name)
    assert.equal(headers['x-evil'], undefined)
    return String(headers['content-disposition']).replace(/^\w+; /, '')
  }
  assert.equal(await offered('plain.txt'), 'filename=plain.txt')
  assert.match(await offered('naïve €.txt'), /filename\*=UTF-8''na%C3%AFve%20%E2%82%AC\.txt/)
  assert.equal(await offered('a "quoted" name'), 'filename="a \\"quoted\\" name"')
  for (const name of ['a\r\nX-Evil: 1', 'a\u0000b', '\u2028']) assert.doesNotMatch(await offered(name), /[\r\n\0]/)
  for (const name of ['../../etc/passwd', '/etc/passwd', 'C:\\x\\passwd', '..', 'a/..', 'a/']) {
    const reported = await offered(name)
    assert.doesNotMatch(reported, /\.\.|etc|C:|\//, reported)
  }
  const nameless = await upload('x')
  assert.equal(
    (await admin.get(nameless)).headers['content-disposition'],
    `inline; filename=${nameless.split('/').pop()}`,
  )
})

test('a type that a client wrote into info is used if it is one, and ignored if not (W2.3)', async () => {
  const id = await newEntry(admin, context)
  const path = `${context}/resource/${id}`
  await putFile(admin, path, 'x')
  const typed = async (type: string): Promise<unknown> => {
    await admin.put(`${context}/entry/${id}`, graphOf(admin.base + path, `${DCT}format`, textTerm(type)))
    return (await admin.get(path)).headers['content-type']
  }
  assert.equal(await typed('image/png'), 'image/png')
  assert.equal(await typed(' IMAGE/PNG ; q=1\r\nX: y'), 'image/png')
  assert.equal(await typed('text/plain; charset=utf-8'), 'text/plain; charset=utf-8')
  assert.equal(await typed('a/b; c=d'), 'a/b')
  for (const wrong of ['image/png\r\nX: y', 'nonsense', '', '; a/b'])
    assert.equal(await typed(wrong), 'application/octet-stream', wrong)
})

test('scripts and style sheets come as plain text, so that no page of the service can load one (D18.9)', async () => {
  for (const type of ['text/javascript', 'application/javascript', 'application/x-javascript', 'text/css']) {
    const path = await upload('alert(1)', { 'content-type': type })
    const { headers } = await admin.get(path)
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8', type)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(String(headers['content-disposition']), /^attachment/, type)
  }
  const path = await upload('alert(1)')
  const entry = path.replace('/resource/', '/entry/')
  for (const type of ['TEXT/JAVASCRIPT', 'text/JavaScript; charset=utf-8', 'Text/CSS']) {
    assert.equal((await admin.put(entry, graphOf(admin.base + path, `${DCT}format`, textTerm(type)))).status, 204)
    const { headers } = await admin.get(path)
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8', type)
    assert.match(String(headers['content-disposition']), /^attachment/, type)
  }
})

test('no control character and no change of direction gets into the name of a download (D18.10)', async () => {
  const path = `${context}/resource/${await newEntry(admin, context)}`
  const name = "filename*=UTF-8''a%0D%0Abc%1B%E2%80%AEgpj.exe"
  assert.equal((await putFile(admin, path, 'x', { 'content-disposition': `attachment; ${name}` })).status, 201)
  const { headers } = await admin.get(path)
  assert.match(String(headers['content-disposition']), /filename="?abcgpj\.exe"?$/)
})
