import assert from 'node:assert/strict'
import { type OutgoingHttpHeaders, request as httpRequest } from 'node:http'
import { after, mock, test } from 'node:test'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.max-file-size': '1k' } })
const admin = await service.admin()
const context = await newContext(admin)
const entry = await newEntry(admin, context)

interface Sent {
  /** The `User-Agent`; `undefined` sends none, but the other headers of superagent. */
  readonly client: string | undefined
  readonly headers?: OutgoingHttpHeaders
  /** `undefined`: chunked. */
  readonly length?: number
  readonly path?: string
  readonly cookie?: boolean
  readonly chunks?: readonly string[]
}

const HELD = 21
/** Whether a timer of `HELD` milliseconds was set and has fired since the last upload began. */
let held: 'no' | 'waiting' | 'over' = 'no'
const realSetTimeout = globalThis.setTimeout
mock.method(globalThis, 'setTimeout', (callback: () => void, delay?: number) => {
  if (delay !== HELD) return realSetTimeout(callback, delay)
  held = 'waiting'
  return realSetTimeout(() => {
    held = 'over'
    callback()
  }, delay)
})

/** The status of the response, and whether the service had held it back when it arrived. */
function upload({
  client,
  length,
  path,
  headers,
  cookie = true,
  chunks = ['some ', 'bytes'],
}: Sent): Promise<[number, typeof held]> {
  return new Promise((resolve, reject) => {
    held = 'no'
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
      const outcome: [number, typeof held] = [response.statusCode ?? 0, held]
      response.resume()
      response.on('end', () => resolve(outcome))
    })
    for (const chunk of chunks.slice(0, -1)) request.write(chunk)
    request.end(chunks.at(-1))
  })
}

const superagent = 'node-superagent/10.3.0'

test('superagent on Node gets the response to a chunked upload not before 20 ms have passed (W3.8.1, D12.1)', async () => {
  for (const client of [superagent, undefined]) assert.deepEqual(await upload({ client }), [201, 'over'])
})

test('the same holds when the upload is refused, before or during its bytes (W3.8.1)', async () => {
  const refusals = [
    [401, { cookie: false }],
    [404, { path: `${context}/resource/nothing` }],
    [413, { chunks: ['x'.repeat(2000), 'more'] }],
  ] as const
  for (const [expected, how] of refusals) {
    assert.deepEqual(await upload({ client: superagent, ...how }), [expected, 'over'])
  }
})

test('other clients do not wait, nor does superagent when it sends the length (W3.8.1)', async () => {
  for (const how of [
    { client: 'curl/8.0' },
    { client: 'Mozilla/5.0 node-superagent' },
    { client: superagent, length: 10 },
    { client: 'curl/8.0', cookie: false },
    { client: undefined, length: 10 },
    { client: undefined, headers: { 'accept-encoding': 'gzip' } },
    { client: undefined, headers: { connection: 'keep-alive' } },
  ]) {
    for (const path of [`${context}/resource/${entry}`, `${context}/resource/nothing`]) {
      assert.equal((await upload({ ...how, path }))[1], 'no', JSON.stringify({ ...how, path }))
    }
  }
})
