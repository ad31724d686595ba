import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ask } from '../support/http-client.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
const title = 'A title that is long enough to be worth compressing. '.repeat(100)
const entry = await newEntry(admin, context)
const subject = `${service.base}${context}/resource/${entry}`
await admin.put(`${context}/metadata/${entry}`, {
  [subject]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: title }] },
})
const metadata = `${context}/metadata/${entry}`

test('large text and RDF is compressed as the client accepts it, and is the same once decompressed', async () => {
  for (const accept of ['application/json', 'text/turtle', 'application/rdf+xml']) {
    const plain = await admin.get(metadata, { accept })
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.match(plain.headers.vary ?? '', /accept-encoding/i)
    const br = await admin.get(metadata, { accept, 'accept-encoding': 'gzip, deflate, br' })
    assert.deepEqual([br.status, br.headers['content-encoding']], [200, 'br'], accept)
    assert.ok(br.bytes.length * 5 < plain.bytes.length)
    assert.equal(brotliDecompressSync(br.bytes).toString(), plain.text)
    const gzip = await admin.get(metadata, { accept, 'accept-encoding': 'gzip' })
    assert.equal(gunzipSync(gzip.bytes).toString(), plain.text)
    const tags = [plain, br, gzip].map(({ headers }) => headers.etag)
    assert.equal(new Set(tags).size, 3, 'each form of the bytes has its own strong tag')
  }
  assert.equal(
    (await admin.get(metadata, { 'accept-encoding': 'br;q=0, identity' })).headers['content-encoding'],
    undefined,
  )
})

test('the description of the interface is compressed for any number of clients at once (D14.7)', async () => {
  const url = `${service.base}openapi.json`
  const plain = await ask(url)
  const headers = { 'accept-encoding': 'gzip, br' }
  const coded = await Promise.all(Array.from({ length: 40 }, () => ask(url, { headers })))
  for (const one of coded) {
    assert.equal(one.headers['content-encoding'], 'br')
    assert.equal(brotliDecompressSync(one.bytes).toString(), plain.text)
  }
})

test('the tag of a compressed form names the state: for 304, and for a change with If-Match', async () => {
  const { etag = '' } = (await admin.get(metadata, { 'accept-encoding': 'br' })).headers
  const again = await admin.get(metadata, { 'accept-encoding': 'br', 'if-none-match': etag })
  assert.deepEqual([again.status, again.text], [304, ''])
  const json = { [subject]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: `${title}!` }] } }
  const change = () => admin.ask(metadata, { method: 'PUT', json, headers: { 'if-match': etag } })
  assert.equal((await change()).status, 204)
  assert.equal((await change()).status, 412)
})

test('what holds secrets or is about people is never compressed (BREACH), nor is what is small', async () => {
  const headers = { 'accept-encoding': 'br, gzip' }
  for (const path of [
    'auth/tokens',
    'auth/user',
    '_principals/entry/_admin?includeAll',
    '_principals',
    'management/audit',
  ])
    assert.equal((await admin.get(path, headers)).headers['content-encoding'], undefined, path)
  const page = await ask(`${service.base}auth/login`, {
    headers: { ...headers, accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(page.headers['content-encoding'], undefined)
  assert.equal((await admin.get(context, headers)).headers['content-encoding'], undefined)
})

test('the files of the pages come compressed, in less than half their size', async () => {
  const page = await ask(`${service.base}ui/`)
  const urls = [...page.text.matchAll(/(?:src|href)="([^"]*\/assets\/[^"]*\.(?:js|css))"/g)].map(
    match => match[1] ?? '',
  )
  assert.ok(urls.length >= 2)
  for (const url of urls) {
    const plain = await ask(url)
    const coded = await ask(url, { headers: { 'accept-encoding': 'gzip, br' } })
    assert.equal(coded.headers['content-encoding'], 'br')
    assert.ok(coded.bytes.length * 2 < plain.bytes.length, url)
    assert.equal(brotliDecompressSync(coded.bytes).toString(), plain.text)
    assert.equal((await ask(url, { headers: { 'if-none-match': coded.headers.etag } })).status, 304)
  }
})
