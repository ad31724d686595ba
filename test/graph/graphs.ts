import * as fc from 'fast-check'
import { type Graph, graphOf, type Statement, statementsOf } from '../../src/graph/graph.ts'

const XSD = 'http://www.w3.org/2001/XMLSchema#'
export const LABEL = 'http://ex.org/label'

const iri = fc.oneof(
  fc.constantFrom('urn:x:a', 'http://ex.org/größe', 'http://purl.org/dc/terms/title', 'http://ex.org/a%20b?c=d&e#f'),
  fc.constantFrom("http://ex.org/it's", 'http://ex.org/a(b),c;d', 'http://purl.org/dc/terms/', 'mailto:a@ex.org'),
  fc.constantFrom('http://ex.org/...', 'http://ex.org/a/.', 'http://ex.org/x/../y', 'HTTP://Ex.org:80/%7e//'),
  fc.webUrl({ withQueryParameters: true, withFragments: true }).map(text => new URL(text).href),
)
const name = fc.constantFrom('http://ex.org/p', 'http://ex.org/größe', 'urn:p', 'http://ex.org/2p', `${XSD}q-1`, LABEL)
const type = fc.constant('http://www.w3.org/1999/02/22-rdf-syntax-ns#type')
const blank = fc.nat({ max: 4 }).map(number => `_:node/${number}`)
/** What XML can hold too. */
const text = fc
  .oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', "'''", '\r\n', '\t', ']]>', '<&>', '"""', ' ', ''))
  .filter(text => text.isWellFormed())
const lang = fc.constantFrom('en', 'en-GB', 'zh-Hant')
const datatype = fc.constantFrom(`${XSD}double`, `${XSD}dateTime`, 'urn:type')

const object: fc.Arbitrary<Statement['object']> = fc.oneof(
  iri.map(value => ({ type: 'uri' as const, value })),
  blank.map(value => ({ type: 'bnode' as const, value })),
  text.map(value => ({ type: 'literal' as const, value })),
  fc.tuple(text, lang).map(([value, lang]) => ({ type: 'literal' as const, value, lang })),
  fc.tuple(text, datatype).map(([value, datatype]) => ({ type: 'literal' as const, value, datatype })),
)
const statement = fc
  .tuple(fc.oneof(iri, blank), fc.oneof(name, type), object)
  .map(([subject, predicate, object]): Statement => ({ subject, predicate, object }))

/** Any graph. Each blank node says which it is, so that graphs can be compared whatever their labels. */
export const graphs: fc.Arbitrary<Graph> = fc.array(statement, { maxLength: 15 }).map(all => {
  const labels = new Set(all.flatMap(({ subject, object }) => [subject, object.value]).filter(isBlank))
  const said = [...labels].map(
    (label): Statement => ({ subject: label, predicate: LABEL, object: { type: 'literal', value: `I am ${label}` } }),
  )
  return graphOf([...all, ...said])
})

const isBlank = (value: string): boolean => value.startsWith('_:')

/** The statements in an order and with labels of their own, so that equal graphs are equal lists. */
export function normalised(graph: Graph): string[] {
  const names = new Map<string, string>()
  for (const { subject, predicate, object } of statementsOf(graph)) {
    if (predicate === LABEL && object.value.startsWith('I am ') && isBlank(subject)) names.set(subject, object.value)
  }
  const nameOf = (value: string): string => names.get(value) ?? value
  return [...statementsOf(graph)]
    .map(({ subject, predicate, object: { type, value, lang, datatype } }) =>
      JSON.stringify([nameOf(subject), predicate, type, type === 'bnode' ? nameOf(value) : value, lang, datatype]),
    )
    .sort()
}
