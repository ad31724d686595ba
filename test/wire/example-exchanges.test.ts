import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DCT, graphOf, RDF_TYPE, STORE, TITLE, uriTerm } from '../support/content.ts'
import { type Answer, ask, Visitor } from '../support/http-client.ts'
import { newContext, newUser, startProcess } from '../support/service.ts'

// The example exchanges (W7), request for request, except where a decision differs.
const settings = { 'service.nonadmin.group-context-creation': 'on', 'service.data.quota': 'on' }
const service = await startProcess({ after }, { settings })
const admin = await service.admin()
const { base } = service
const { id: nora, name, password, visitor } = await newUser(service, admin)
const context = await newContext(admin, [nora])
const json = { 'content-type': 'application/json; charset=UTF-8' }

const send = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
  visitor.ask(path, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: { ...(body === undefined ? {} : json), ...headers },
  })

/** The date of a change, which clients send back one second later. */
const dateOf = (answer: Answer, plus = 0): string =>
  new Date(Date.parse(String(answer.headers['last-modified'])) + plus * 1000).toUTCString()

test('signing in, with the form and the cookie as the Node client sends them (W7)', async () => {
  const login = await ask(`${base}auth/cookie`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: `auth_username=${encodeURIComponent(name.toUpperCase())}&auth_password=${encodeURIComponent(password)}&auth_maxage=86400&`,
  })
  assert.equal(login.status, 200, login.text)
  const [cookie = '', ...more] = login.headers['set-cookie'] ?? []
  assert.deepEqual(more, [])
  assert.match(cookie, /^auth_token=[\w-]{43,}; .*HttpOnly/)
  const headers = { cookie, 'x-requested-with': 'null', accept: 'application/json', connection: 'close' }
  const user = (await ask(`${base}auth/user`, { headers })).json()
  assert.deepEqual([user['user'], user['id'], user['uri']], [name, nora, `${base}_principals/entry/${nora}`])
  const logout = await ask(`${base}auth/logout`, { headers: { ...json, accept: 'application/json' } })
  assert.equal(logout.status, 204, 'without a cookie')
  assert.equal((await ask(`${base}auth/user`, { headers })).json()['user'], name, 'which ends nothing')
})

