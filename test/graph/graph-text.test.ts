import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  absoluteGraph,
  absoluteText,
  type Graph,
  graphOf,
  graphText,
  parseGraph,
  relativeGraph,
  relativeText,
  renamedText,
  renameIris,
  type Statement,
} from '../../src/graph/graph.ts'

const base = 'https://store.example/at/'
/** Texts that look like the marks that the writer goes by. */
const text = fc.constantFrom(
  './3/entry/7',
  '{"./x',
  ',"./',
  '"type":"uri","value":"./',
  '\\"./',
  'plain',
  './',
  '"',
  '{',
  ',',
)
const iri = fc.constantFrom('./3/resource/1', './4', 'http://example.org/,"./', '_:b1', './a,b')
const object = fc.oneof(
  iri.map(value => ({ type: 'uri', value }) as const),
  fc.tuple(text, text).map(([a, b]) => ({ type: 'literal', value: a + b }) as const),
  text.map(value => ({ type: 'literal', value, lang: 'en' }) as const),
)
const statement: fc.Arbitrary<Statement> = fc.record({ subject: iri, predicate: iri, object })

test('a graph made absolute as text is the same as one made absolute member by member', () => {
  fc.assert(
    fc.property(fc.array(statement), statements => {
      const graph = graphOf(statements)
      const expected = JSON.stringify(absoluteGraph(base, graph))
      assert.equal(absoluteText(base, graphText(graph)), expected)
      assert.equal(absoluteText(base, JSON.stringify(graph)), expected)
    }),
    { seed: 17 },
  )
})

test('a graph whose terms do not begin with their type is made absolute all the same', () => {
  const graph: Graph = parseGraph('{"./s":{"./p":[{"value":"./o","type":"uri"}]}}')
  assert.deepEqual(JSON.parse(absoluteText(base, graphText(graph))), absoluteGraph(base, graph))
})

test('the text of a graph that was parsed is the text it was parsed from', () => {
  const stored = '{"./s": {}}'
  assert.equal(graphText(parseGraph(stored)), stored)
})

test('a graph made relative as text is the same as one made relative member by member', () => {
  const own = fc.constantFrom(
    `${base}3/resource/1`,
    `${base}4`,
    base,
    'http://example.org/,a',
    '_:b1',
    `http://x/?${base}`,
  )
  const marks = fc.constantFrom(base, `{"${base}`, `,"${base}`, `"type":"uri","value":"${base}`, 'plain', '"', '{', ',')
  const term = fc.oneof(
    own.map(value => ({ type: 'uri', value }) as const),
    fc.tuple(marks, marks).map(([a, b]) => ({ type: 'literal', value: a + b }) as const),
    marks.map(value => ({ type: 'literal', value, datatype: `${base}type` }) as const),
  )
  fc.assert(
    fc.property(fc.array(fc.record({ subject: own, predicate: own, object: term })), statements => {
      const graph = graphOf(statements)
      assert.equal([...relativeText(base, graph)].join(''), JSON.stringify(relativeGraph(base, graph)))
    }),
    { seed: 17 },
  )
})

test('a graph longer than the pieces in which its text is made relative is made relative everywhere', () => {
  const values = [`${base}3/resource/1`, `{"type":"uri","value":"${base}`, '{"type":', `,"${base}`, 'plain']
  const statements: Statement[] = []
  for (let n = 0; n < 6000; n++) {
    const value = values[n % values.length] ?? ''
    const object: Statement['object'] = n % 5 === 0 ? { type: 'uri', value } : { type: 'literal', value }
    statements.push({ subject: `${base}${n % 7}`, predicate: n % 3 === 0 ? `${base}p${n}` : `http://x/${n}`, object })
  }
  const graph = graphOf(statements)
  const expected = JSON.stringify(relativeGraph(base, graph))
  assert.ok(expected.length > 4 * 65_536)
  assert.equal([...relativeText(base, graph)].join(''), expected)
})

test('a text with renamed IRIs is that of the graph with renamed IRIs, unless statements may become equal (D40.14)', () => {
  const forms = new Map([
    ['./3/resource/1', './5/resource/9'],
    ['./4', './8'],
  ])
  const isNew = (form: string): boolean => form === './5/resource/9' || form === './8'
  let compared = 0
  fc.assert(
    fc.property(fc.array(statement), statements => {
      const graph = graphOf(statements)
      const renamed = renamedText(graphText(graph), forms, isNew)
      assert.ok(renamed !== undefined)
      if (renamed !== graphText(graph)) compared++
      assert.deepEqual(
        JSON.parse(renamed),
        renameIris(graph, one => forms.get(one) ?? one),
      )
    }),
  )
  assert.ok(compared > 20)
  const both = graphOf([
    { subject: './4', predicate: 'urn:p', object: { type: 'uri', value: 'urn:a' } },
    { subject: './8', predicate: 'urn:p', object: { type: 'uri', value: 'urn:a' } },
  ])
  assert.equal(renamedText(graphText(both), forms, isNew), undefined)
  assert.equal(renamedText('{"./4":{"urn:p":[{"value":"urn:a","type":"uri"}]}}', forms, isNew), undefined)
})
