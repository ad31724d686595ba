import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  clockOffset,
  type Fetch,
  FetchFailed,
  fetchResponse,
  fetchText,
  readDocument,
  streamDocument,
} from '../../src/base/fetch.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { listen } from '../support/listener.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const limits = { timeout: 60_000, maxBytes: 10, verifyTls: true }
const serve = (t: Parameters<typeof listen>[0], answer: (response: ServerResponse) => void) =>
  listen(t, (_, response) => answer(response))

async function failureOf(work: Promise<unknown>): Promise<object> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    const { name, message, isTooLarge, status } = error
    return { name, message, isTooLarge, ...(status === undefined ? {} : { status }) }
  }
  return {}
}

async function streamed(wanted: Fetch): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of streamDocument(wanted)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const failed = (message: string, more: object = {}) => ({ name: 'FetchFailed', message, isTooLarge: false, ...more })

test('a document of exactly the largest size is read, one byte more is refused (D8.6)', async t => {
  let text = 'ä12345678'
  const { origin, heard } = await serve(t, response => response.end(text))
  for (const read of [fetchText, readDocument, streamed]) {
    text = 'ä12345678'
    assert.equal(await read({ url: origin, ...limits }), text)
    text = 'ä123456789'
    assert.deepEqual(
      await failureOf(read({ url: origin, ...limits })),
      failed(`${origin}: more than 10 bytes`, { isTooLarge: true }),
    )
  }
  assert.ok(heard.every(({ method }) => method === 'GET'))
})

test('other statuses than 200 are refused, and no redirect is followed (D8.6)', async t => {
  let status = 500
  const { origin, heard } = await serve(t, response => response.writeHead(status, { location: '/x' }).end('x'))
  for (status of [201, 204, 302, 404, 500]) {
    assert.deepEqual(await failureOf(fetchText({ url: origin, ...limits })), failed(`${origin}: status ${status}`))
    assert.deepEqual(
      await failureOf(streamed({ url: origin, ...limits })),
      failed(`${origin}: status ${status}`, { status }),
    )
  }
  assert.equal(heard.length, 10)
})

test('a protocol reads any status, with method, headers and body as given (D26.2)', async t => {
  const { origin, heard } = await serve(t, response => response.writeHead(400, { 'x-a': '1' }).end('no'))
  const answer = await fetchResponse({
    url: origin,
    method: 'POST',
    headers: { 'x-b': '2', 'content-type': 'application/x-www-form-urlencoded' },
    body: 'a=1',
    ...limits,
  })
  assert.deepEqual([answer.status, answer.text, answer.headers['x-a']], [400, 'no', '1'])
  assert.deepEqual([heard[0]?.method, heard[0]?.headers['x-b'], { ...heard[0]?.form }], ['POST', '2', { a: '1' }])
})

test('headers are sent with a stream too', async t => {
  const { origin, heard } = await serve(t, response => response.end())
  await streamed({ url: origin, headers: { 'if-none-match': '"x"' }, ...limits })
  assert.equal(heard[0]?.headers['if-none-match'], '"x"')
})

test('a document in UTF-16 is read by its byte order mark, from a server and from a file (D8.6)', async t => {
  const text = '<a>ü</a>'
  const little = Buffer.from(`\uFEFF${text}`, 'utf16le')
  const file = join(await temporaryFolder(), 'idp.xml')
  for (const bytes of [little, Buffer.from(little).swap16(), Buffer.from(text), Buffer.from(`\uFEFF${text}`)]) {
    const { origin } = await serve(t, response => response.end(bytes))
    assert.equal(await fetchText({ url: origin, ...limits, maxBytes: 100 }), text)
    await writeFile(file, bytes)
    assert.equal(await readDocument({ url: pathToFileURL(file).href, ...limits }), text)
  }
})

