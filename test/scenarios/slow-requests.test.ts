import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { startFakeS3 } from '../support/fake-s3.ts'
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

const slowIn = (service: Process): SlowLine[] =>
  service
    .output()
    .split('\n')
    .filter(text => text.startsWith('{'))
    .map(text => JSON.parse(text) as SlowLine)
    .filter(({ msg }) => msg === 'slow request')

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
    settings: { 'service.data.store': `${s3.url}bucket`, 'service.log.slow': '200ms' },
    env: { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' },
  })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, Buffer.alloc(1000))).status, 201)
  const refused = { status: 503, body: '' }
  // The client of the store tries again, ever more slowly.
  let tries = 0
  s3.intercept = ({ method }) => (method === 'GET' && tries++ < 3 ? refused : undefined)
  const answer = await admin.get(path)
  assert.equal(answer.status, 200)
  const { route, files, ms, client } = await lineOf(service, answer.headers['x-request-id'])
  assert.equal(route, '/:context/resource/:entry')
  assert.ok(files > (ms - client) / 2, JSON.stringify({ files, ms, client }))
})

test('a request whose client is slow is not slow, and with 0 none is', async t => {
  const limits = ['400ms', '0']
  for (const limit of limits) {
    const service = await startProcess(t, { settings: { 'service.log.slow': limit } })
    const admin = await service.admin()
    const context = await newContext(admin)
    const path = `${context}/resource/${await newEntry(admin, context)}`
    const status = await new Promise(resolve => {
      const sent = request(
        new URL(path, service.base),
        { method: 'PUT', headers: { cookie: `auth_token=${admin.cookie}`, 'content-length': 20 } },
        response => resolve(response.resume().statusCode),
      )
      let left = 20
      const timer = setInterval(() => {
        if (left-- > 0) return void sent.write('x')
        clearInterval(timer)
        sent.end()
      }, 30)
    })
    assert.equal(status, 201)
    const lines = slowIn(service).filter(({ method }) => method === 'PUT')
    assert.deepEqual(lines, [])
  }
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
