import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { stepsOf } from '../support/steps.ts'
import { InvalidInput } from '../../src/base/errors.ts'
import {
  absoluteGraph,
  type Graph,
  graphOf,
  objectsOf,
  parseRdfJson,
  relativeGraph,
  type Statement,
  statementsOf,
} from '../../src/graph/graph.ts'

const S = 'http://ex.org/s'
const P = 'http://ex.org/p'
const BASE = 'http://127.0.0.1:8080/'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

const parse = (...objects: unknown[]): Graph => parseRdfJson({ [S]: { [P]: objects } })
const invalid = { constructor: InvalidInput, code: 'invalid-graph' }

const iri = fc.oneof(fc.webUrl(), fc.constantFrom(`${BASE}1`, `${BASE}1/entry/2`, 'urn:x:1', 'http://ex.org/...'))
const blank = fc.nat({ max: 9 }).map(number => `_:b${number}`)
const object: fc.Arbitrary<Statement['object']> = fc.oneof(
  iri.map(value => ({ type: 'uri' as const, value })),
  blank.map(value => ({ type: 'bnode' as const, value })),
  fc.record({ type: fc.constant('literal' as const), value: fc.string({ unit: 'grapheme' }) }),
  fc.record({
    type: fc.constant('literal' as const),
    value: fc.string(),
    lang: fc.constantFrom('en', 'sv', 'zh-Hant'),
  }),
  fc.record({ type: fc.constant('literal' as const), value: fc.string(), datatype: fc.constantFrom(`${XSD}long`) }),
)
const statement: fc.Arbitrary<Statement> = fc.record({ subject: fc.oneof(iri, blank), predicate: iri, object })
// Through JSON once: the records of fast-check have no prototype.
const graph = fc.array(statement, { maxLength: 12 }).map(all => JSON.parse(JSON.stringify(graphOf(all))) as Graph)

test('a graph that was read is the same when it is read again, through JSON too (W2.1)', () => {
  fc.assert(fc.property(graph, graph => assert.deepEqual(parseRdfJson(graph), graph)))
})

test('terms are stored with their members in one order, and without further ones', () => {
  const good = { [P]: [{ type: 'uri', value: S }] }
  const parts: ReadonlyArray<readonly [given: unknown[], read: Graph[string][string]]> = [
    [[{ value: 'a', type: 'literal' }], [{ type: 'literal', value: 'a' }]],
    [[{ type: 'literal', value: 'a', more: 1 }], [{ type: 'literal', value: 'a' }]],
    [[{ type: 'literal', value: 'a', lang: '' }], [{ type: 'literal', value: 'a' }]],
    [[{ type: 'literal', value: 'a', datatype: 'urn:d', lang: 'en' }], [{ type: 'literal', value: 'a', lang: 'en' }]],
    [[{ type: 'literal', lang: 'en', value: 'a' }], [{ type: 'literal', value: 'a', lang: 'en' }]],
    [[{ type: 'bnode', value: 'a' }], [{ type: 'bnode', value: '_:a' }]],
    [[{ type: 'literal', value: 'a', lang: null, datatype: null }], [{ type: 'literal', value: 'a' }]],
  ]
  for (const [given, wanted] of parts) {
    const read = parseRdfJson({ [S]: { ...good, 'urn:q': given, 'urn:r': [] }, [P]: good })
    // As text, because the order of members is part of what is stored.
    assert.equal(JSON.stringify(read), JSON.stringify({ [S]: { ...good, 'urn:q': wanted }, [P]: good }))
  }
  const twice = [{ type: 'literal', value: 'a' }]
  assert.deepEqual(parse(...twice, ...twice), { [S]: { [P]: twice } })
  assert.deepEqual(parseRdfJson({ [S]: {}, [P]: { 'urn:q': [] } }), {})
  const bare: Record<string, unknown> = Object.assign(Object.create(null), { [S]: good })
  assert.deepEqual(parseRdfJson(bare), { [S]: good })
})

test('a graph is the same after it went inside and out again, literals untouched', () => {
  fc.assert(
    fc.property(graph, graph => {
      const stored = relativeGraph(BASE, graph)
      assert.deepEqual(absoluteGraph(BASE, stored), graph)
      const literals = (given: Graph): string[] =>
        [...statementsOf(given)].filter(({ object }) => object.type === 'literal').map(({ object }) => object.value)
      assert.deepEqual(literals(stored), literals(graph))
    }),
  )
})

test('a literal that looks like an address of the service is not moved with it', () => {
  const given = parse({ type: 'literal', value: `${BASE}1` }, { type: 'literal', value: './1' })
  assert.deepEqual(absoluteGraph('http://new.example/', relativeGraph(BASE, given)), given)
})

