import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportOf, importInto } from '../support/archives.ts'
import { assertRefused, graphOf, principal, STORE, textTerm, TITLE } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { blobsOf } from '../support/blobs.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const owner = await newUser(service, admin)
const stranger = await newUser(service, admin)
const colleague = await newUser(service, admin)
assert.equal((await admin.put('_principals/resource/_admins', [colleague.id])).status, 204)

const SECRET = 'nobody else may read this'
const context = await newContext(admin, [owner.id])
await newEntry(admin, context, '?id=secret&graphtype=string', {
  metadata: graphOf('http://ex.org/', TITLE, textTerm(SECRET)),
  resource: SECRET,
})
const archive = await exportOf(admin, context)

const others = {
  'a guest': [service.visitor(), 401, 'not-signed-in'],
  'a stranger': [stranger.visitor, 403, 'not-allowed'],
  'who administers the context': [owner.visitor, 403, 'not-allowed'],
  'a member of _admins': [colleague.visitor, 403, 'not-allowed'],
} as const

for (const [who, [visitor, status, code]] of Object.entries(others)) {
  test(`${who} can neither export nor import; only _admin can (W4.4)`, async () => {
    const before = await blobsOf(service)
    for (const query of ['', '?metadataOnly']) {
      const answer = await visitor.get(`${context}/export${query}`)
      assertRefused(answer, status, code)
      assert.ok(!answer.text.includes(SECRET))
    }
    assertRefused(await visitor.ask(`${context}/export`, { method: 'GET' }), status, code)
    assertRefused(await importInto(visitor, context, archive), status, code)
    assert.deepEqual((await admin.get(context)).json(), ['secret'])
    assert.deepEqual(await blobsOf(service), before)
  })
}

test('the body of a refused import is not read: a client that waits for permission to send gets the error instead (D7.4)', async () => {
  const headers = { 'content-type': 'application/zip', 'content-length': '1000000', expect: '100-continue' }
  const answer = await stranger.visitor.ask(`${context}/import`, { method: 'POST', headers })
  assertRefused(answer, 403, 'not-allowed')
})

test('a page of another site cannot make an administrator import (D2.9)', async () => {
  const headers = { 'content-type': 'application/zip', origin: 'http://evil.example' }
  const answer = await admin.ask(`${context}/import`, { method: 'POST', body: archive, headers })
  assertRefused(answer, 403, 'cross-site-request')
})

test('system contexts are neither exported nor imported, so no password leaves by an archive (W3.16)', async () => {
  for (const system of ['_principals', '_contexts']) {
    assertRefused(await admin.get(`${system}/export`), 400, 'invalid-type')
    assertRefused(await importInto(admin, system, archive), 400, 'invalid-type')
  }
  assertRefused(await admin.get('nowhere/export'), 404, 'not-found')
  assertRefused(await importInto(admin, 'nowhere', archive), 404, 'not-found')
})

test('a body that is empty, encoded, a part of a zip, or none by its type, is refused', async () => {
  const post = (headers: Record<string, string>, body?: Buffer) =>
    admin.ask(`${context}/import`, { method: 'POST', headers, body })
  assertRefused(await post({ 'content-type': 'text/html' }, archive), 415, 'unsupported-type')
  assertRefused(await post({ 'content-type': 'application/zip', 'content-length': '0' }), 400, 'invalid-archive')
  const zip = { 'content-type': 'application/zip' }
  assertRefused(await post({ ...zip, 'content-encoding': 'gzip' }, archive), 415, 'unsupported-type')
  assertRefused(await post({ ...zip, 'content-range': 'bytes 0-9/20' }, archive), 400, 'invalid-value')
  assert.deepEqual((await admin.get(context)).json(), ['secret'])
})

test('exports and imports are on the audit log', async () => {
  const copy = await newContext(admin)
  assert.equal((await importInto(admin, copy, await exportOf(admin, context))).status, 200)
  const { events } = (await admin.get('management/audit?limit=2')).json<{ events: Array<Record<string, unknown>> }>()
  assert.deepEqual(
    events.map(({ event }) => event),
    ['context-imported', 'context-exported'],
  )
  assert.match(JSON.stringify(events[0]), new RegExp(`"context":"${copy}".*"entries":1`))
})

test('HEAD of an export returns its headers without a body', async () => {
  const answer = await admin.ask(`${context}/export`, { method: 'HEAD' })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'application/zip')
  assert.equal(answer.headers['content-disposition'], `attachment; filename=${context}.zip`)
  assert.equal(answer.bytes.length, 0)
})

test('an import is authorised by its sender, not by rights that the archive claims', async () => {
  const copy = await newContext(admin)
  const claims = graphOf(`${admin.base}_contexts/entry/${copy}`, `${STORE}write`, principal(admin, stranger.id))
  await newEntry(admin, context, '?id=claim', { metadata: claims })
  assert.equal((await importInto(admin, copy, await exportOf(admin, context))).status, 200)
  assertRefused(await stranger.visitor.delete(`_contexts/entry/${copy}`), 403, 'not-allowed')
  assertRefused(await stranger.visitor.get(`${copy}/metadata/secret`), 403, 'not-allowed')
})
