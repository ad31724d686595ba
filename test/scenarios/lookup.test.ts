import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, principal, STORE, textTerm, TITLE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const reader = await newUser(service, admin)
const stranger = await newUser(service, admin)
const guest = service.visitor()

let pages = 0
const newPage = (): string => `http://ex.org/page?n=${++pages}&x=ä`
const lookupPath = (uri: string, more = '', context?: string): string =>
  `${context === undefined ? '' : `${context}/`}lookup?uri=${encodeURIComponent(uri)}${more}`

/** A link with a title, that these may read. */
async function newLink(context: string, uri: string, title: string, readers: readonly string[] = []): Promise<string> {
  const id = await newEntry(admin, context, `?entrytype=link&resource=${encodeURIComponent(uri)}`, {
    metadata: graphOf(uri, TITLE, textTerm(title)),
  })
  const read = readers.map(who => principal(admin, who))
  const info = { [`${admin.base}${context}/metadata/${id}`]: { [`${STORE}read`]: read } }
  if (readers.length > 0) assert.equal((await admin.put(`${context}/entry/${id}`, info)).status, 204)
  return id
}

async function titleFor(visitor: Visitor, path: string): Promise<string | number> {
  const answer = await visitor.get(path)
  return answer.status === 200 ? (/"One|"Two|"Three/.exec(answer.text)?.[0].slice(1) ?? '') : answer.status
}

test('metadata are found by the URI of what they are about, in a context or in all (W3.12)', async () => {
  const [one, two] = [await newContext(admin), await newContext(admin)]
  const page = newPage()
  await newLink(one, page, 'One')
  assert.deepEqual((await admin.get(lookupPath(page, '', one))).json(), graphOf(page, TITLE, textTerm('One')))
  assert.deepEqual((await admin.get(lookupPath(page))).json(), graphOf(page, TITLE, textTerm('One')))
  assertRefused(await admin.get(lookupPath(page, '', two)), 404, 'not-found')
  assertRefused(await admin.get(lookupPath(`${page}y`)), 404, 'not-found')
  assertRefused(await admin.get(lookupPath(page, '', 'nowhere')), 404, 'not-found')
  assert.match((await admin.get(lookupPath(page, '&format=text/turtle'))).text, /dcterms:title "One"/)
  assertRefused(await admin.get(lookupPath(page, '&format=image/png')), 406, 'not-acceptable')
})

test('a context may be named by its name', async () => {
  const context = await newContext(admin)
  assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name: 'Lookups' })).status, 204)
  const page = newPage()
  await newLink(context, page, 'One')
  assert.equal(await titleFor(admin, lookupPath(page, '', 'Lookups')), 'One')
  const id = await newEntry(admin, context, '', { metadata: graphOf('http://ex.org/', TITLE, textTerm('Two')) })
  assert.equal(await titleFor(admin, lookupPath(`${admin.base}Lookups/resource/${id}`)), 'Two')
})

test('of several entries the oldest that the caller may read is found; others are not revealed (D1.5, D13.1)', async () => {
  const context = await newContext(admin)
  const page = newPage()
  await newLink(context, page, 'One')
  await newLink(context, page, 'Two', [reader.id])
  for (const where of [undefined, context]) {
    const path = lookupPath(page, '', where)
    assert.equal(await titleFor(admin, path), 'One')
    assert.equal(await titleFor(reader.visitor, path), 'Two')
    assert.equal(await titleFor(stranger.visitor, path), 404)
    assert.equal(await titleFor(guest, path), 404)
  }
  const unknown = newPage()
  const hidden = await guest.get(lookupPath(page))
  const missing = await guest.get(lookupPath(unknown))
  assert.equal(hidden.json()['detail'], `There is no metadata of ${page} that you may read.`)
  assert.equal(missing.json()['detail'], `There is no metadata of ${unknown} that you may read.`)
  await newLink(context, page, 'Three', ['_guest'])
  assert.equal(await titleFor(guest, lookupPath(page)), 'Three')
  assert.equal(await titleFor(guest, `${lookupPath(page)}&ignoreAuth`), 'Three')
})