test('bytes that are not UTF-8, and a compressed stream, are refused (D8.6)', async t => {
  const bytes = await serve(t, response => response.end(Buffer.from([0xff])))
  assert.deepEqual(await failureOf(fetchText({ url: bytes.origin, ...limits })), failed(`${bytes.origin}: not UTF-8`))
  const halved = await serve(t, response => response.end(Buffer.from([0xfe, 0xff, 0xd8, 0])))
  assert.deepEqual(
    await failureOf(fetchText({ url: halved.origin, ...limits })),
    failed(`${halved.origin}: not UTF-16BE`),
  )
  const packed = await serve(t, response => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'))
  assert.deepEqual(
    await failureOf(streamed({ url: packed.origin, ...limits })),
    failed(`${packed.origin}: compressed (gzip), which was not asked for`),
  )
  const plain = await serve(t, response => response.writeHead(200, { 'content-encoding': 'Identity' }).end('x'))
  assert.equal(await streamed({ url: plain.origin, ...limits }), 'x')
})

test('only https, and http of this machine, is asked (D8.6)', async t => {
  const { origin } = await serve(t, response => response.end('x'))
  const port = new URL(origin).port
  assert.equal(await fetchText({ url: `http://localhost:${port}`, ...limits }), 'x')
  for (const url of [
    'http://idp.example/',
    'http://127.0.0.1.evil.example/',
    'http://evil127.0.0.1.example/',
    'http://localhost.evil.example/',
    'http://[::2]/',
    'http://128.0.0.1/',
    'ftp://127.0.0.1/',
    'data:text/plain,x',
  ]) {
    const expected = failed(`${url}: only https, or http from this machine, is fetched`)
    assert.deepEqual(await failureOf(fetchText({ url, ...limits })), expected)
    assert.deepEqual(await failureOf(streamed({ url, ...limits })), expected)
  }
  // Nothing listens there, but these may be asked.
  for (const url of ['http://127.255.255.255:1/', 'http://[::1]:1/', 'https://127.0.0.1:1/', 'https://[::1]:1/']) {
    const { message } = (await failureOf(fetchText({ url, ...limits }))) as { message: string }
    assert.ok(message.startsWith(`${url}: `) && !message.includes('only https'), message)
  }
})

test('an address that does not answer in time is left, with the time that was given (D8.6)', async t => {
  const { origin } = await serve(t, response => void response.write('x'))
  assert.deepEqual(
    await failureOf(fetchText({ url: origin, ...limits, timeout: 200 })),
    failed(`${origin}: no complete answer within 200 ms`),
  )
  assert.deepEqual(
    await failureOf(streamed({ url: origin, ...limits, timeout: 200 })),
    failed(`${origin}: no complete answer within 200 ms`),
  )
})

test('files are read under the same limits, and a missing one is named (D8.6)', async () => {
  const folder = await temporaryFolder()
  const url = pathToFileURL(join(folder, 'a b.xml')).href
  for (const read of [readDocument, streamed]) {
    const { message } = (await failureOf(read({ url, ...limits }))) as { message: string }
    assert.ok(message.startsWith(`${url}: ENOENT`), message)
  }
  await writeFile(new URL(url), '0123456789')
  for (const read of [readDocument, streamed]) assert.equal(await read({ url, ...limits }), '0123456789')
  await writeFile(new URL(url), '0123456789a')
  assert.deepEqual(
    await failureOf(streamed({ url, ...limits })),
    failed(`${url}: more than 10 bytes`, { isTooLarge: true }),
  )
})

test('the clock of a server is read from the date of its response, if it has one', async t => {
  const system = new FakeSystem()
  let date: string | undefined = new Date(system.now() + 90_000).toUTCString()
  const { origin, heard } = await serve(t, response => {
    response.sendDate = false
    if (date !== undefined) response.setHeader('date', date)
    response.end()
  })
  assert.equal(await clockOffset(origin, system), 90_500)
  assert.equal(heard[0]?.method, 'HEAD')
  for (date of [undefined, 'soon']) assert.equal(await clockOffset(origin, system), undefined)
  for (const url of ['file:///x', 'ftp://x/', 'nothttp://x/', 'http://127.0.0.1:1/'])
    assert.equal(await clockOffset(url, system), undefined, url)
  assert.equal(heard.length, 3)
})
