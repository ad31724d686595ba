import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, RDF_TYPE, readEntry, textTerm, TITLE, uriTerm } from '../support/content.ts'
import { type Answer, ask } from '../support/http-client.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const guest = service.visitor()
const context = await newContext(admin)

/** A media type, and one statement about `<>` in it, with a title of one's own. */
const documents: ReadonlyArray<readonly [type: string, extension: string, body: (title: string) => string]> = [
  ['text/turtle', 'ttl', title => `<> <${TITLE}> "${title}" .`],
  ['text/n3', 'n3', title => `<> <${TITLE}> "${title}" .`],
  ['application/trig', 'trig', title => `<> <${TITLE}> "${title}" .`],
  ['application/ld+json', 'jsonld', title => JSON.stringify({ '@id': '', [TITLE]: title })],
  [
    'application/rdf+xml',
    'rdf',
    title => `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/terms/">
      <rdf:Description rdf:about=""><d:title>${title}</d:title></rdf:Description></rdf:RDF>`,
  ],
]
const put = (path: string, type: string, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
  admin.ask(path, { method: 'PUT', body, headers: { 'content-type': type, ...headers } })
const OF_BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const OF_JAVA = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'

/** As the administrator, with these headers and no others. */
const askFreely = (path: string, headers: Record<string, string>): Promise<Answer> =>
  ask(admin.base + path, { headers: { ...headers, cookie: `auth_token=${admin.cookie}` } })
const typeOf = (answer: Answer): string => String(answer.headers['content-type']).split(';')[0] ?? ''

for (const kind of ['metadata', 'resource']) {
  for (const [type, , body] of documents) {
    test(`${type} is taken and given as ${kind}, <> its own address (W3.5, W3.8.3)`, async () => {
      const path = `${context}/${kind}/${await newEntry(admin, context, '?graphtype=graph')}`
      const stored = await put(path, `${type}; charset=UTF-8`, body('One'))
      assert.equal(stored.status, 204, stored.text)
      assert.ok(stored.headers['last-modified'])
      const expected = graphOf(admin.base + path, TITLE, textTerm('One'))
      assert.deepEqual((await admin.get(path)).json(), expected)

      const read = await admin.get(path, { accept: type })
      assert.equal(read.status, 200)
      assert.equal(typeOf(read), type)
      assert.match(String(read.headers.vary), /Accept/i)
      assert.equal((await put(path, 'application/json', '{}')).status, 204)
      assert.equal((await put(path, type, read.text)).status, 204)
      assert.deepEqual((await admin.get(path)).json(), expected)
    })
  }
}

test('N-Triples are taken and given, without relative references (W3.5)', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  const line = `<${admin.base}${path}> <${TITLE}> "One" .\n`
  assert.equal((await put(path, 'application/n-triples', line)).status, 204)
  assert.equal((await admin.get(path, { accept: 'application/n-triples' })).text, line)
  assertRefused(await put(path, 'application/n-triples', `<> <${TITLE}> "Two" .`), 400, 'invalid-graph')
  assert.equal((await admin.get(`${path}?format=application/n-triples`)).text, line)
})

test('a JSON body with a name twice in one object is refused with the name, because one value would be lost', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  const term = '[{"type":"literal","value":"x"}]'
  const twice = `{"urn:s":{"urn:p":${term},"urn:p":${term}}}`
  const filler = `"urn:filler":{"urn:p":[{"type":"literal","value":"${'x'.repeat(100_000)}"}]}`
  const long = `{${filler},"urn:s":{"urn:p":${term},"urn:p":${term}}}`
  const linked = (more = ''): string => `{"@id":"urn:s","urn:p":"x","urn:p":"y"${more}}`
  for (const [method, address, type, body, code] of [
    ['PUT', path, 'application/json', twice, 'invalid-json'],
    ['PUT', path, 'application/json', long, 'invalid-json'],
    ['PUT', path, 'application/ld+json', linked(), 'invalid-graph'],
    ['PUT', path, 'application/ld+json', linked(`,"urn:q":"${'x'.repeat(100_000)}"`), 'invalid-graph'],
    ['POST', context, 'application/json', `{"metadata":${twice}}`, 'invalid-json'],
    ['POST', context, 'application/json', `{"metadata":${long}}`, 'invalid-json'],
    ['POST', 'auth/access-tokens', 'application/json', '{"name":"a","name":"b"}', 'invalid-json'],
  ] as const) {
    const answer = await admin.ask(address, { method, body, headers: { 'content-type': type } })
    assertRefused(answer, 400, code)
    assert.match(answer.text, /The name \\"(urn:p|name)\\" occurs twice in one object/, address)
  }
})

