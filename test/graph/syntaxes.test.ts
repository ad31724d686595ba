import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { InvalidInput } from '../../src/base/errors.ts'
import type { Graph } from '../../src/graph/graph.ts'
import type { GraphPlace } from '../../src/graph/text.ts'
import { findSyntax, type Syntax, syntaxes } from '../../src/graph/syntaxes.ts'
import { graphs, normalised } from './graphs.ts'

const BASE = 'http://127.0.0.1:8080/1/metadata/2'
const S = 'http://ex.org/s'
const P = 'http://ex.org/p'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const PLACE = { iri: BASE, base: 'http://127.0.0.1:8080/' }
const written = (syntax: Syntax, graph: Graph, place?: GraphPlace): string => [...syntax.write(graph, place)].join('')

function syntax(name: string): Syntax {
  const found = syntaxes.find(syntax => syntax.name === name)
  assert.ok(found, name)
  return found
}
const read = async (name: string, text: string): Promise<Graph> => await syntax(name).read(text, BASE)
const refused = (name: string, text: string, detail: RegExp): Promise<void> =>
  assert.rejects(async () => await read(name, text), {
    constructor: InvalidInput,
    code: 'invalid-graph',
    message: detail,
  })

for (const syntax of syntaxes) {
  test(`${syntax.mediaTypes[0]}: what was written is read as the same graph (W2.1)`, async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async graph => {
        for (const text of [written(syntax, graph), written(syntax, graph, PLACE)])
          assert.deepEqual(normalised(await syntax.read(text, BASE)), normalised(graph), text)
      }),
    )
  })

  test(`${syntax.mediaTypes[0]}: the empty graph is a document too`, async () => {
    assert.deepEqual(await syntax.read(written(syntax, {}), BASE), {})
  })

  test(`${syntax.mediaTypes[0]}: an IRI with a space or a quote is refused as in RDF/JSON (W2.1)`, async () => {
    for (const wrong of ['http://ex.org/a b', 'http://ex.org/a"b']) {
      const text = written(syntax, { 'http://ex.org/REPLACED': { [P]: [{ type: 'uri', value: S }] } })
      const broken = text.replace(
        'http://ex.org/REPLACED',
        syntax.name === 'rdf' ? wrong.replace('"', '&quot;') : wrong,
      )
      await assert.rejects(async () => await syntax.read(broken, BASE), InvalidInput, broken)
    }
  })
}

test('every media type belongs to one syntax, and every syntax has a name and an extension of its own', () => {
  const types = syntaxes.flatMap(({ mediaTypes }) => mediaTypes)
  assert.equal(new Set(types).size, types.length)
  assert.equal(new Set(syntaxes.map(({ name }) => name)).size, syntaxes.length)
  assert.equal(findSyntax('text/turtle')?.name, 'ttl')
  assert.equal(findSyntax('text/plain'), undefined)
})

/** The same five statements, as the examples of the standards write such things. */
const expected = normalised({
  [`${BASE}#me`]: {
    'http://www.w3.org/1999/02/22-rdf-syntax-ns#type': [{ type: 'uri', value: 'http://xmlns.com/foaf/0.1/Person' }],
    'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Zoë', lang: 'en-GB' }],
    'http://ex.org/age': [{ type: 'literal', value: '7', datatype: `${XSD}integer` }],
    'http://ex.org/note': [{ type: 'literal', value: 'plain' }],
    'http://ex.org/near': [{ type: 'uri', value: 'http://127.0.0.1:8080/1/metadata/3' }],
  },
})
const turtle = `@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix ex: <http://ex.org/> .
  <#me> a foaf:Person ; foaf:name "Zo\\u00EB"@en-GB ; ex:age 7 ; ex:note "plain"^^<${XSD}string> ; ex:near <3> .`
