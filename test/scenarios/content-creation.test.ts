import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertRefused,
  DCT,
  graphOf,
  principal,
  RDF_TYPE,
  readEntry,
  STORE,
  textTerm,
  TITLE,
  uriTerm,
  valuesOf,
} from '../support/content.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)

test('201 with an absolute Location that can be loaded at once, and the new id (W3.2.1)', async () => {
  const created = await admin.post(context)
  assert.equal(created.status, 201)
  const { entryId } = created.json<{ entryId: string }>()
  assert.equal(created.headers.location, `${admin.base}${context}/entry/${entryId}`)
  assert.match(String(created.headers.etag), /^"\d+"$/)
  assert.ok(created.headers['last-modified'])
  const entry = await readEntry(admin, context, entryId)
  const e = `${context}/entry/${entryId}`
  assert.deepEqual(valuesOf(admin, entry, e, `${DCT}creator`), [`${admin.base}_principals/resource/_admin`])
  assert.deepEqual(valuesOf(admin, entry, e, `${DCT}contributor`), [`${admin.base}_principals/resource/_admin`])
  assert.deepEqual(valuesOf(admin, entry, e, `${DCT}created`), valuesOf(admin, entry, e, `${DCT}modified`))
  assert.deepEqual(valuesOf(admin, entry, e, `${STORE}write`), [])
})

test('a JSON content type with an empty body creates too (W3.0.1)', async () => {
  const headers = { 'content-type': 'application/json; charset=UTF-8', 'content-length': '0' }
  assert.equal((await admin.ask(context, { method: 'POST', headers })).status, 201)
})

test('ids count up, skip those taken, and a chosen one does not move the counter (W1.6)', async () => {
  const other = await newContext(admin)
  assert.equal(await newEntry(admin, other), '1')
  assert.equal(await newEntry(admin, other, '?id=3'), '3')
  assert.equal(await newEntry(admin, other), '2')
  assert.equal(await newEntry(admin, other), '4')
  assert.equal((await admin.delete(`${other}/entry/4`)).status, 204)
  assert.equal(await newEntry(admin, other), '5')
  assert.equal(await newEntry(admin, other, '?id=Case_and-Dash'), 'Case_and-Dash')
})

test('a taken id is 409, a bad or reserved one 400, and nothing is created (W1.6)', async () => {
  const before = (await admin.get(context)).json<string[]>()
  assertRefused(await admin.post(`${context}?id=${before[0]}`), 409, 'id-taken')
  for (const id of ['', 'a%20b', 'a.b', '%C3%A4', 'a%2Fb', '..', '_newId', 'x'.repeat(129)])
    assertRefused(await admin.post(`${context}?id=${id}`), 400, 'invalid-id', id)
  for (const id of ['auth', 'AUTH', 'search', 'management', 'store', '_new', '_contexts2'])
    assertRefused(await admin.post(`_contexts?graphtype=context&id=${id}`), 400, 'invalid-id', id)
  assertRefused(await admin.post('_principals?graphtype=user&id=_root'), 400, 'invalid-id')
  assert.deepEqual((await admin.get(context)).json(), before)
})

test('_newId stands for the new id in every place of the body and in the resource (W1.6)', async () => {
  const r = `${admin.base}${context}/resource/_newId`
  const id = await newEntry(admin, context, '', {
    metadata: { [r]: { [TITLE]: [textTerm('about _newId')], [`${DCT}relation`]: [uriTerm(`${r}#_newId`)] } },
    info: graphOf(r, 'http://ex.org/_newId', textTerm('x')),
  })
  const entry = await readEntry(admin, context, id)
  const about = `${admin.base}${context}/resource/${id}`
  assert.deepEqual(entry.metadata, {
    [about]: { [TITLE]: [textTerm(`about ${id}`)], [`${DCT}relation`]: [uriTerm(`${about}#${id}`)] },
  })
  assert.deepEqual(entry.info[about], { [`http://ex.org/${id}`]: [textTerm('x')] })
  const link = await newEntry(admin, context, '?entrytype=link&resource=http%3A%2F%2Fex.org%2F_newId')
  const resource = valuesOf(
    admin,
    await readEntry(admin, context, link),
    `${context}/entry/${link}`,
    `${STORE}resource`,
  )
  assert.deepEqual(resource, [`http://ex.org/${link}`])
})

