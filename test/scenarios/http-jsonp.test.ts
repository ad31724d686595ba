import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { assertRefused, graphOf, principal, STORE, textTerm, TITLE } from '../support/content.ts'
import type { Answer } from '../support/http-client.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.auth.http-basic': 'on', 'service.cors': 'on' } })
const admin = await service.admin()
const guest = service.visitor()
const context = await newContext(admin)
const open = await newEntry(admin, context, '', { metadata: graphOf('http://ex.org/', TITLE, textTerm('a\u2028b')) })
const metadata = `${context}/metadata/${open}`
const acl = graphOf(admin.base + metadata, `${STORE}read`, principal(admin, '_guest'))
assert.equal((await admin.put(`${context}/entry/${open}`, acl)).status, 204)
const hidden = await newEntry(admin, context)

/** What a page gets to see that loads the answer as a script. */
function run(answer: Answer, name: string): unknown {
  let seen: unknown
  runInNewContext(answer.text, { [name]: (value: unknown) => (seen = value) })
  return JSON.parse(JSON.stringify(seen))
}

test('with `callback` an answer in JSON is a call of that function (W3.0.4)', async () => {
  for (const path of [
    metadata,
    `${context}/entry/${open}`,
    'search?type=solr&query=title:nobody',
    'management/status',
  ]) {
    const plain = await guest.get(path, { accept: 'application/json' })
    const query = path.includes('?') ? '&' : '?'
    const answer = await guest.get(`${path}${query}format=application/json&callback=$done`)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['content-type'], 'application/javascript; charset=utf-8')
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.equal(answer.headers['content-length'], String(answer.bytes.length))
    assert.ok(answer.text.startsWith('/**/$done({'))
    assert.deepEqual(run(answer, '$done'), plain.json())
  }
  assert.doesNotMatch((await guest.get(`${metadata}?callback=f`)).text, /\u2028/)
  assert.ok((await guest.get(`${metadata}?callback=a.b_1`)).text.startsWith('/**/a.b_1('))
})

test('a page that loads a graph as a script gets JSON without saying so, also what another thread answers (W3.0.4)', async () => {
  const large = await newEntry(admin, context, '', {
    metadata: graphOf('http://example.org/x', TITLE, textTerm('x'.repeat(100_000))),
  })
  const entry = `${admin.base}${context}/entry/${large}`
  const read = graphOf(`${admin.base}${context}/metadata/${large}`, `${STORE}read`, principal(admin, '_guest'))
  assert.equal((await admin.put(entry.slice(admin.base.length), read)).status, 204)
  for (const path of ['metadata', 'merged-metadata', 'relations', 'entry'].map(part => `${context}/${part}/${large}`)) {
    const answer = await guest.get(`${path}?callback=f`, { accept: '*/*' })
    assert.equal(answer.headers['content-type'], 'application/javascript; charset=utf-8', path)
    assert.ok(answer.text.startsWith('/**/f({'), path)
  }
  const linked = await guest.get(`${context}/metadata/${large}?recursive=dcat&callback=f`, { accept: '*/*' })
  assert.equal(linked.headers['content-type'], 'application/javascript; charset=utf-8')
})

test('the response is a guest’s for every caller, because any page can read it (D13.2)', async () => {
  const basic = { authorization: `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}` }
  for (const answer of [
    await admin.get(`${context}/metadata/${hidden}?callback=f`),
    await guest.get(`${context}/metadata/${hidden}?callback=f`, basic),
  ]) {
    assertRefused(answer, 401, 'not-signed-in')
  }
  assert.equal((await guest.get(`${context}/metadata/${hidden}`, basic)).status, 200)
  const seen = run(await admin.get(`${context}/entry/${open}?includeAll&callback=f`), 'f') as Record<string, unknown>
  assert.deepEqual(seen['rights'], ['readmetadata'])
  assertRefused(await admin.get('management/status?extended&callback=f'), 401, 'not-signed-in')
  const stale = await guest.get(`${metadata}?callback=f`, { cookie: 'auth_token=nobody' })
  assert.equal(stale.status, 200)
  assert.equal(stale.headers['set-cookie'], undefined)
})

test('under /auth/ there is no such answer (D2.9)', async () => {
  for (const path of ['auth/user', 'auth/tokens', 'auth%2Fuser', 'store/auth/user', 'auth/us%65r']) {
    const answer = await admin.get(`${path}?callback=f`)
    assert.doesNotMatch(String(answer.headers['content-type']), /javascript/, path)
    assert.doesNotMatch(answer.text, /^\/\*/, path)
  }
  assert.equal((await admin.get('auth/user?callback=f')).json()['user'], 'admin')
})

test('only names of functions are taken', async () => {
  const names = ['', 'alert(1)//', 'a[0]', 'a..b', '1a', 'a b', '<script>', 'ä', 'a;', 'a.', '.a', 'f'.repeat(129)]
  for (const name of names) {
    const answer = await guest.get(`${metadata}?callback=${encodeURIComponent(name)}`)
    assertRefused(answer, 400, 'invalid-query', name)
  }
  assertRefused(await guest.get(`${metadata}?callback=f&callback=g`), 400, 'invalid-query')
})

test('texts, files and other syntaxes stay what they are, and writing takes no part', async () => {
  const text = await newEntry(admin, context, '?graphtype=string', { resource: '{"a": 1}' })
  const file = await newEntry(admin, context)
  const json = { 'content-type': 'application/json' }
  await admin.ask(`${context}/resource/${file}`, { method: 'PUT', body: '{"a": 1}', headers: json })
  for (const id of [text, file]) {
    const read = graphOf(`${admin.base}${context}/resource/${id}`, `${STORE}read`, principal(admin, '_guest'))
    assert.equal((await admin.put(`${context}/entry/${id}`, read)).status, 204)
    const answer = await guest.get(`${context}/resource/${id}?callback=f`)
    assert.equal(answer.text, '{"a": 1}')
    assert.doesNotMatch(String(answer.headers['content-type']), /javascript/)
  }
  const turtle = await guest.get(`${metadata}?callback=f&format=text/turtle`)
  assert.match(String(turtle.headers['content-type']), /^text\/turtle/)
  assert.equal((await admin.put(`${metadata}?callback=f`, {})).status, 204)
})

test('where it is switched off, `callback` means nothing', async t => {
  const plain = await startInProcess(t, { settings: { 'service.jsonp': 'off' } })
  const answer = await plain.visitor().get('management/status?callback=f(', { accept: 'application/json' })
  assert.equal(answer.status, 200)
  assert.match(String(answer.headers['content-type']), /^application\/json/)
  assert.equal(answer.json()['version'], '0.0.0')
})
