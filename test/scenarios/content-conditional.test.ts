import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, modifiedOf, readEntry, textTerm, TITLE } from '../support/content.ts'
import type { Answer } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)

const put = (path: string, headers: Record<string, string>): Promise<Answer> =>
  admin.ask(path, { method: 'PUT', json: graphOf('http://ex.org/', TITLE, textTerm('a')), headers })
const date = (time: number): string => new Date(time).toUTCString()
const SECOND = 1000

/** A new graph entry, made 300 ms after a full second. */
async function atFraction(): Promise<{ id: string; second: number }> {
  const now = service.system.now()
  const second = Math.ceil(now / SECOND + 1) * SECOND
  service.system.pass(second + 300 - now)
  return { id: await newEntry(admin, context, '?graphtype=graph'), second }
}

for (const kind of ['entry', 'metadata', 'resource']) {
  test(`PUT ${kind}: If-Unmodified-Since of the entry's own second holds, a second older does not (W3.0.6)`, async () => {
    const { id, second } = await atFraction()
    const path = `${context}/${kind}/${id}`
    assertRefused(await put(path, { 'if-unmodified-since': date(second - SECOND) }), 412, 'precondition-failed')
    assert.equal((await put(path, { 'if-unmodified-since': date(second) })).status, 204)
    assert.equal((await put(path, { 'if-unmodified-since': date(second + SECOND) })).status, 204)
    service.system.pass(5 * SECOND)
    assert.equal((await put(path, {})).status, 204)
    assertRefused(await put(path, { 'if-unmodified-since': date(second + SECOND) }), 412, 'precondition-failed')
  })

  test(`PUT ${kind}: a client that adds a second to Last-Modified keeps writing (W3.0.6)`, async () => {
    const { id } = await atFraction()
    const path = `${context}/${kind}/${id}`
    let known = Date.parse(modifiedOf(admin, context, await readEntry(admin, context, id)))
    for (const pause of [0, 10, 700, 2000]) {
      service.system.pass(pause)
      const answer = await put(path, { 'if-unmodified-since': date(known) })
      assert.equal(answer.status, 204, answer.text)
      known = Date.parse(String(answer.headers['last-modified'])) + SECOND
    }
  })

  test(`PUT ${kind}: If-Match and If-None-Match are compared with the ETag (RFC 9110)`, async () => {
    const { id } = await atFraction()
    const path = `${context}/${kind}/${id}`
    const etag = String((await admin.get(path)).headers.etag)
    for (const header of ['"0"', `W/${etag}`, '"a", "b"'])
      assertRefused(await put(path, { 'if-match': header }), 412, 'precondition-failed', header)
    for (const header of [etag, '*', `W/${etag}`])
      assertRefused(await put(path, { 'if-none-match': header }), 412, 'precondition-failed', header)
    const changed = await put(path, { 'if-match': `"0", ${etag}`, 'if-none-match': '"0"' })
    assert.equal(changed.status, 204)
    assert.notEqual(changed.headers.etag, etag)
    assertRefused(await put(path, { 'if-match': etag }), 412, 'precondition-failed')
    assert.equal((await put(path, { 'if-match': '*' })).status, 204)
  })

  test(`GET ${kind}: 304 without a body for a client with the current state (RFC 9110)`, async () => {
    const { id, second } = await atFraction()
    const path = `${context}/${kind}/${id}`
    const { headers } = await admin.get(path)
    const etag = String(headers.etag)
    for (const condition of [
      { 'if-none-match': etag },
      { 'if-none-match': `"0", W/${etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': String(headers['last-modified']) },
      { 'if-modified-since': date(second + 60 * SECOND) },
    ]) {
      const answer = await admin.get(path, condition)
      assert.equal(answer.status, 304, JSON.stringify(condition))
      assert.equal(answer.bytes.length, 0)
      assert.equal(answer.headers.etag, etag)
    }
    for (const condition of [
      { 'if-none-match': '"0"' },
      { 'if-none-match': '"0"', 'if-modified-since': date(second) },
      { 'if-modified-since': date(second - SECOND) },
      { 'if-modified-since': 'Invalid Date' },
    ])
      assert.equal((await admin.get(path, condition)).status, 200, JSON.stringify(condition))
    assertRefused(await admin.get(path, { 'if-match': '"0"' }), 412, 'precondition-failed')
  })
}

test('a date that is none is ignored (W3.0.2)', async () => {
  const { id } = await atFraction()
  assert.equal((await put(`${context}/metadata/${id}`, { 'if-unmodified-since': 'Invalid Date' })).status, 204)
})

test('DELETE is conditional too, and a refused one deletes nothing', async () => {
  const { id } = await atFraction()
  const path = `${context}/entry/${id}`
  const remove = (headers: Record<string, string>) => admin.ask(path, { method: 'DELETE', headers })
  assertRefused(await remove({ 'if-match': '"0"' }), 412, 'precondition-failed')
  assertRefused(await remove({ 'if-unmodified-since': date(0) }), 412, 'precondition-failed')
  assert.equal((await remove({ 'if-match': String((await admin.get(path)).headers.etag) })).status, 204)
})

test('of ten writers with one ETag one succeeds, the others are refused (RFC 9110)', async () => {
  const { id } = await atFraction()
  const path = `${context}/metadata/${id}`
  const etag = String((await admin.get(path)).headers.etag)
  const answers = await Promise.all(Array.from({ length: 10 }, () => put(path, { 'if-match': etag })))
  assert.equal(answers.filter(answer => answer.status === 204).length, 1)
  assert.equal(answers.filter(answer => answer.status === 412).length, 9)
})

test('every change has an ETag of its own, however fast they come (W3.0.5)', async () => {
  const { id } = await atFraction()
  const seen = new Set<string>()
  for (let change = 0; change < 5; change++) seen.add(String((await put(`${context}/metadata/${id}`, {})).headers.etag))
  assert.equal(seen.size, 5)
})

test('what changes without its entry is never 304: a context after a new entry, a group, a user (D18.8)', async () => {
  const unchanged = async (path: string) => {
    const { headers } = await admin.get(path)
    return async () =>
      (
        await admin.get(path, {
          'if-none-match': String(headers.etag),
          'if-modified-since': date(service.system.now()),
        })
      ).status
  }
  const place = await newContext(admin)
  const ofContext = await unchanged(`_contexts/resource/${place}`)
  await newEntry(admin, place)
  assert.equal(await ofContext(), 200)
  const member = await newUser(service, admin)
  const group = await newEntry(admin, '_principals', '?graphtype=group', {
    resource: { name: `group-of-${member.id}` },
  })
  assert.equal((await admin.put(`_principals/resource/${group}`, [member.id])).status, 204)
  const ofGroup = await unchanged(`_principals/resource/${group}`)
  assert.equal((await admin.put(`_principals/resource/${member.id}`, { name: `renamed-${member.id}` })).status, 204)
  assert.equal(await ofGroup(), 200)
  const ofUser = await unchanged(`_principals/resource/${member.id}`)
  for (let guess = 0; guess < 5; guess++) await service.visitor().signIn(`renamed-${member.id}`, 'Wrong-Guess-77')
  assert.equal(await ofUser(), 200)
  assert.ok((await admin.get(`_principals/resource/${member.id}`)).json()['disabledUntil'])
})