test('the info of an entry is given and taken in a syntax of RDF (W3.3.1, W3.3.2)', async () => {
  const id = await newEntry(admin, context)
  const path = `${context}/entry/${id}`
  const { info } = await readEntry(admin, context, id)
  for (const type of ['application/rdf+json', ...documents.map(([type]) => type)]) {
    const answer = await admin.get(path, { accept: type })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(typeOf(answer), type)
    assert.equal(answer.headers['content-disposition'], undefined)
    if (type === 'application/rdf+json') assert.deepEqual(answer.json(), info)
    else assert.match(answer.text, new RegExp(`${context}/resource/${id}`))
  }
  const acl = `<> <http://entrystore.org/terms/write> <${admin.base}_principals/resource/_users> .`
  assert.equal((await put(path, 'text/turtle', acl)).status, 204)
  const changed = await readEntry(admin, context, id)
  assert.deepEqual(changed.info[admin.base + path]?.['http://entrystore.org/terms/write'], [
    uriTerm(`${admin.base}_principals/resource/_users`),
  ])
})

test('`format` takes precedence over Accept; without a preference a graph is RDF/XML (W3.0.4, W3.3.1)', async () => {
  const id = await newEntry(admin, context, '?graphtype=graph')
  const path = `${context}/metadata/${id}`
  const asked = async (query: string, accept?: string): Promise<string> =>
    typeOf(await askFreely(path + query, accept === undefined ? {} : { accept }))
  for (const accept of [undefined, '*/*', OF_BROWSER, OF_JAVA, 'application/*'])
    assert.equal(await asked('', accept), 'application/rdf+xml', accept)
  for (const accept of ['application/json', 'application/json, text/plain, */*', '*/*;q=0.1, application/json;q=0.2'])
    assert.equal(await asked('', accept), 'application/json', accept)
  assert.equal(await asked('', 'application/rdf+json'), 'application/rdf+json')
  assert.equal(await asked('', 'text/turtle;q=0.5, application/rdf+xml'), 'application/rdf+xml')
  assert.equal(await asked('?format=text/turtle', 'application/json'), 'text/turtle')
  for (const written of ['application/ld+json', 'application/ld%2Bjson', 'application%2Fld%2Bjson'])
    assert.equal(await asked(`?format=${written}`), 'application/ld+json', written)
  assert.equal(await asked('?format=application/json', 'text/turtle'), 'application/json')
})

test('harvesters get RDF/XML from every address of a graph, as before; JSON where only JSON has what is asked for (D18.23)', async () => {
  const graph = await newEntry(admin, context, '?graphtype=graph')
  const list = await newEntry(admin, context, '?graphtype=list')
  const query = '?entrytype=linkreference&resource=http://ex.org/&cached-external-metadata=http://ex.org/metadata'
  const linked = await newEntry(admin, context, query)
  const typeAt = async (path: string, accept?: string): Promise<string> => {
    const answer = await askFreely(path, accept === undefined ? {} : { accept })
    assert.equal(answer.status, 200, path)
    return typeOf(answer)
  }
  for (const accept of [undefined, '*/*', OF_BROWSER]) {
    for (const path of [
      `${context}/entry/${graph}`,
      `${context}/metadata/${graph}`,
      `${context}/metadata/${graph}?recursive=dcterms:hasPart`,
      `${context}/resource/${graph}`,
      `${context}/relations/${graph}`,
      `${context}/cached-external-metadata/${linked}`,
      `${context}/merged-metadata/${linked}`,
    ])
      assert.equal(await typeAt(path, accept), 'application/rdf+xml', path)
    for (const path of [
      `${context}/entry/${graph}?includeAll`,
      `${context}/entry/${graph}?rdfFormat=application/ld+json`,
      `${context}/resource/${list}`,
    ])
      assert.equal(await typeAt(path, accept), 'application/json', path)
  }
  assert.equal(await typeAt(`${context}/entry/${graph}?includeAll`, 'text/turtle'), 'text/turtle')
})