test('each entry type gets the addresses that belong to it (W1.3)', async () => {
  const there = 'resource=http://ex.org/a&cached-external-metadata=http://ex.org/a.rdf'
  const kinds = {
    '': undefined,
    'entrytype=Link&resource=http://ex.org/a': 'Link',
    [`entrytype=linkreference&${there}`]: 'LinkReference',
    [`entrytype=REFERENCE&${there}`]: 'Reference',
  }
  for (const [query, type] of Object.entries(kinds)) {
    const id = await newEntry(admin, context, `?${query}`)
    const entry = await readEntry(admin, context, id)
    const values = (predicate: string): string[] => valuesOf(admin, entry, `${context}/entry/${id}`, predicate)
    assert.deepEqual(values(RDF_TYPE), type === undefined ? [] : [STORE + type])
    assert.equal(values(`${STORE}metadata`).length, type === 'Reference' ? 0 : 1)
    assert.equal(values(`${STORE}externalMetadata`).length, query.includes('cached') ? 1 : 0)
    assert.equal(values(`${STORE}relation`)[0], `${admin.base}${context}/relations/${id}`)
    assert.equal('metadata' in entry, type !== 'Reference')
    assert.equal('resource' in entry, type === undefined)
  }
})

test('a link without an absolute resource, or a reference without external metadata, is 400', async () => {
  const there = 'resource=http://ex.org/a'
  for (const query of [
    'entrytype=link',
    'entrytype=link&resource=relative',
    'entrytype=link&resource=./1/entry/2',
    'entrytype=link&resource=http://ex.org/a%20b',
    `entrytype=reference&${there}`,
    `entrytype=linkreference&${there}`,
    `entrytype=reference&${there}&cached-external-metadata=./x`,
    `entrytype=reference&cached-external-metadata=http://ex.org/a.rdf`,
  ])
    assertRefused(await admin.post(`${context}?${query}`), 400, 'invalid-uri', query)
  assertRefused(await admin.post(`${context}?entrytype=other`), 400, 'invalid-query')
})

test('the type of the resource shows the graph type; an unknown one is refused, and nothing is created (W1.4)', async () => {
  const types = {
    list: 'List',
    STRING: 'String',
    graph: 'Graph',
    Pipeline: 'Pipeline',
    resultlist: 'ResultList',
    none: undefined,
    '': undefined,
  }
  for (const [query, type] of Object.entries(types)) {
    const id = await newEntry(admin, context, `?graphtype=${query}`)
    const reported = valuesOf(admin, await readEntry(admin, context, id), `${context}/resource/${id}`, RDF_TYPE)
    assert.deepEqual(reported, type === undefined ? [] : [STORE + type], query)
  }
  const count = async (): Promise<unknown> => (await admin.get(context)).json<unknown[]>().length
  const before = await count()
  const unknown = await admin.post(`${context}?graphtype=foo`)
  assertRefused(unknown, 400, 'invalid-query')
  assert.match(unknown.text, /foo/)
  assert.equal(await count(), before)
  const named = await newEntry(admin, context, '?informationresource=false')
  const reported = valuesOf(admin, await readEntry(admin, context, named), `${context}/resource/${named}`, RDF_TYPE)
  assert.deepEqual(reported, [`${STORE}NamedResource`])
})

test('users and groups live in _principals, contexts in _contexts, and nowhere else (W1.4)', async () => {
  const wrong = [
    ...['user', 'group', 'context', 'systemcontext', 'pipelineresult'].map(type => `${context}?graphtype=${type}`),
    '_contexts',
    '_contexts?graphtype=user',
    '_contexts?graphtype=systemcontext',
    '_contexts?entrytype=link&resource=http://ex.org/a',
    '_principals?graphtype=context',
  ]
  for (const path of wrong) assertRefused(await admin.post(path), 400, 'invalid-type', path)
  // A Reference may be about a user (W1.4).
  const query = '?entrytype=reference&graphtype=user&resource=http://ex.org/u&cached-external-metadata=http://ex.org/m'
  await newEntry(admin, context, query)
})

