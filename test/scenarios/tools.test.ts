import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, textTerm, TITLE } from '../support/content.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const user = await newUser(service, admin)
const guest = service.visitor()

const multipart = 'multipart/form-data; boundary=edge'
const formOf = (content: string): string =>
  `--edge\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n${content}\r\n--edge--\r\n`
const echo = (visitor: Visitor, body: string, type = multipart): Promise<Answer> =>
  visitor.ask('echo', { method: 'POST', body, headers: { 'content-type': type } })

test('a file that is sent comes back as text in a text area, harmless as HTML (W3.13, D13.3)', async () => {
  const answer = await echo(user.visitor, formOf('</textarea><script>"\'&ä'))
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'/)
  assert.equal(answer.text, '<textarea>status:200\n&#60;/textarea&#62;&#60;script&#62;&#34;&#39;&#38;ä</textarea>')
})

test('a letter that is split between two packets comes back whole', async () => {
  const text = 'ä€😀'.repeat(60_000)
  assert.equal((await echo(user.visitor, formOf(text))).text, `<textarea>status:200\n${text}</textarea>`)
})

test('refusals of an echo keep the form that its pages read (W3.13)', async () => {
  for (const [answer, status] of [
    [await echo(guest, formOf('a')), 401],
    [await echo(user.visitor, '{}', 'application/json'), 415],
    [await echo(user.visitor, 'no form'), 400],
    [await echo(user.visitor, formOf('a'), 'multipart/form-data'), 400],
    [await echo(user.visitor, formOf('a').slice(0, -20)), 400],
    [await echo(user.visitor, formOf('a'.repeat(10 * 1024 * 1024 + 1))), 413],
  ] as const) {
    assert.equal(answer.status, status)
    assert.equal(answer.text, `<textarea>status:${status}\n</textarea>`)
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
  }
  assert.equal((await echo(user.visitor, formOf('a'.repeat(10 * 1024 * 1024)))).status, 200)
})

test('a page of another site cannot have a file echoed (D2.9)', async () => {
  const headers = { 'content-type': multipart, origin: 'https://evil.example' }
  const answer = await user.visitor.ask('echo', { method: 'POST', body: formOf('a'), headers })
  assertRefused(answer, 403, 'cross-site-request')
})

const validate = (visitor: Visitor, type: string, body: string): Promise<Answer> =>
  visitor.ask('validator', { method: 'POST', body, headers: { 'content-type': type } })

test('a graph is checked without being stored; what is wrong is 400 with the errors (W3.16)', async () => {
  for (const [type, good, bad] of [
    ['text/turtle', '<#a> <#b> <#c> .', '<#a> <#b'],
    ['application/json', '{"http://ex.org/": {}}', '{"ex": {}}'],
    ['application/rdf+json', '{}', '{'],
    ['application/ld+json', '{"@id": "a"}', '{"@context": "http://127.0.0.1/"}'],
    ['application/rdf+xml', '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', '<r:RDF'],
    ['application/trig', '<#a> <#b> <#c> .', '<#g> { <#a> <#b> <#c> }'],
    ['text/turtle', '<#a> <#b> <#c> .\n'.repeat(1000), `${'<#a> <#b> <#c> .\n'.repeat(1000)}<`],
  ] as const) {
    const right = await validate(user.visitor, type, good)
    assert.deepEqual(right.json(), { errors: [] }, `${type} ${good}`)
    const wrong = await validate(user.visitor, type, bad)
    assertRefused(wrong, 400, 'invalid-graph')
    assert.equal(wrong.json<{ errors: string[] }>().errors.length, 1, `${type} ${bad}`)
  }
  assert.match((await validate(user.visitor, 'text/turtle', '<#a> <#b> <#c> .\n<')).text, /line 2/)
  const empty = await validate(user.visitor, 'text/turtle', '')
  assertRefused(empty, 400, 'invalid-graph')
  assert.deepEqual(empty.json<{ errors: string[] }>().errors, ['The body is empty.'])
})

test('only signed-in users have graphs checked, and only graphs', async () => {
  assertRefused(await validate(guest, 'text/turtle', '<#a> <#b> <#c> .'), 401, 'not-signed-in')
  assertRefused(await validate(user.visitor, 'image/png', 'a'), 415, 'unsupported-type')
  assertRefused(await validate(user.visitor, 'text/turtle', ' '.repeat(8 * 2 ** 20 + 1)), 413, 'body-too-large')
})

test('there is no endpoint for SPARQL, and the response says so (D18.7)', async () => {
  const context = await newContext(admin)
  for (const path of ['sparql?query=ASK', `${context}/sparql`]) {
    assertRefused(await guest.get(path), 501, 'not-available')
    const answer = await admin.ask(path, { method: 'POST', body: 'query=ASK' })
    assertRefused(answer, 501, 'not-available')
    assert.match(answer.json<{ detail: string }>().detail, /SPARQL/)
  }
})

test('administrators of an entry see its indexed fields (W3.14)', async () => {
  const context = await newContext(admin)
  const resource = `${admin.base}${context}/resource/it`
  await newEntry(admin, context, '?id=it', { metadata: graphOf(resource, TITLE, textTerm('One'), textTerm('Two')) })
  const path = `${context}/entry/it/index`
  const document = (await admin.get(path)).json()
  assert.deepEqual(document['title'], ['One', 'Two'])
  assert.equal(document['uri'], `${admin.base}${context}/entry/it`)
  assert.equal(document['context'], admin.base + context)
  assert.match(String(document['created']), /^\d{4}-\d\d-\d\dT/)
  assertRefused(await user.visitor.get(path), 403, 'not-allowed')
  assertRefused(await guest.get(path), 401, 'not-signed-in')
  assertRefused(await admin.get(`${context}/entry/none/index`), 404, 'not-found')
})