test('a browser that opens the address of an entry gets its page; programs, and addresses with a query, the entry (D18.30)', async () => {
  const place = await newContext(admin)
  const id = await newEntry(admin, place)
  const opening = { accept: OF_BROWSER, 'sec-fetch-mode': 'navigate' }
  const visitor = service.visitor()
  const led = async (path: string, headers: Record<string, string> = opening) => {
    const { status, headers: sent } = await visitor.get(path, headers)
    return [status, sent['location']]
  }
  const page = `${admin.base}ui/contexts/${place}/files`
  assert.deepEqual(await led(`${place}/entry/${id}`), [303, `${page}?item=${id}`])
  assert.deepEqual(await led(`_contexts/entry/${place}`), [303, page])
  assert.deepEqual(await led('_principals/entry/_guest'), [200, undefined], 'there is no page for everybody')
  assert.equal((await admin.get(`${page.slice(admin.base.length)}?item=${id}`, opening)).status, 200)
  for (const [path, headers] of [
    [`${place}/entry/${id}`, { accept: OF_BROWSER }],
    [`${place}/entry/${id}`, { accept: OF_BROWSER, 'sec-fetch-mode': 'cors' }],
    [`${place}/entry/${id}?format=text/turtle`, opening],
    [`${place}/metadata/${id}`, opening],
  ] as const) {
    const answer = await admin.get(path, headers)
    assert.equal(answer.status, 200, path)
    assert.match(String(answer.headers['content-type']), /^(application\/rdf\+xml|text\/turtle)/)
  }
  assert.match(String((await admin.get(`${place}/entry/${id}`)).headers['vary']), /Sec-Fetch-Mode/)
})

test('a graph that XML cannot hold is JSON for who takes anything (D18.23)', async () => {
  const id = await newEntry(admin, context)
  const path = `${context}/metadata/${id}`
  const graph = graphOf('http://ex.org/', 'http://ex.org/1', textTerm('a'))
  await admin.put(path, graph)
  const answer = await askFreely(path, { accept: '*/*' })
  assert.deepEqual([answer.status, typeOf(answer), answer.json()], [200, 'application/json', graph])
  assert.equal(answer.headers['content-disposition'], `inline; filename=${id}.json`)
  assertRefused(await askFreely(path, { accept: 'application/rdf+xml, */*;q=0.1' }), 406, 'not-acceptable')
})

test('what no syntax is: 406 for reading, 415 for writing, naming what there is (W3.8.3)', async () => {
  const id = await newEntry(admin, context, '?graphtype=graph')
  for (const path of [`${context}/entry/${id}`, `${context}/metadata/${id}`, `${context}/resource/${id}`]) {
    for (const answer of [
      await admin.get(path, { accept: 'image/png' }),
      await admin.get(`${path}?format=image/png`),
    ]) {
      assertRefused(answer, 406, 'not-acceptable', path)
      assert.match(answer.text, /text\/turtle/)
    }
    const written = await put(path, 'text/plain', 'a')
    assertRefused(written, 415, 'unsupported-type', path)
    assert.match(written.text, /text\/turtle/)
    assertRefused(await put(path, 'text/turtle', ' '), 400, 'invalid-graph', path)
    assertRefused(await put(path, 'text/turtle', '<a'), 400, 'invalid-graph', path)
  }
  assertRefused(await admin.get(`${context}/entry/${id}?rdfFormat=text/turtle`), 406, 'not-acceptable')
})

test('a graph that XML cannot hold is 406 as RDF/XML (W3.8.3)', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  await admin.put(path, graphOf('http://ex.org/', 'http://ex.org/1', textTerm('a')))
  assertRefused(await admin.get(path, { accept: 'application/rdf+xml' }), 406, 'not-acceptable')
})

test('a long document is accepted, a long malformed one refused with its line', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  const lines = Array.from({ length: 500 }, (_, number) => `<#${number}> <${TITLE}> "Number ${number}" .\n`).join('')
  assert.equal((await put(path, 'text/turtle', lines)).status, 204)
  assert.equal(Object.keys((await admin.get(path)).json()).length, 500)
  const refused = await put(path, 'text/turtle', `${lines}<a`)
  assertRefused(refused, 400, 'invalid-graph')
  assert.match(refused.text, /line 501/)
  assert.equal(Object.keys((await admin.get(path)).json()).length, 500)
})

test('each syntax has an ETag of its own; any of them allows a change (RFC 9110 8.8.3)', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  const etag = String((await admin.get(path, { accept: 'text/turtle' })).headers.etag)
  assert.notEqual((await admin.get(path)).headers.etag, etag)
  assert.equal((await admin.get(path, { accept: 'text/turtle', 'if-none-match': etag })).status, 304)
  assert.equal((await admin.get(path, { 'if-none-match': etag })).status, 200)
  assert.equal((await put(path, 'application/json', '{}', { 'if-match': etag })).status, 204)
  assertRefused(await put(path, 'application/json', '{}', { 'if-match': etag }), 412, 'precondition-failed')
})

