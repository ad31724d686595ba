import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertRefused,
  DCT,
  type EntryJson,
  graphOf,
  modifiedOf,
  principal,
  RDF_TYPE,
  readEntry,
  STORE,
  textTerm,
  TITLE,
  uriTerm,
  valuesOf,
} from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const owner = await newUser(service, admin)
const stranger = await newUser(service, admin)
const context = await newContext(admin, [owner.id])
const at = (kind: string, id: string): string => `${context}/${kind}/${id}`
const iri = (kind: string, id: string): string => admin.base + at(kind, id)
const read = (id: string): Promise<EntryJson> => readEntry(admin, context, id)

test('principals of an ACL come back as they were sent, however odd (W2.4)', async () => {
  const id = await newEntry(admin, context)
  const odd = [
    `${admin.base}_principals/resource/${admin.base}_principals/entry/admin`,
    `${admin.base}_principals/resource/nobody`,
    'http://elsewhere.example/user',
    'mailto:nora@ex.org',
  ]
  const info = { ...(await read(id)).info, [iri('metadata', id)]: { [`${STORE}read`]: odd.map(uriTerm) } }
  const answer = await admin.put(at('entry', id), info)
  assert.equal(answer.status, 204, answer.text)
  assert.ok(answer.headers['last-modified'])
  assert.deepEqual(valuesOf(admin, await read(id), at('metadata', id), `${STORE}read`), odd)
})

test('an ACL takes effect with the next request, and leaving it out takes it away (W3.3.2)', async () => {
  const id = await newEntry(admin, context, '?graphtype=string', { resource: 'x' })
  const acl = graphOf(iri('resource', id), `${STORE}write`, principal(admin, stranger.id))
  assertRefused(await stranger.visitor.get(at('resource', id)), 403, 'not-allowed')
  assert.equal((await owner.visitor.put(at('entry', id), acl)).status, 204)
  assert.equal((await stranger.visitor.put(at('resource', id), 'y')).status, 204)
  assertRefused(await stranger.visitor.put(at('metadata', id), {}), 403, 'not-allowed')
  assertRefused(await stranger.visitor.put(at('entry', id), acl), 403, 'not-allowed')
  assert.equal((await owner.visitor.put(at('entry', id), {})).status, 204)
  assertRefused(await stranger.visitor.get(at('resource', id)), 403, 'not-allowed')
})

test('structure, dates and authors that are sent are ignored, the rest is replaced (W3.3.2)', async () => {
  const id = await newEntry(admin, context, '', {
    info: graphOf(iri('resource', '_newId'), 'http://ex.org/old', textTerm('x')),
  })
  const before = await read(id)
  service.system.pass(5000)
  const forged = {
    [iri('entry', id)]: {
      [`${STORE}resource`]: [uriTerm('http://ex.org/elsewhere')],
      [`${STORE}metadata`]: [uriTerm('http://ex.org/elsewhere')],
      [`${DCT}created`]: [textTerm('1999-01-01T00:00:00.000Z')],
      [`${DCT}modified`]: [textTerm('1999-01-01T00:00:00.000Z')],
      [`${DCT}creator`]: [principal(admin, stranger.id)],
      [`${DCT}contributor`]: [principal(admin, stranger.id)],
      [RDF_TYPE]: [uriTerm(`${STORE}Link`)],
      [`${STORE}status`]: [uriTerm(`${STORE}Pending`)],
    },
    [iri('resource', id)]: { [RDF_TYPE]: [uriTerm(`${STORE}User`), uriTerm('http://ex.org/Thing')] },
  }
  assert.equal((await owner.visitor.put(at('entry', id), forged)).status, 204)
  const entry = await read(id)
  const of = (given: EntryJson, predicate: string) => valuesOf(admin, given, at('entry', id), predicate)
  for (const predicate of [`${STORE}resource`, `${STORE}metadata`, `${DCT}created`, `${DCT}creator`])
    assert.deepEqual(of(entry, predicate), of(before, predicate), predicate)
  assert.equal(Date.parse(modifiedOf(admin, context, entry)), service.system.now())
  assert.deepEqual(of(entry, `${DCT}contributor`), [principal(admin, '_admin').value, principal(admin, owner.id).value])
  assert.deepEqual(of(entry, RDF_TYPE), [])
  assert.deepEqual(of(entry, `${STORE}status`), [`${STORE}Pending`])
  assert.deepEqual(entry.info[iri('resource', id)], { [RDF_TYPE]: [uriTerm('http://ex.org/Thing')] })
})