const known: Readonly<Record<string, string>> = {
  ttl: turtle,
  n3: turtle,
  trig: turtle,
  nt: `<${BASE}#me> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Person> .
    <${BASE}#me> <http://xmlns.com/foaf/0.1/name> "Zo\\u00EB"@en-GB .
    <${BASE}#me> <http://ex.org/age> "7"^^<${XSD}integer> .
    <${BASE}#me> <http://ex.org/note> "plain" . # a comment
    <${BASE}#me> <http://ex.org/near> <http://127.0.0.1:8080/1/metadata/3> .`,
  rdf: `<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY xsd "${XSD}">]>
    <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:ex="http://ex.org/">
      <foaf:Person rdf:about="#me" ex:note="plain"><foaf:name xml:lang="en-GB">Zo&#xEB;</foaf:name>
        <ex:age rdf:datatype="&xsd;integer">7</ex:age><ex:near rdf:resource="3"/></foaf:Person></rdf:RDF>`,
  trix: `<?xml version="1.0"?><TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph>${[
    ['http://www.w3.org/1999/02/22-rdf-syntax-ns#type', '<uri>http://xmlns.com/foaf/0.1/Person</uri>'],
    ['http://xmlns.com/foaf/0.1/name', '<plainLiteral xml:lang="en-GB">Zo&#xEB;</plainLiteral>'],
    ['http://ex.org/age', `<typedLiteral datatype="${XSD}integer">7</typedLiteral>`],
    ['http://ex.org/note', '<plainLiteral>plain</plainLiteral>'],
    ['http://ex.org/near', '<uri>http://127.0.0.1:8080/1/metadata/3</uri>'],
  ]
    .map(([predicate, object]) => `<triple><uri>${BASE}#me</uri><uri>${predicate}</uri>${object}</triple>`)
    .join('')}</graph></TriX>`,
  jsonld: JSON.stringify({
    '@context': { '@vocab': 'http://ex.org/', foaf: 'http://xmlns.com/foaf/0.1/', near: { '@type': '@id' } },
    '@id': '#me',
    '@type': 'foaf:Person',
    'foaf:name': { '@value': 'Zoë', '@language': 'en-GB' },
    age: 7,
    note: 'plain',
    near: '3',
  }),
  json: JSON.stringify({
    [`${BASE}#me`]: {
      'http://www.w3.org/1999/02/22-rdf-syntax-ns#type': [{ type: 'uri', value: 'http://xmlns.com/foaf/0.1/Person' }],
      'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Zoë', lang: 'en-GB' }],
      'http://ex.org/age': [{ type: 'literal', value: '7', datatype: `${XSD}integer` }],
      'http://ex.org/note': [{ type: 'literal', value: 'plain', datatype: `${XSD}string` }],
      'http://ex.org/near': [{ type: 'uri', value: 'http://127.0.0.1:8080/1/metadata/3' }],
    },
  }),
}
for (const { name } of syntaxes) {
  test(`${name}: a document by hand is read, relative references, where it has them, against the address of the graph (known answer)`, async () => {
    assert.deepEqual(normalised(await read(name, known[name] ?? '')), expected)
  })
}

test('Turtle as written: prefixes where used, a type first as `a`, one block to a subject (known answer)', () => {
  const graph: Graph = {
    [S]: {
      'http://purl.org/dc/terms/title': [
        { type: 'literal', value: 'A "b"\n' },
        { type: 'literal', value: 'c', lang: 'sv' },
      ],
      'http://www.w3.org/1999/02/22-rdf-syntax-ns#type': [{ type: 'bnode', value: '_:x/y' }],
    },
  }
  assert.equal(
    written(syntax('ttl'), graph),
    `@prefix dcterms: <http://purl.org/dc/terms/> .\n\n<${S}> a _:b0;\n  dcterms:title "A \\"b\\"\\n", "c"@sv .\n`,
  )
})