test('metadata are offered as a file with the name and ending that fit (W3.5)', async () => {
  const id = await newEntry(admin, context)
  const path = `${context}/metadata/${id}`
  const header = async (query: string): Promise<string> =>
    String((await admin.get(path + query)).headers['content-disposition'])
  assert.equal(await header(''), `inline; filename=${id}.json`)
  for (const [type, extension] of documents)
    assert.equal(await header(`?download&format=${type}`), `attachment; filename=${id}.${extension}`)
})

test('with rdfFormat the graphs inside the JSON of an entry are JSON-LD (W3.0.4)', async () => {
  const id = await newEntry(admin, context, '?graphtype=graph', {
    metadata: graphOf('http://ex.org/', TITLE, textTerm('One')),
    resource: {},
  })
  for (const written of ['application/ld+json', 'application/ld%2Bjson']) {
    const entry = (await admin.get(`${context}/entry/${id}?includeAll&rdfFormat=${written}`)).json()
    assert.deepEqual(entry['metadata'], {
      '@context': { xsd: 'http://www.w3.org/2001/XMLSchema#', dcterms: 'http://purl.org/dc/terms/', store: admin.base },
      '@id': `store:${context}/metadata/${id}`,
      '@graph': [{ '@id': 'http://ex.org/', 'dcterms:title': 'One' }],
    })
    assert.deepEqual(entry['resource'], {})
    assert.equal(entry['entryId'], id)
  }
})

test('a context of elsewhere is not fetched (JSON-LD)', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  const body = JSON.stringify({ '@context': `${admin.base}context`, title: 'a' })
  const refused = await put(path, 'application/ld+json', body)
  assertRefused(refused, 400, 'invalid-graph')
  assert.match(refused.text, /not fetched/)
})

test('JSON-LD and RDF/JSON that would lose or change a statement are refused by name, and nothing changes', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  const double = 'http://www.w3.org/2001/XMLSchema#double'
  const length = { '@id': '', [TITLE]: { '@value': '12 km', '@type': double } }
  assert.equal((await put(path, 'application/ld+json', JSON.stringify(length))).status, 204)
  const kept = { [admin.base + path]: { [TITLE]: [{ ...textTerm('12 km'), datatype: double }] } }
  assert.deepEqual((await admin.get(path)).json(), kept)
  for (const [type, body, name] of [
    ['application/ld+json', { '@id': '', 'dct:title': 'x' }, /dct:title/],
    ['application/ld+json', { '@id': 'http://ex.org/a b', [TITLE]: 'x' }, /a b/],
    ['application/ld+json', { '@context': { '@base': null }, '@id': 'relative', [TITLE]: 'x' }, /relative/],
    ...[{ type: 'literal', value: 7 }, { type: 'literal', value: null }, { type: 'literal' }, { value: 'x' }, null].map(
      term => ['application/json', { 'http://ex.org/': { [TITLE]: [textTerm('x'), term] } }, /terms\/title/] as const,
    ),
  ] as const) {
    const answer = await put(path, type, JSON.stringify(body))
    assertRefused(answer, 400, 'invalid-graph')
    assert.match(answer.text, name)
  }
  assert.deepEqual((await admin.get(path)).json(), kept)
})

test('without the right to read metadata, every syntax is refused', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  assertRefused(await guest.get(path, { accept: 'text/turtle' }), 401, 'not-signed-in')
})

test('in RDF a list is a sequence of its entries, in JSON an array of ids (W3.8.5)', async () => {
  const members = [await newEntry(admin, context), await newEntry(admin, context)].reverse()
  const list = await newEntry(admin, context, '?graphtype=list', { resource: members })
  const path = `${context}/resource/${list}`
  assert.deepEqual((await admin.get(path)).json(), members)
  assert.deepEqual((await admin.get(path, { accept: '*/*' })).json(), members)
  const rdf = RDF_TYPE.replace('type', '')
  const [first, second] = members.map(id => [uriTerm(`${admin.base}${context}/entry/${id}`)])
  const answer = await admin.get(path, { accept: 'application/rdf+json' })
  assert.deepEqual(answer.json(), {
    [admin.base + path]: { [RDF_TYPE]: [uriTerm(`${rdf}Seq`)], [`${rdf}_1`]: first, [`${rdf}_2`]: second },
  })
  assert.match((await admin.get(`${path}?format=text/turtle`)).text, /a rdf:Seq;\n {2}rdf:_1 </)
  const etag = String(answer.headers.etag)
  assert.equal((await admin.get(path, { accept: 'application/rdf+json', 'if-none-match': etag })).status, 304)
  assertRefused(await admin.get(path, { accept: 'image/png' }), 406, 'not-acceptable')
})

