import assert from 'node:assert/strict'
import { type OutgoingHttpHeaders, request as httpRequest } from 'node:http'
import { after, test } from 'node:test'
import { newContext, newEntry, startProcess } from '../support/service.ts'

// A bucket takes longer than the time that is to be told apart here.
const settings = { 'service.data.max-file-size': '1k', 'service.data.store': 'folder' }
const service = await startProcess({ after }, { settings })
const admin = await service.admin()
const context = await newContext(admin)
const entry = await newEntry(admin, context)

interface Sent {
  /** Its `User-Agent`; `undefined`: none, but the other headers of superagent. */
  readonly client: string | undefined
  readonly headers?: OutgoingHttpHeaders
  /** `undefined`: chunked. */
  readonly length?: number
  readonly path?: string
  readonly cookie?: boolean
  readonly chunks?: readonly string[]
}

/** The answer's status, and the milliseconds from before the last bytes were written to when it was there. */
function upload({
  client,
  length,
  path,
  headers,
  cookie = true,
  chunks = ['some ', 'bytes'],
}: Sent): Promise<[number, number]> {
  return new Promise((resolve, reject) => {
    let last = 0
    const request = httpRequest(`${service.base}${path ?? `${context}/resource/${entry}`}`, {
      method: 'PUT',
      agent: false,
      headers: {
        ...(client === undefined ? { 'accept-encoding': 'gzip, deflate' } : { 'user-agent': client }),
        ...headers,
        'content-type': 'text/plain',
        ...(length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }),
        ...(cookie ? { cookie: `auth_token=${admin.cookie}` } : {}),
      },
    })
    request.on('error', reject)
    request.on('response', response => {
      const taken = performance.now() - last
      response.resume()
      response.on('end', () => resolve([response.statusCode ?? 0, taken]))
    })
    for (const chunk of chunks.slice(0, -1)) request.write(chunk)
    last = performance.now()
    request.end(chunks.at(-1))
  })
}

const HELD = 20
const superagent = 'node-superagent/10.3.0'

test('superagent on Node gets the answer to a chunked upload 20 ms after its last byte, no sooner (W3.8.1)', async () => {
  for (let count = 0; count < 20; count++) {
    const [status, taken] = await upload({ client: count % 2 === 0 ? superagent : undefined })
    assert.equal(status, 201)
    assert.ok(taken >= HELD, `after ${taken} ms`)
  }
})

test('so it does when the upload is refused, before or amid its bytes (W3.8.1)', async () => {
  const refusals = [
    [401, { cookie: false }],
    [404, { path: `${context}/resource/nothing` }],
    [413, { chunks: ['x'.repeat(2000), 'more'] }],
  ] as const
  for (const [expected, how] of refusals) {
    const [status, taken] = await upload({ client: superagent, ...how })
    assert.equal(status, expected)
    assert.ok(taken >= HELD, `${status} after ${taken} ms`)
  }
})

test('nobody else waits, nor does superagent when it tells the length (W3.8.1)', async () => {
  for (const how of [
    { client: 'curl/8.0' },
    { client: 'Mozilla/5.0 node-superagent' },
    { client: superagent, length: 10 },
    { client: 'curl/8.0', cookie: false },
    { client: undefined, length: 10 },
    { client: undefined, headers: { 'accept-encoding': 'gzip' } },
    { client: undefined, headers: { connection: 'keep-alive' } },
  ]) {
    // A busy machine may be slow at any one of them, but not at all.
    // A refusal does not wait for the disk.
    const nowhere = { ...how, path: `${context}/resource/nothing` }
    let quickest = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < 300 && quickest >= HELD; tries++)
      quickest = Math.min(quickest, (await upload(nowhere))[1])
    assert.ok(quickest < HELD, `${JSON.stringify(how)}: never below ${quickest} ms`)
  }
})