test('an entry is found by its own resource before links to it, and so are users and contexts', async () => {
  const context = await newContext(admin)
  const id = await newEntry(admin, context, '', { metadata: graphOf('http://ex.org/', TITLE, textTerm('One')) })
  const own = `${admin.base}${context}/resource/${id}`
  await newLink(context, own, 'Two')
  assert.equal(await titleFor(admin, lookupPath(own, '', context)), 'One')
  const other = await newContext(admin)
  await newLink(other, own, 'Three')
  assert.equal(await titleFor(admin, lookupPath(own, '', other)), 'Three')
  assert.equal((await reader.visitor.get(lookupPath(`${admin.base}_principals/resource/${reader.id}`))).status, 200)
  assert.equal((await guest.get(lookupPath(`${admin.base}_principals/resource/${reader.id}`))).status, 404)
  assert.equal((await admin.get(lookupPath(`${admin.base}${context}`))).status, 200)
  assert.equal((await admin.get(lookupPath(`${admin.base}${context}/entry/${id}`))).status, 404)
})

test('`scope` chooses the metadata kept here, from elsewhere, or both', async () => {
  const context = await newContext(admin)
  const page = newPage()
  const query = `&resource=${encodeURIComponent(page)}&cached-external-metadata=http%3A%2F%2Fex.org%2Fmeta`
  await newEntry(admin, context, `?entrytype=linkreference${query}`, {
    metadata: graphOf(page, TITLE, textTerm('One')),
    'cached-external-metadata': graphOf(page, TITLE, textTerm('Two')),
  })
  const titles = async (scope: string) => {
    const graph = (await admin.get(lookupPath(page, scope, context))).json<ReturnType<typeof graphOf>>()
    return graph[page]?.[TITLE]?.map(({ value }) => value)
  }
  assert.deepEqual(await titles('&scope=local'), ['One'])
  assert.deepEqual(await titles('&scope=external'), ['Two'])
  assert.deepEqual(await titles(''), ['One', 'Two'])
  assert.deepEqual(await titles('&scope=all'), ['One', 'Two'])
  const plain = newPage()
  await newLink(context, plain, 'One')
  assertRefused(await admin.get(lookupPath(plain, '&scope=external')), 404, 'not-found')
  assertRefused(await admin.get(lookupPath(page, '&scope=both')), 400, 'invalid-query')
})

test('metadata of another entry do not come out by way of a reference to it (W3.6)', async () => {
  const context = await newContext(admin)
  const secret = await newEntry(admin, context, '', { metadata: graphOf('http://ex.org/', TITLE, textTerm('One')) })
  const source = encodeURIComponent(`${admin.base}${context}/metadata/${secret}`)
  const page = newPage()
  const query = `?entrytype=reference&resource=${encodeURIComponent(page)}&cached-external-metadata=${source}`
  const id = await newEntry(admin, context, query)
  const info = { [`${admin.base}${context}/entry/${id}`]: { [`${STORE}write`]: [principal(admin, '_guest')] } }
  assert.equal((await admin.put(`${context}/entry/${id}`, info)).status, 204)
  assert.equal(await titleFor(admin, lookupPath(page)), 'One')
  assert.equal(await titleFor(guest, lookupPath(page)), 404)
})

test('without a URI: 400; an address in the inner form of the service is none', async () => {
  for (const query of ['', '?uri=', '?uri=.%2F_principals%2Fresource%2F_admin', '?uri=a&uri=b']) {
    assertRefused(await admin.get(`lookup${query}`), 400, 'invalid-query', query)
  }
})

test('ETags differ between entries, even for an older state (RFC 9110 8.8.3)', async () => {
  const context = await newContext(admin)
  const page = newPage()
  const first = await newLink(context, page, 'One')
  await newLink(context, page, 'Two')
  assert.equal((await admin.put(`${context}/metadata/${first}`, graphOf(page, TITLE, textTerm('Three')))).status, 204)
  const path = lookupPath(page, '', context)
  const { headers } = await admin.get(path)
  const conditions = { 'if-none-match': String(headers.etag), 'if-modified-since': String(headers['last-modified']) }
  assert.equal((await admin.get(path, conditions)).status, 304)
  assert.equal((await admin.get(`${path}&format=text/turtle`, conditions)).status, 200)
  assert.equal((await admin.delete(`${context}/entry/${first}`)).status, 204)
  assert.equal((await admin.get(path, conditions)).status, 200)
  assert.equal((await admin.get(path, { 'if-modified-since': String(headers['last-modified']) })).status, 200)
})

test('long URIs with the same beginning are distinguished', async () => {
  const context = await newContext(admin)
  const long = `http://ex.org/${'ö'.repeat(600)}`
  await newLink(context, `${long}1`, 'One')
  await newLink(context, `${long}2`, 'Two')
  assert.equal(await titleFor(admin, lookupPath(`${long}2`)), 'Two')
  assert.equal(await titleFor(admin, lookupPath(long)), 404)
})
