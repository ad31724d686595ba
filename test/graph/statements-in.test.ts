import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { parseGraphInSteps, statementsIn } from '../../src/graph/graph-text.ts'
import { type Graph, graphText, type Statement, statementsOf } from '../../src/graph/graph.ts'

const plain = (statements: Iterable<Statement>): unknown[] =>
  [...statements].map(({ subject, predicate, object }) => ({ subject, predicate, object }))

const tricky = [
  '',
  '"',
  '\\',
  '\\"',
  'a\\\\"}',
  '{"type":"uri"}',
  '],"x":[',
  'ä€𝄞',
  '\u0001\n\u2028',
  ', } ]',
  'http://ex.org/\\',
]
const terms = tricky.flatMap(value => [
  { type: 'literal' as const, value },
  { type: 'literal' as const, value, lang: 'de' },
  { type: 'uri' as const, value },
  { type: 'literal' as const, value, datatype: value },
])
const graph: Graph = Object.fromEntries([
  ...tricky.map(name => [name, Object.fromEntries(tricky.map(predicate => [predicate, terms] as const))] as const),
  ['./1/resource/2', { './1/resource/3': [{ type: 'uri', value: `./${'x'.repeat(70_000)}` }] }],
])

test('a long text holds the statements of the graph, however it is written', () => {
  for (const text of [JSON.stringify(graph), JSON.stringify(graph, undefined, '\t \r\n')]) {
    assert.ok(text.length > 65_536)
    assert.deepEqual(plain(statementsIn(text)), plain(statementsOf(graph)))
  }
})

test('so do a short one and empty ones', () => {
  const short: Graph = { a: { b: terms } }
  assert.deepEqual(plain(statementsIn(JSON.stringify(short))), plain(statementsOf(short)))
  const space = ' '.repeat(70_000)
  for (const text of ['{}', `{${space}}`, `${space}{"a":{},"b":{"c":[]}}`])
    assert.deepEqual([...statementsIn(text)], [])
})

test('a long text that is no graph is refused', () => {
  const whole = JSON.stringify(graph)
  for (const end of [1, 10, 66_000, whole.length - 3, whole.length - 1]) {
    const text = `${' '.repeat(70_000)}${whole.slice(0, end)}`
    assert.throws(() => [...statementsIn(text)], /cannot be read/)
  }
  assert.throws(() => [...statementsIn(whole.replace('":{', '":['))], /cannot be read/)
})

test('a long text is parsed as JSON is, in steps between which others have their turn (D40.13)', async () => {
  const space = ' '.repeat(70_000)
  const many = {
    'urn:a': Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`urn:p${n}`, terms.slice(0, 2)])),
  }
  const others = { 'urn:b': { 'urn:p': Array.from({ length: 20_000 }, () => terms[0]) } }
  const written = [graph, many, others].flatMap(one => [JSON.stringify(one), JSON.stringify(one, undefined, '\t')])
  for (const text of [...written, `{${space}}`, `${space}{"a":{},"b":{"c":[]}}`, '{"a":{"b":[]}}']) {
    const parsed = await parseGraphInSteps(text)
    assert.deepEqual(parsed, JSON.parse(text))
    assert.equal(graphText(parsed), text, 'it keeps the text')
  }
  for (const text of [JSON.stringify(many), JSON.stringify(others)]) {
    let turns = 0
    const isParsed = parseGraphInSteps(text).then(() => true)
    while (!(await Promise.race([isParsed, setImmediate(false)]))) turns++
    assert.ok(turns > text.length / 100_000, `${turns} turns`)
  }
})