test('a context, an entry in a list of it, and the entry read (W7)', async () => {
  const info = graphOf(`${base}_newId`, RDF_TYPE, uriTerm(`${STORE}Context`))
  const made = await admin.post('_contexts?graphtype=context', { info })
  assert.equal(made.status, 201)
  assert.equal(made.headers.location, `${base}_contexts/entry/${String(made.json()['entryId'])}`)
  assert.ok(made.headers['last-modified'])
  assert.match(String(made.headers.etag), /^"\d+"$/)

  const list = await send('POST', `${context}?graphtype=list`, '')
  assert.equal(list.status, 400, 'text is no body of a creation')
  const listId = String((await send('POST', `${context}?graphtype=list`)).json()['entryId'])
  const title = { type: 'literal', value: 'Field notes', lang: 'en' }
  const entry = await send('POST', `${context}?list=${base}${context}/resource/${listId}`, {
    metadata: graphOf(`${base}${context}/resource/_newId`, TITLE, title),
  })
  assert.equal(entry.status, 201, entry.text)
  const id = String(entry.json()['entryId'])
  const r = `${base}${context}/resource/${id}`
  const e = `${base}${context}/entry/${id}`
  assert.equal(entry.headers.location, e)

  const read = await send('GET', `${context}/entry/${id}?includeAll&limit=50&sort=title&prio=List`)
  assert.match(String(read.headers['content-type']), /^application\/json/)
  const { info: reported, ...rest } = read.json<{ info: Record<string, Record<string, unknown>> }>()
  assert.deepEqual(rest, {
    entryId: id,
    metadata: graphOf(r, TITLE, title),
    relations: graphOf(`${base}${context}/resource/${listId}`, `${STORE}hasListMember`, uriTerm(e)),
    rights: ['administer'],
    resource: {},
  })
  assert.deepEqual(Object.keys(reported), [e])
  const { [`${DCT}created`]: created, [`${DCT}modified`]: modified, ...said } = reported[e] ?? {}
  assert.deepEqual(said, {
    [`${STORE}resource`]: [uriTerm(r)],
    [`${STORE}metadata`]: [uriTerm(`${base}${context}/metadata/${id}`)],
    [`${STORE}relation`]: [uriTerm(`${base}${context}/relations/${id}`)],
    [`${DCT}creator`]: [uriTerm(`${base}_principals/resource/${nora}`)],
    [`${DCT}contributor`]: [uriTerm(`${base}_principals/resource/${nora}`)],
  })
  assert.deepEqual(created, modified)
  assert.match(JSON.stringify(created), /"value":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","datatype":".*#dateTime"/)
})

test('metadata changed, and a change that comes too late (W7, W3.0.6)', async () => {
  const made = await send('POST', context)
  const path = `${context}/metadata/${String(made.json()['entryId'])}`
  const graph = graphOf('http://example.org/', TITLE, { type: 'literal', value: 'Field notes, part 2' })
  const changed = await send('PUT', path, graph, { 'if-unmodified-since': dateOf(made) })
  assert.equal(changed.status, 204, changed.text)
  assert.match(String(changed.headers.etag), /^"\d+"$/)
  const again = await send('PUT', path, graph, { 'if-unmodified-since': dateOf(changed, 1) })
  assert.equal(again.status, 204)
  const late = await send('PUT', path, graph, { 'if-unmodified-since': dateOf(made, -149) })
  assert.equal(late.status, 412)
  assert.equal((await send('PUT', path, graph, { 'if-unmodified-since': 'Invalid Date' })).status, 204)
})

test('a link reference, then its access list (W7)', async () => {
  const query = 'resource=http%3A%2F%2Fex.org%2Fpage&cached-external-metadata=http%3A%2F%2Fex.org%2Fpage.rdf'
  const made = await send('POST', `${context}?${query}&entrytype=linkreference`)
  const id = String(made.json()['entryId'])
  const info = {
    [`${base}${context}/entry/${id}`]: {
      [RDF_TYPE]: [uriTerm(`${STORE}LinkReference`)],
      [`${STORE}resource`]: [uriTerm('http://ex.org/page')],
      [`${STORE}externalMetadata`]: [uriTerm('http://ex.org/page.rdf')],
      [`${STORE}write`]: [uriTerm(`${base}_principals/resource/${nora}`)],
    },
    ...graphOf(`${base}${context}/metadata/${id}`, `${STORE}read`, uriTerm(`${base}_principals/resource/_users`)),
  }
  const put = await send('PUT', `${context}/entry/${id}`, info, { 'if-unmodified-since': dateOf(made) })
  assert.equal(put.status, 204, put.text)
  const { visitor: other } = await newUser(service, admin)
  assert.equal((await other.get(`${context}/metadata/${id}`)).status, 200)
  assert.equal((await new Visitor(base).get(`${context}/metadata/${id}`)).status, 401)
})

test('a list put into another order, and a file uploaded and fetched (W7)', async () => {
  const one = String((await send('POST', context)).json()['entryId'])
  const two = String((await send('POST', context)).json()['entryId'])
  const list = String((await send('POST', `${context}?graphtype=list`, { resource: [one, two] })).json()['entryId'])
  const put = await send('PUT', `${context}/resource/${list}`, [two, one])
  assert.equal(put.status, 204)
  assert.ok(put.headers['last-modified'])
  const { resource } = (await send('GET', `${context}/entry/${list}?includeAll&limit=50&sort=title&prio=List`)).json<{
    resource: Record<string, unknown>
  }>()
  const { children, ...page } = resource
  assert.equal((children as unknown[]).length, 2)
  assert.deepEqual(page, { size: 2, limit: 50, offset: 0, allUnsorted: [two, one] })

  const stored = await visitor.ask(`${context}/resource/${one}`, {
    method: 'PUT',
    body: 'not really a picture',
    headers: { 'content-type': 'image/png' },
  })
  assert.equal(stored.status, 201)
  assert.ok(stored.headers['last-modified'])
  const file = await visitor.get(`${context}/resource/${one}`, { accept: 'image/png' })
  assert.deepEqual([file.status, file.headers['content-type'], file.text], [200, 'image/png', 'not really a picture'])
  assert.match(String(file.headers['content-disposition']), new RegExp(`^inline; filename="?${one}"?$`))
  assert.match(String(file.headers['digest']), /^sha-256=[0-9a-f]{64}$/)
})

test('search, a group with its context, and a quota (W7)', async () => {
  const found = (await visitor.get(`search?type=solr&query=graphType:User+AND+username:${name}&limit=2`)).json<{
    resource: { children: Array<Record<string, unknown>> }
  }>()
  const { resource, ...numbers } = found
  assert.deepEqual(numbers, { results: 1, limit: 2, offset: 0, facetFields: [] })
  const [hit] = resource.children
  assert.deepEqual([hit?.['entryId'], hit?.['contextId'], hit?.['name']], [nora, '_principals', name])

  const group = await visitor.ask('_principals/groups?name=Survey%20team&contextId=survey', {
    method: 'POST',
    headers: { ...json, 'content-length': '0' },
  })
  assert.equal(group.status, 201, group.text)
  assert.ok(String(group.headers.location).startsWith(`${base}_principals/entry/`))
  assert.equal((await visitor.get('_contexts/entry/survey/name')).json()['name'], 'Survey team')

  assert.equal((await admin.put('survey/quota', { quota: 1_048_576 })).status, 200)
  const quota = { quota: 1_048_576, fillLevel: 0, hasDefaultQuota: false }
  assert.deepEqual((await visitor.get('survey/quota')).json(), quota)
  const id = String((await visitor.post('survey')).json()['entryId'])
  const big = await visitor.ask(`survey/resource/${id}`, { method: 'PUT', body: new Uint8Array(2_097_152) })
  assert.equal(big.status, 413)
  assert.deepEqual((await visitor.get('survey/quota')).json(), quota)
})