test('doubles collapse, terms that differ in language or datatype do not', () => {
  const value = 'a'
  const terms = [
    { type: 'literal', value },
    { type: 'literal', value, lang: 'en' },
    { type: 'literal', value, datatype: `${XSD}token` },
  ]
  assert.deepEqual(objectsOf(parse(...terms, ...terms), S, P), terms)
})

test('the datatype of a plain string is left out (W2.1)', () => {
  const datatypes = [`${XSD}string`, `${RDF}langString`, '']
  for (const datatype of datatypes)
    assert.deepEqual(objectsOf(parse({ type: 'literal', value: 'a', datatype }), S, P), [
      { type: 'literal', value: 'a' },
    ])
})

test('objects without type or value are refused, so that no statement is lost', () => {
  const good = { type: 'literal', value: 'a' }
  for (const given of [
    { type: 'uri' },
    { type: 'literal' },
    { value: 'x' },
    { type: 'literal', value: null },
    {},
    null,
  ])
    assert.throws(() => parse(good, given), { ...invalid, message: /http:\/\/ex\.org\/p/ }, JSON.stringify(given))
})

test('what holds a value that cannot be stored is refused, naming the predicate', () => {
  const good = { type: 'literal', value: 'a' }
  for (const given of ['x', 7, true, [good], { ...good, value: 7 }, { ...good, value: {} }, { ...good, type: 1 }])
    assert.throws(() => parse(good, given), { ...invalid, message: /http:\/\/ex\.org\/p/ }, JSON.stringify(given))
  for (const member of ['lang', 'datatype'])
    assert.throws(() => parse({ ...good, [member]: 7 }), { ...invalid, message: new RegExp(member) })
})

test('the empty graph is {} (W2.1)', () => {
  assert.deepEqual(parseRdfJson({}), {})
  assert.deepEqual(parseRdfJson({ [S]: {} }), {})
  assert.deepEqual(parseRdfJson({ [S]: { [P]: [] } }), {})
})

test('blank nodes carry _: as subject and as value (W2.1)', () => {
  const graph = parseRdfJson({
    '_:a': {
      [P]: [
        { type: 'bnode', value: 'a' },
        { type: 'bnode', value: '_:b' },
      ],
    },
  })
  assert.deepEqual(
    objectsOf(graph, '_:a', P).map(({ value }) => value),
    ['_:a', '_:b'],
  )
})

test('what is not a graph is refused as invalid-graph', () => {
  const wrong: unknown[] = [
    null,
    [],
    'x',
    7,
    { [S]: null },
    { [S]: [] },
    { [S]: { [P]: {} } },
    { [S]: { [P]: 'x' } },
    { relative: { [P]: [] } },
    { './1': { [P]: [] } },
    { [S]: { relative: [] } },
    { '_:': {} },
    { ['__proto__x']: {} },
  ]
  for (const value of wrong) assert.throws(() => parseRdfJson(value), invalid, JSON.stringify(value))
  assert.throws(() => parse({ type: 'uri', value: './1' }), invalid)
  assert.throws(() => parse({ type: 'uri', value: 'http://ex.org/a b' }), invalid)
  assert.throws(() => parse({ type: 'thing', value: 'x' }), invalid)
  assert.throws(() => parse({ type: 'literal', value: 'a', lang: 'not a tag' }), invalid)
  assert.throws(() => parse({ type: 'literal', value: 'a', datatype: 'relative' }), invalid)
  assert.throws(() => parse({ type: 'literal', value: '\ud800' }), invalid)
})

test('names of built-in members are not subjects and have no effect', () => {
  const value: unknown = JSON.parse(`{"__proto__": {"${P}": [{"type": "literal", "value": "a"}]}}`)
  assert.throws(() => parseRdfJson(value), invalid)
  assert.equal(({} as Record<string, unknown>)[P], undefined)
})

test('the work of reading a graph grows with its size, not with its square', async () => {
  const read = async (size: number): Promise<number> => {
    const objects = Array.from({ length: size }, (_, index) => ({ type: 'literal', value: `${index}` }))
    return await stepsOf(() => {
      const graph = parseRdfJson({ [S]: { [P]: [...objects, ...objects] } })
      assert.equal(graph[S]?.[P]?.length, size)
    })
  }
  await read(10)
  const [small, large] = [await read(1000), await read(16_000)]
  assert.ok(large < 20 * small, `${small} steps for 1000 objects, ${large} for 16,000`)
})