test('structure that a client repeats in info makes no doubles and no error (W3.2.1)', async () => {
  const e = `${admin.base}${context}/entry/_newId`
  const r = `${admin.base}${context}/resource/_newId`
  const id = await newEntry(admin, context, '?graphtype=list', {
    info: { [e]: { [`${STORE}resource`]: [uriTerm(r)] }, [r]: { [RDF_TYPE]: [uriTerm(`${STORE}List`)] } },
  })
  const entry = await readEntry(admin, context, id)
  assert.equal(valuesOf(admin, entry, `${context}/resource/${id}`, RDF_TYPE).length, 1)
  assert.equal(valuesOf(admin, entry, `${context}/entry/${id}`, `${STORE}resource`).length, 1)
})

test('an ACL in info is the ACL of the new entry', async () => {
  const m = `${admin.base}${context}/metadata/_newId`
  const id = await newEntry(admin, context, '', { info: graphOf(m, `${STORE}read`, principal(admin, '_guest')) })
  assert.equal((await service.visitor().get(`${context}/metadata/${id}`)).status, 200)
})

test('the resource in the body is that of the graph type', async () => {
  const text = await newEntry(admin, context, '?graphtype=string', { resource: 'hello' })
  assert.equal((await admin.get(`${context}/resource/${text}`)).text, 'hello')
  const graph = graphOf('http://ex.org/s', 'http://ex.org/p', textTerm('o'))
  const id = await newEntry(admin, context, '?graphtype=graph', { resource: graph })
  assert.deepEqual((await admin.get(`${context}/resource/${id}`)).json(), graph)
  const list = await newEntry(admin, context, '?graphtype=list', { resource: [id, Number(text), 'nobody'] })
  assert.deepEqual((await admin.get(`${context}/resource/${list}`)).json(), [id, text], 'unknown ids are skipped')
})

test('a body that cannot be read creates nothing', async () => {
  const before = (await admin.get(context)).json()
  const raw = (body: string, type = 'application/json') =>
    admin.ask(context, { method: 'POST', body, headers: { 'content-type': type } })
  assertRefused(await raw('{"info":'), 400, 'invalid-json')
  assertRefused(await raw('[]'), 400, 'invalid-json')
  assertRefused(await raw('{"metadata":{"relative":{}}}'), 400, 'invalid-graph')
  assertRefused(await raw('{"metadata":7}'), 400, 'invalid-graph')
  assertRefused(await raw('a=b', 'application/x-www-form-urlencoded'), 415, 'unsupported-type')
  assertRefused(await admin.post(`${context}?graphtype=string`, { resource: 7 }), 400, 'invalid-value')
  assertRefused(await admin.post(`${context}?graphtype=list`, { resource: 'x' }), 400, 'invalid-member')
  assertRefused(await admin.post(`${context}?id=%zz`), 400, 'invalid-query')
  assertRefused(await admin.post(`${context}?id=a&id=b`), 400, 'invalid-query')
  assert.deepEqual((await admin.get(context)).json(), before)
})

test('an unknown context is 404; a caller without the right to write gets 401 or 403 before the body is read (D1.5)', async () => {
  assertRefused(await admin.post('nowhere'), 404, 'not-found')
  const { visitor } = await newUser(service, admin)
  const garbage = { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }
  for (const place of [context, '_contexts?graphtype=context', '_principals?graphtype=user']) {
    assertRefused(await service.visitor().ask(place, garbage), 401, 'not-signed-in', place)
    assertRefused(await visitor.ask(place, garbage), 403, 'not-allowed', place)
  }
})

test('an entry for a context that is deleted while the body comes is 404, with a wanted id as without', async () => {
  for (const query of ['', '?id=wanted']) {
    const context = await newContext(admin)
    const head = [
      `POST ${new URL(admin.base).pathname}${context}${query} HTTP/1.1`,
      `Cookie: auth_token=${admin.cookie}`,
      'Content-Type: application/json',
      'Content-Length: 2',
      'Expect: 100-continue',
      'Connection: close',
    ]
    const request = await sendRaw(admin.base, head)
    await request.until(/100 Continue/)
    assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
    request.socket.write('{}')
    await request.closed
    assert.match(request.received(), /HTTP\/1\.1 404 /, query)
  }
})