test('with rdfFormat the graphs in hits of a search are JSON-LD (W3.0.4)', async () => {
  await newEntry(admin, context, '', { metadata: graphOf('http://ex.org/', TITLE, textTerm('Zebra')) })
  const query = `search?type=solr&query=metadata.object.literal:zebra&rdfFormat=application/ld%2Bjson`
  const [hit] = (await admin.get(query)).json<{ resource: { children: Array<{ metadata: { '@graph': unknown } }> } }>()
    .resource.children
  assert.deepEqual(hit?.metadata['@graph'], [{ '@id': 'http://ex.org/', 'dcterms:title': 'Zebra' }])
})

test('with rdfFormat the graphs in the body of a creation are in that syntax (W3.0.4)', async () => {
  const write = 'http://entrystore.org/terms/write'
  const acl = `<> <${write}> <${admin.base}_principals/resource/_users> .`
  const turtle = (title: string) => `<../resource/_newId> <${TITLE}> "${title}" .`
  const created = {
    'text/turtle': { metadata: turtle('One'), info: acl, resource: '<> <http://ex.org/p> "r" .' },
    'application/ld+json': {
      metadata: { '@id': '../resource/_newId', [TITLE]: 'One' },
      info: JSON.stringify({ '@id': '', [write]: { '@id': `${admin.base}_principals/resource/_users` } }),
      resource: { '@id': '', 'http://ex.org/p': 'r' },
    },
  }
  for (const [format, body] of Object.entries(created)) {
    const id = await newEntry(admin, context, `?graphtype=graph&rdfFormat=${encodeURIComponent(format)}`, body)
    const { info, metadata, resource } = await readEntry(admin, context, id)
    const [r, e] = ['resource', 'entry'].map(part => `${admin.base}${context}/${part}/${id}`)
    assert.ok(r && e)
    assert.deepEqual(metadata, graphOf(r, TITLE, textTerm('One')), format)
    assert.deepEqual(info[e]?.[write], [uriTerm(`${admin.base}_principals/resource/_users`)])
    assert.deepEqual(resource, graphOf(r, 'http://ex.org/p', textTerm('r')))
  }
  const text = await newEntry(admin, context, '?graphtype=string&rdfFormat=text/turtle', { resource: '<a' })
  assert.equal((await admin.get(`${context}/resource/${text}`)).text, '<a')
})

test('a creation whose graphs are not of the syntax that it names makes nothing', async () => {
  const before = (await admin.get(context)).text
  const create = (format: string, body: unknown) => admin.post(`${context}?rdfFormat=${format}`, body)
  assertRefused(await create('image/png', { metadata: '' }), 415, 'unsupported-type')
  assertRefused(await create('text/turtle', { metadata: '<a' }), 400, 'invalid-graph')
  assertRefused(await create('text/turtle', { metadata: {} }), 400, 'invalid-graph')
  assertRefused(await create('application/ld%2Bjson', { metadata: 'http://ex.org/' }), 400, 'invalid-graph')
  assertRefused(await create('text/turtle', []), 400, 'invalid-json')
  const deep = `{"metadata": "<a> <b> <c> .", "resource": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const headers = { 'content-type': 'application/json' }
  const nested = await admin.ask(`${context}?rdfFormat=text/turtle`, { method: 'POST', body: deep, headers })
  assertRefused(nested, 400, 'invalid-json')
  assertRefused(await guest.post(`${context}?rdfFormat=text/turtle`, { metadata: '<a' }), 401, 'not-signed-in')
  assert.equal((await admin.get(context)).text, before)
})

test('a long graph in RDF/JSON is read like a short one, and refused like one', async () => {
  const path = `${context}/metadata/${await newEntry(admin, context)}`
  const subjects = Array.from({ length: 8000 }, (_, number) => [
    `${admin.base}x${number}`,
    { [TITLE]: [textTerm('a')] },
  ])
  const text = JSON.stringify(Object.fromEntries(subjects))
  assert.ok(text.length > 300_000)
  assert.equal((await put(path, 'application/json', text)).status, 204)
  assert.equal((await admin.get(path)).text, text)
  const broken = await put(path, 'application/json', `${text}x`)
  assertRefused(broken, 400, 'invalid-json')
  assert.match(broken.text, new RegExp(`position ${text.length}`))
  assertRefused(await put(path, 'application/json', text.replace('x7999', ' ')), 400, 'invalid-graph')
  assert.equal((await admin.get(path)).text, text)
})
