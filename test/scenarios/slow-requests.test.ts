import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import { logSlowRequests } from '../../src/features/telemetry/slow-requests.ts'
import { startFakeS3 } from '../support/fake-s3.ts'
import { keptLog } from '../support/kept-log.ts'
import { newContext, newEntry, type Process, startProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

interface SlowLine {
  readonly msg: string
  readonly level: string
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
  readonly waiting: number
  readonly database: number
  readonly files: number
  readonly serialising: number
  readonly client: number
}

const slowIn = (service: Process): SlowLine[] => service.log<SlowLine>().filter(({ msg }) => msg === 'slow request')

/** The line of the request with this id, which comes after its response. */
async function lineOf(service: Process, id: unknown): Promise<SlowLine> {
  const find = (): SlowLine | undefined => slowIn(service).find(({ requestId }) => requestId === id)
  await eventually('the slow request is in the log', () => find() !== undefined)
  return find() ?? assert.fail()
}

test('a slow request is in the log with its route, its status and its parts', async t => {
  const service = await startProcess(t, {
    settings: { 'service.log.slow': '1ms', 'service.log.level': 'warn' },
  })
  const admin = service.visitor()
  const signIn = await admin.signIn('admin', 'wrong-Password-12')
  const line = await lineOf(service, signIn.headers['x-request-id'])
  const { level, method, route, status } = line
  assert.deepEqual(
    { level, method, route, status },
    { level: 'warn', method: 'POST', route: '/auth/cookie', status: 401 },
  )
  const parts = [line.waiting, line.database, line.files, line.serialising, line.client]
  // Each is rounded.
  assert.ok(parts.reduce((sum, part) => sum + part, 0) <= line.ms + 3, JSON.stringify(line))
  assert.ok(parts.every(Number.isInteger))
})

test('a file that the store of files keeps back makes a request slow by its time for files', async t => {
  const s3 = await startFakeS3(t)
  const service = await startProcess(t, {
    settings: { 'service.data.store': 's3://bucket', 'service.log.slow': '20ms' },
    env: { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_ENDPOINT_URL_S3: s3.url },
  })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, Buffer.alloc(1000))).status, 201)
  const refused = { status: 503, body: '' }
  // The client of the store tries again, ever more slowly.
  let tries = 0
  s3.intercept = ({ method }) => (method === 'GET' && tries++ < 2 ? refused : undefined)
  const answer = await admin.get(path)
  assert.equal(answer.status, 200)
  const { route, files, ms, client } = await lineOf(service, answer.headers['x-request-id'])
  assert.equal(route, '/:context/resource/:entry')
  assert.ok(files > (ms - client) / 2, JSON.stringify({ files, ms, client }))
})

test('the time that a client takes to send a body is its own', async t => {
  const service = await startProcess(t, { settings: { 'service.log.slow': '1ms' } })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  const headers = { cookie: `auth_token=${admin.cookie}`, 'content-length': 2 }
  const sent = request(new URL(path, service.base), { method: 'PUT', headers })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.write('x')
  // The body waits for passwords to be hashed.
  for (let count = 0; count < 4; count++) await service.admin()
  sent.end('x')
  const [response] = await answered
  assert.equal(response.resume().statusCode, 201)
  // How long the disk takes is open.
  const line = await lineOf(service, response.headers['x-request-id'])
  assert.ok(line.client > line.waiting + line.serialising, JSON.stringify(line))
})

test('the time of the client does not make a request slow, and with 0 none is slow', () => {
  const { log, said } = keptLog()
  let limit = 500
  const note = logSlowRequests(log, () => limit)
  const answered = { id: 'a-1', method: 'GET', route: undefined, status: 200 }
  const spent = { waiting: 0, database: 0.4, files: 0, serialising: 0, client: 600 }
  note({ ...answered, ms: 1000, spent })
  assert.deepEqual(said(), [])
  note({ ...answered, ms: 1100, spent })
  const request = { requestId: 'a-1', method: 'GET', route: 'none', status: 200 }
  assert.deepEqual(said(), [['warn', 'slow request', { ...request, ms: 1100, ...spent, database: 0 }]])
  limit = 0
  note({ ...answered, ms: 9000, spent })
  assert.deepEqual(said(), [])
})

test('a heavy read has its parts although another thread answers it', async t => {
  const service = await startProcess(t, { settings: { 'service.log.slow': '1ms' } })
  const admin = await service.admin()
  const answer = await admin.get('search?type=solr&query=title:x*')
  assert.equal(answer.status, 200)
  const { route, database } = await lineOf(service, answer.headers['x-request-id'])
  assert.equal(route, '/search')
  assert.ok(database > 0)
})