const STORE = 'http://entrystore.org/terms/'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const typed: Graph = {
  [BASE]: {
    [`${RDF}type`]: [
      { type: 'uri', value: `${STORE}Link` },
      { type: 'uri', value: 'http://ex.org/7' },
    ],
    'http://purl.org/dc/terms/title': [
      { type: 'literal', value: 'A' },
      { type: 'literal', value: 'B', lang: 'sv' },
    ],
    [`${STORE}resource`]: [{ type: 'uri', value: 'http://ex.org/' }],
    'http://purl.org/dc/terms/created': [{ type: 'literal', value: '2026', datatype: `${XSD}gYear` }],
  },
}

test('JSON-LD as written: compact, with its name and the prefixes that occur (D18.22)', () => {
  assert.deepEqual(JSON.parse(written(syntax('jsonld'), typed, PLACE)), {
    '@context': {
      rdf: RDF,
      xsd: XSD,
      dcterms: 'http://purl.org/dc/terms/',
      es: STORE,
      store: 'http://127.0.0.1:8080/',
    },
    '@id': 'store:1/metadata/2',
    '@graph': [
      {
        '@id': 'store:1/metadata/2',
        '@type': ['es:Link', 'http://ex.org/7'],
        'dcterms:title': ['A', { '@value': 'B', '@language': 'sv' }],
        'es:resource': { '@id': 'http://ex.org/' },
        'dcterms:created': { '@value': '2026', '@type': 'xsd:gYear' },
      },
    ],
  })
})

test('JSON-LD: no prefix is the scheme of an IRI in the graph, and no name after a prefix begins like a host', async () => {
  const graph: Graph = {
    'es:thing': { [`${STORE}resource`]: [{ type: 'uri', value: 'http://purl.org/dc/terms///x' }] },
  }
  const text = written(syntax('jsonld'), graph, PLACE)
  assert.deepEqual(Object.keys(JSON.parse(text)['@context']), ['store'])
  assert.deepEqual(await read('jsonld', text), graph)
})

test('RDF/XML as written: an element is named after the first type that XML can name (D18.22)', () => {
  assert.match(
    written(syntax('rdf'), typed, PLACE),
    /<es:Link rdf:about="[^"]+">\n {4}<rdf:type rdf:resource="http:\/\/ex\.org\/7"\/>[^]+<\/es:Link>/,
  )
  const described: Graph = { [S]: { [`${RDF}type`]: [{ type: 'uri', value: `${RDF}Description` }] } }
  assert.match(written(syntax('rdf'), described), /<rdf:Description rdf:about="[^"]+">\n {4}<rdf:type /)
})

test('TriX as written names its graph (D18.22)', () => {
  assert.match(written(syntax('trix'), typed, PLACE), new RegExp(`<graph>\\s*<uri>${BASE}</uri>\\s*<triple>`))
})

test('blank nodes nested in Turtle and lists keep their structure (W2.1)', async () => {
  const graph = await read('ttl', `<${S}> <${P}> [ <${P}> ( 1 2 ) ] .`)
  const again = await read('rdf', written(syntax('rdf'), graph))
  assert.equal(Object.keys(graph).length, 4)
  assert.equal(normalised(again).length, normalised(graph).length)
  assert.equal(Object.keys(again).length, 4)
})

const about = (more: object): string => JSON.stringify({ '@id': S, ...more })
const rdfXml = (body: string): string =>
  `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex.org/">${body}</rdf:RDF>`

test('a relative reference means the same in each syntax, also one that begins with a dot', async () => {
  const base = 'http://h.example/3/resource/1'
  const references = [
    '.well-known',
    '.a.b/../c',
    '..x',
    '...',
    './a',
    '../.a',
    'a/.b',
    '/.a',
    '.',
    '..',
    '.?q',
    '#f',
    '',
  ]
  for (const reference of references) {
    const expected = new URL(reference, base).href
    for (const [name, text] of [
      ['rdf', rdfXml(`<rdf:Description rdf:about="${reference}"><e:p>x</e:p></rdf:Description>`)],
      ['ttl', `<${reference}> <${P}> "x" .`],
      ['jsonld', JSON.stringify({ '@id': reference, [P]: 'x' })],
    ] as const) {
      assert.deepEqual(Object.keys(await syntax(name).read(text, base)), [expected], `${name}: ${reference}`)
    }
  }
  const based = `<rdf:Description xml:base=".well-known/" rdf:about="a"><e:p>x</e:p></rdf:Description>`
  assert.deepEqual(Object.keys(await syntax('rdf').read(rdfXml(based), base)), [
    'http://h.example/3/resource/.well-known/a',
  ])
})