test('a link can be pointed elsewhere; statements about the old resource become statements about the new one (W3.3.2)', async () => {
  const id = await newEntry(admin, context, '?entrytype=link&resource=http://ex.org/old', {
    metadata: graphOf('http://ex.org/old', TITLE, textTerm('A page')),
    info: graphOf('http://ex.org/old', 'http://ex.org/p', textTerm('x')),
  })
  const { info } = await read(id)
  info[iri('entry', id)] = { ...info[iri('entry', id)], [`${STORE}resource`]: [uriTerm('http://ex.org/new')] }
  assert.equal((await admin.put(at('entry', id), info)).status, 204)
  const entry = await read(id)
  assert.deepEqual(valuesOf(admin, entry, at('entry', id), `${STORE}resource`), ['http://ex.org/new'])
  assert.deepEqual(entry.metadata, graphOf('http://ex.org/new', TITLE, textTerm('A page')))
  assert.deepEqual(entry.info['http://ex.org/new'], { 'http://ex.org/p': [textTerm('x')] })
  assert.equal(entry.info['http://ex.org/old'], undefined)
})

test('the external metadata can be moved, and only links and references become link references (W3.3.2)', async () => {
  const query = '?entrytype=reference&resource=http://ex.org/a&cached-external-metadata=http://ex.org/a.rdf'
  const reference = await newEntry(admin, context, query)
  const e = iri('entry', reference)
  const wish = { [`${STORE}externalMetadata`]: [uriTerm('http://ex.org/b.rdf')], [RDF_TYPE]: [uriTerm(`${STORE}Link`)] }
  assert.equal((await admin.put(at('entry', reference), { [e]: wish })).status, 204)
  const still = await read(reference)
  assert.deepEqual(valuesOf(admin, still, at('entry', reference), RDF_TYPE), [`${STORE}Reference`])
  assert.deepEqual(valuesOf(admin, still, at('entry', reference), `${STORE}externalMetadata`), ['http://ex.org/b.rdf'])
  const upgrade = { [e]: { [RDF_TYPE]: [uriTerm(`${STORE}LinkReference`)] } }
  assert.equal((await admin.put(at('entry', reference), upgrade)).status, 204)
  const both = await read(reference)
  assert.deepEqual(valuesOf(admin, both, at('entry', reference), RDF_TYPE), [`${STORE}LinkReference`])
  assert.deepEqual(both.metadata, {})
  const link = await newEntry(admin, context, '?entrytype=link&resource=http://ex.org/a')
  const bare = graphOf(iri('entry', link), RDF_TYPE, uriTerm(`${STORE}LinkReference`))
  assert.equal((await admin.put(at('entry', link), bare)).status, 204)
})

test('a group keeps the home context that a client writes into its info (W2.3)', async () => {
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  const r = `${admin.base}_principals/resource/${group}`
  const put = (value: string) =>
    admin.put(`_principals/entry/${group}`, graphOf(r, `${STORE}homeContext`, uriTerm(value)))
  for (const form of [context, `_contexts/entry/${context}`]) {
    assert.equal((await put(admin.base + form)).status, 204)
    const entry = await readEntry(admin, '_principals', group)
    assert.deepEqual(valuesOf(admin, entry, `_principals/resource/${group}`, `${STORE}homeContext`), [
      `${admin.base}_contexts/entry/${context}`,
    ])
  }
  assertRefused(await put(`${admin.base}nowhere`), 400, 'invalid-value')
})

test('a statement of that kind about anything else is kept like any other (W2.3)', async () => {
  const id = await newEntry(admin, context)
  const given = graphOf(iri('resource', id), `${STORE}homeContext`, uriTerm(`${admin.base}${context}`))
  assert.equal((await admin.put(at('entry', id), given)).status, 204)
  assert.deepEqual(valuesOf(admin, await read(id), at('resource', id), `${STORE}homeContext`), [admin.base + context])
})

