import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const settings = { 'service.data.quota': 'on', 'service.data.max-file-size': '1m' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()

const entriesOf = async (context: string): Promise<readonly string[]> => (await admin.get(context)).json<string[]>()
const levelOf = async (context: string): Promise<unknown> => (await admin.get(`${context}/quota`)).json()['fillLevel']

const file = (body: string | Readable, name = 'notes.txt') => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'text/plain', 'content-disposition': `attachment; filename="${name}"` },
})

test('an entry and its file come in one request: described, counted, readable (D14.6)', async () => {
  const context = await newContext(admin)
  const answer = await admin.ask(`${context}?file&id=one`, file('hello'))
  assert.equal(answer.status, 201, answer.text)
  const sha256 = createHash('sha256').update('hello').digest('hex')
  assert.deepEqual(answer.json(), { entryId: 'one', format: 'text/plain', size: 5, sha256 })
  assert.equal(answer.headers.location, `${service.base}${context}/entry/one`)
  const read = await admin.get(`${context}/resource/one`)
  assert.deepEqual([read.text, read.headers['content-type']], ['hello', 'text/plain; charset=utf-8'])
  assert.match(read.headers['content-disposition'] ?? '', /notes\.txt/)
  assert.equal(await levelOf(context), 5)
  const found = await admin.get(
    `search?type=solr&query=context:${encodeURIComponent(`${service.base}${context}`.replaceAll(/[:/]/g, '\\$&'))}`,
  )
  assert.equal(found.json()['results'], 1, found.text)
})

test('a form with a file does the same', async () => {
  const context = await newContext(admin)
  const form = new FormData()
  form.append('file', new Blob(['from a form'], { type: 'text/csv' }), 'table.csv')
  const { headers, body } = new Request(service.base, { method: 'POST', body: form })
  const type = headers.get('content-type') ?? ''
  const bytes = new Uint8Array(await new Response(body).arrayBuffer())
  const answer = await admin.ask(`${context}?file`, { method: 'POST', body: bytes, headers: { 'content-type': type } })
  assert.equal(answer.status, 201, answer.text)
  assert.equal(answer.json()['format'], 'text/csv')
})

test('an upload that is refused or breaks off leaves no entry and no byte', async () => {
  const context = await newContext(admin)
  assert.equal((await admin.ask(`${context}?file`, file('x'.repeat(1_048_577)))).status, 413)
  await admin.put(`${context}/quota`, { quota: 3 })
  assert.equal((await admin.ask(`${context}?file`, file('four'))).status, 413)
  assert.equal((await admin.ask(`${context}?file`, file(Readable.from(['fo', 'ur'])))).status, 413, 'without a length')
  const cookie = `auth_token=${admin.cookie}`
  const broken = request(`${service.base}${context}?file`, { method: 'POST', headers: { cookie, 'content-length': 2 } })
  const closed = new Promise(resolve => broken.on('close', resolve))
  broken.on('error', () => undefined)
  broken.write('x')
  broken.once('socket', socket => socket.once('connect', () => setImmediate(() => broken.destroy())))
  await closed
  assert.deepEqual([await entriesOf(context), await levelOf(context)], [[], 0])
})

test('only who may create there, only what can hold a file, only a free id: nothing is left of the others', async () => {
  const context = await newContext(admin)
  const { visitor } = await newUser(service, admin)
  assert.equal((await visitor.ask(`${context}?file`, file('x'))).status, 403)
  assert.equal((await service.visitor().ask(`${context}?file`, file('x'))).status, 401)
  assert.equal((await admin.ask(`${context}?file&graphtype=string`, file('x'))).status, 400)
  assert.equal((await admin.ask(`${context}?file&entrytype=link&resource=http://a.example/`, file('x'))).status, 400)
  assert.equal((await admin.ask(`${context}?file&id=taken`, file('x'))).status, 201)
  assert.equal((await admin.ask(`${context}?file&id=taken`, file('yy'))).status, 409)
  assert.equal((await admin.ask(`_principals?file`, file('x'))).status, 201, 'as any local entry')
  assert.deepEqual([await entriesOf(context), await levelOf(context)], [['taken'], 1])
})

test('the file joins the list that is named, with its rights', async () => {
  const context = await newContext(admin)
  await admin.post(`${context}?graphtype=list&id=folder`)
  const list = encodeURIComponent(`${service.base}${context}/resource/folder`)
  assert.equal((await admin.ask(`${context}?file&id=one&list=${list}`, file('x'))).status, 201)
  assert.deepEqual((await admin.get(`${context}/resource/folder`)).json(), ['one'])
})