test('JSON-LD: a string with a datatype keeps its characters, a number that of JSON', async () => {
  const values = ['12 km', '1,5', '59.3293230', '', '1.0E1']
  const context = { '@context': { [P]: { '@type': `${XSD}double` } } }
  const typed = (datatype: string) => values.map(value => ({ '@value': value, '@type': datatype }))
  const valuesOf = async (text: string) => (await read('jsonld', text))[S]?.[P]?.map(({ value }) => value)
  for (const datatype of [`${XSD}double`, `${XSD}decimal`, `${XSD}integer`, `${XSD}boolean`]) {
    const graph = await read('jsonld', about({ [P]: typed(datatype) }))
    const wanted = values.map(value => ({ type: 'literal' as const, value, datatype }))
    assert.deepEqual(graph[S]?.[P], wanted)
  }
  assert.deepEqual(await valuesOf(about({ ...context, [P]: values })), values)
  assert.deepEqual(await valuesOf(about({ [P]: [7, 1.5, true] })), ['7', '1.5E0', 'true'])
  assert.deepEqual(await valuesOf(about({ [P]: { '@value': 59.32, '@type': `${XSD}decimal` } })), ['59.32'])
})

test('JSON-LD: what says nothing is passed over, and a context can say that a term means nothing', async () => {
  for (const nothing of [[], {}, { '@context': {} }, { '@id': S }, { '@id': S, [P]: null }, { '@id': S, [P]: [] }])
    assert.deepEqual(await read('jsonld', JSON.stringify(nothing)), {})
  const graph = await read('jsonld', about({ '@context': { note: null }, note: 'x', [P]: 'y' }))
  assert.deepEqual(graph, { [S]: { [P]: [{ type: 'literal', value: 'y' }] } })
})

test('RDF/XML: a text that comments, CDATA or instructions interrupt is read whole', async () => {
  const texts = rdfXml(`<rdf:Description rdf:about="${S}"><e:p>a<!-- b -->c<![CDATA[<d>]]>e<?f g?>h &amp; i</e:p>
    <e:q rdf:parseType="Literal">a<b c="d">e</b><!-- f -->g</e:q></rdf:Description>`)
  const graph = await read('rdf', texts)
  assert.deepEqual(graph[S]?.[P], [{ type: 'literal', value: 'ac<d>eh & i' }])
  assert.equal(graph[S]?.['http://ex.org/q']?.[0]?.value, 'a<b c="d">e</b>g')
})

