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
    }),
    { seed: 17 },
  )
})

test('a graph whose terms do not begin with their type is made absolute all the same', () => {
  const graph: Graph = parseGraph('{"./s":{"./p":[{"value":"./o","type":"uri"}]}}')
  assert.deepEqual(JSON.parse(absoluteText(base, graphText(graph))), absoluteGraph(base, graph))
})