test('metadata is written, read and emptied, about any subject (W3.5)', async () => {
  const id = await newEntry(admin, context)
  const graph = {
    'http://example.com': { [TITLE]: [{ type: 'literal', value: 'Grüße', lang: 'de' }] },
    '_:a': {
      [TITLE]: [
        { type: 'bnode', value: '_:b' },
        textTerm(' '),
        { type: 'literal', value: '5', datatype: 'http://www.w3.org/2001/XMLSchema#long' },
      ],
    },
  }
  const answer = await owner.visitor.put(at('metadata', id), graph)
  assert.equal(answer.status, 204, answer.text)
  assert.ok(answer.headers['last-modified'] && answer.headers.etag)
  assert.deepEqual((await admin.get(at('metadata', id))).json(), graph)
  assert.equal((await owner.visitor.delete(at('metadata', id))).status, 204)
  assert.deepEqual((await admin.get(at('metadata', id))).json(), {})
})

test('a Reference has no metadata here: GET 404, PUT and DELETE 405 (W3.5)', async () => {
  const query = '?entrytype=reference&resource=http://ex.org/a&cached-external-metadata=http://ex.org/a.rdf'
  const id = await newEntry(admin, context, query)
  assertRefused(await admin.get(at('metadata', id)), 404, 'not-found')
  assertRefused(await admin.put(at('metadata', id), {}), 405, 'method-not-allowed')
  assertRefused(await admin.delete(at('metadata', id)), 405, 'method-not-allowed')
})

test('an unreadable body is 400 or 415, a missing right 401 or 403; a refused request changes nothing (D1.5)', async () => {
  const id = await newEntry(admin, context, '?graphtype=graph', {
    metadata: graphOf('http://ex.org/', TITLE, textTerm('a')),
  })
  const before = await read(id)
  service.system.pass(10_000)
  for (const path of [at('entry', id), at('metadata', id), at('resource', id)]) {
    const raw = (body: string, type = 'application/json') =>
      admin.ask(path, { method: 'PUT', body, headers: { 'content-type': type } })
    assertRefused(await raw(''), 400, 'invalid-json', path)
    assertRefused(await raw('{'), 400, 'invalid-json', path)
    assertRefused(await raw('{"relative":{}}'), 400, 'invalid-graph', path)
    assertRefused(await raw('null'), 400, 'invalid-graph', path)
    assertRefused(await raw('<a> <b> <c> .', 'text/plain'), 415, 'unsupported-type', path)
    assertRefused(await service.visitor().put(path, {}), 401, 'not-signed-in', path)
    assertRefused(await stranger.visitor.put(path, {}), 403, 'not-allowed', path)
    const stale = { 'if-unmodified-since': new Date(0).toUTCString() }
    assertRefused(await admin.ask(path, { method: 'PUT', json: {}, headers: stale }), 412, 'precondition-failed', path)
  }
  assertRefused(await stranger.visitor.delete(at('metadata', id)), 403, 'not-allowed')
  assertRefused(await stranger.visitor.delete(at('entry', id)), 403, 'not-allowed')
  assertRefused(await service.visitor().delete(at('entry', id)), 401, 'not-signed-in')
  const literalPrincipal = graphOf(iri('metadata', id), `${STORE}read`, textTerm('me'))
  assertRefused(await admin.put(at('entry', id), literalPrincipal), 400, 'invalid-graph')
  const { headers } = await admin.get(at('entry', id))
  assert.deepEqual(await read(id), before)
  assert.equal(headers.etag, `"${Date.parse(modifiedOf(admin, context, before))}"`)
})

test('owners cannot take the last owner from a context; administrators can', async () => {
  const theirs = await newContext(admin, [owner.id])
  const entry = `_contexts/entry/${theirs}`
  const ownedBy = (...ids: readonly string[]) =>
    graphOf(admin.base + entry, `${STORE}write`, ...ids.map(id => principal(admin, id)))
  assertRefused(await owner.visitor.put(entry, {}), 409, 'last-owner')
  assert.equal((await owner.visitor.get(entry)).status, 200)
  assert.equal((await owner.visitor.put(entry, ownedBy(stranger.id))).status, 204)
  assertRefused(await owner.visitor.put(entry, ownedBy(owner.id)), 403, 'not-allowed')
  assert.equal((await admin.put(entry, {})).status, 204)
})