for (const [name, text, detail] of [
  ['jsonld', about({ 'dct:title': 'x' }), /"dct:title".*"dct"/],
  ['jsonld', about({ '@context': { title: 'dct:title' }, title: 'x' }), /"dct:title"/],
  ['jsonld', about({ '@type': 'foaf:Person' }), /"foaf:Person"/],
  ['jsonld', about({ [P]: { '@value': '1', '@type': 'xsd:date' } }), /"xsd:date"/],
  ['jsonld', about({ title: 'x' }), /"title"/],
  ['jsonld', about({ '@title': 'x' }), /"@title"/],
  ['jsonld', about({ '_:p': 'x' }), /"_:p"/],
  ['jsonld', about({ '@none': { [P]: 'x' } }), /"@none"/],
  ['jsonld', about({ [P]: { '@id': 'http://ex.org/a b' } }), /"http:\/\/ex\.org\/a b"/],
  ['jsonld', about({ [P]: { '@list': [{ '@id': 'http://ex.org/a b' }] } }), /"http:\/\/ex\.org\/a b"/],
  ['jsonld', about({ '@type': 'http://ex.org/a b' }), /"http:\/\/ex\.org\/a b"/],
  ['jsonld', JSON.stringify({ '@id': 'http://ex.org/a b', [P]: 'x' }), /"http:\/\/ex\.org\/a b"/],
  ['jsonld', JSON.stringify({ '@context': { '@base': null }, '@id': 'a', [P]: 'x' }), /"a"/],
  ['jsonld', about({ '@context': { '@base': null }, [P]: { '@id': 'a' } }), /"a"/],
  ['jsonld', about({ '@context': { '@base': null }, [P]: { '@id': '' } }), /""/],
  ['jsonld', about({ '@context': { '@base': null, [P]: { '@type': '@id' } }, [P]: '' }), /"http:\/\/ex\.org\/p"/],
  ['jsonld', about({ '@context': { [P]: { '@type': '@vocab' } }, [P]: '@x' }), /"http:\/\/ex\.org\/p"/],
  ['jsonld', about({ [P]: { '@value': 'x', '@direction': 'rtl' } }), /direction/],
  ['jsonld', about({ [P]: { '@language': 'en' } }), /language/],
  ['jsonld', '{"@graph": ["lost"]}', /"lost"/],
  ['jsonld', '[{"@value": "lost"}]', /"lost"/],
  ['jsonld', `{"@id": "${S}", "${P}": 12345678901234567890}`, /exactly/],
  ['jsonld', `{"@id": "${S}", "${P}": 1e400}`, /exactly/],
  ['rdf', rdfXml(`<rdf:Description about="${S}"><e:p>x</e:p></rdf:Description>`), /"about"/],
  ['rdf', rdfXml(`<rdf:Description rdf:about="${S}"><e:p resource="${S}"/></rdf:Description>`), /"resource"/],
  ['rdf', rdfXml(`<rdf:Description rdf:about="${S}">lost<e:p>x</e:p></rdf:Description>`), /"lost"/],
  ['rdf', rdfXml(`<rdf:Description rdf:about="${S}"><e:p>x</e:p>lost</rdf:Description>`), /"lost"/],
  ['rdf', rdfXml(`<rdf:Description rdf:about="${S}"><e:p rdf:resource="${S}">lost</e:p></rdf:Description>`), /"lost"/],
  ['ttl', `<${S}> <${P}> "a" .\n<${S}> <${P}> .`, /line 2/],
  ['nt', `<${S}> <${P}> "a" .\n<${S}> <p> "a" .`, /line 2|not an absolute IRI/],
  ['jsonld', JSON.stringify({ '@id': 'http://ex.org/g', '@graph': [{ '@id': S, [P]: 'a' }] }), /default graph/],
  ['trig', `<http://ex.org/g> { <${S}> <${P}> "a" }`, /default graph/],
  ['n3', `{ <${S}> <${P}> "a" } => { <${S}> <${P}> "b" } .`, /default graph|subject/],
  ['n3', `?x <${P}> "a" .`, /subject/],
  ['ttl', `<<( <${S}> <${P}> "a" )>> <${P}> "b" .`, /./],
  ['ttl', `<${S}> <${P}> "a"@waytoolongtag .`, /language tag/],
  ['ttl', `<javascript:> <${P}> <a b> .`, /./],
  ['rdf', `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n<rdf:Description>`, /RDF\/XML/],
  ['rdf', '', /./],
  ['jsonld', '"http://ex.org/document"', /object or an array/],
  ['jsonld', '{', /not JSON/],
  ['jsonld', '{"@id": 7}', /JSON-LD/],
] as const) {
  test(`${name}: refused is ${text.replaceAll('\n', ' ').slice(0, 60)}`, () => refused(name, text, detail))
}
