import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidInput, TooLarge } from '../../src/base/errors.ts'
import { GraphReader } from '../../src/graph/graph-reader.ts'
import { type Graph, graphOf, statementsOf } from '../../src/graph/graph.ts'
import { findSyntax } from '../../src/graph/syntaxes.ts'
import { ThreadPool } from '../../src/workers/thread-pool.ts'
import { after } from '../support/after.ts'

const reader = new GraphReader({
  limits: { maxStatements: 1_000_000, maxSize: 64 * 2 ** 20 },
  // The time is no matter of these tests, and a loaded machine needs much of it.
  pool: new ThreadPool({
    module: new URL('../../src/graph/read-worker.ts', import.meta.url),
    threads: 1,
    timeout: 120_000,
    megabytes: 512,
  }),
})
after(() => reader.close())

async function read(mediaType: string, text: string): Promise<Graph> {
  const syntax = findSyntax(mediaType)
  assert.ok(syntax)
  return await reader.read(syntax, text, 'http://127.0.0.1:8080/1/metadata/2', { caller: 'test' })
}
const refused = (mediaType: string, text: string, message: RegExp): Promise<void> =>
  assert.rejects(read(mediaType, text), { constructor: InvalidInput, code: 'invalid-graph', message })

const DEEP = 50_000
const P = 'http://ex.org/p'
const rdfXml = (toRelative: string, doctype = ''): string =>
  `${doctype}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex.org/">${toRelative}</rdf:RDF>`
const literalsOf = (graph: Graph): string[] =>
  [...statementsOf(graph)].filter(({ object }) => object.type === 'literal').map(({ object }) => object.value)

test('Turtle nested 50 000 deep is read; left open it is refused', async () => {
  const open = `<a:a> <${P}> ${`[ <${P}> `.repeat(DEEP)}`
  assert.equal(Object.keys(await read('text/turtle', `${open}"x"${' ]'.repeat(DEEP)} .`)).length, DEEP + 1)
  await refused('text/turtle', open, /line 1/)
})

test('RDF/XML nested 50 000 deep is refused, elements and XML literals alike', async () => {
  await refused('application/rdf+xml', rdfXml('<e:a><e:p>'.repeat(DEEP) + '</e:p></e:a>'.repeat(DEEP)), /nested deeper/)
  const literal = `<e:a><e:p rdf:parseType="Literal">${'<b>'.repeat(DEEP)}${'</b>'.repeat(DEEP)}</e:p></e:a>`
  await refused('application/rdf+xml', rdfXml(literal), /nested deeper/)
})

test('JSON-LD nested 50 000 deep is refused, objects and arrays alike', async () => {
  const object = `${`{"${P}":`.repeat(DEEP)}1${'}'.repeat(DEEP)}`
  for (const text of [object, '['.repeat(DEEP) + ']'.repeat(DEEP)])
    await refused('application/ld+json', text, /nested deeper/)
})

test('entities within entities are not expanded (billion laughs)', async () => {
  const entities = Array.from({ length: 12 }, (_, level) => {
    const inner = level === 0 ? 'ha' : `&a${level - 1};`.repeat(10)
    return `<!ENTITY a${level} "${inner}">`
  })
  const graph = await read(
    'application/rdf+xml',
    rdfXml('<e:a><e:p>&a11;</e:p></e:a>', `<!DOCTYPE r [${entities.join('')}]>`),
  )
  assert.deepEqual(
    literalsOf(graph).map(text => text.length),
    [50],
  )
})

test('an external entity is not fetched', async () => {
  const doctype = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
  await refused('application/rdf+xml', rdfXml('<e:a><e:p>&a;</e:p></e:a>', doctype), /undefined entity/)
})

test('RDF/XML is read up to its first error, however many follow', async () => {
  await refused('application/rdf+xml', rdfXml(`<e:a ${'['.repeat(2_000_000)}`), /line 1|1:/)
})

test('RDF/XML that breaks off is refused, not taken for what came', async () => {
  const whole = rdfXml(`<e:a rdf:about="a:a"><e:p>x</e:p></e:a>`)
  for (const end of ['</rdf:RDF>', '</e:a></rdf:RDF>', 'x</e:p></e:a></rdf:RDF>'])
    await refused('application/rdf+xml', whole.slice(0, -end.length), /RDF\/XML/)
})

test('a prefix that stands for a megabyte, used often, is too large', async () => {
  const uses = Array.from({ length: 2000 }, (_, number) => `p:${number}`).join(', ')
  const text = `@prefix p: <http://${'x'.repeat(1_000_000)}/> . <a:a> <${P}> ${uses} .`
  await assert.rejects(read('text/turtle', text), { constructor: TooLarge, code: 'graph-too-large' })
})

test('reading stops where the names, written out, are too large, in each syntax that has prefixes', async () => {
  const uses = Array.from({ length: 200 }, (_, number) => `p:${number}`).join(', ')
  // What follows is in none of these syntaxes: it is not read any more.
  const text = `@prefix p: <http://${'x'.repeat(500_000)}/> . <a:a> <${P}> ${uses} ] .`
  for (const type of ['text/turtle', 'application/trig', 'text/n3'])
    await assert.rejects(read(type, text), { constructor: TooLarge, code: 'graph-too-large' }, type)
})

test('reading stops at the limit on statements, in each syntax (D15.6)', async () => {
  const reader = new GraphReader({ limits: { maxStatements: 100, maxSize: 2 ** 20 } })
  const count = (least: number) => (write: (n: number) => string) => Array.from({ length: least }, (_, n) => write(n))
  const tooMany = count(101)
  const documents: ReadonlyArray<readonly [string, string]> = [
    // What follows is no Turtle: it is not read any more.
    ['text/turtle', `<a:a> <${P}> ${tooMany(n => `<a:${n}>`).join(', ')}, <a:b> ] .`],
    ['application/n-triples', `${tooMany(n => `<a:a> <${P}> <a:${n}> .\n`).join('')}no more triples`],
    ['application/rdf+xml', rdfXml(`<e:a>${tooMany(n => `<e:p>${n}</e:p>`).join('')}</e:open>`)],
    ['application/ld+json', JSON.stringify({ '@id': 'a:a', [P]: tooMany(String) })],
  ]
  for (const [type, text] of documents) {
    const syntax = findSyntax(type)
    assert.ok(syntax)
    const reading = reader.read(syntax, text, 'http://127.0.0.1:8080/1/metadata/2', { caller: 'test' })
    await assert.rejects(reading, { constructor: TooLarge, code: 'graph-too-large' }, type)
  }
  await reader.close()
})

test('contexts of elsewhere are refused wherever they stand', async () => {
  const far = 'http://127.0.0.1:9/context'
  for (const document of [
    { '@context': far, a: 1 },
    { '@context': [{ a: P }, far], a: 1 },
    { '@context': { '@import': far }, a: 1 },
    { '@context': { a: { '@id': P, '@context': far } }, a: { a: 1 } },
    { '@context': {}, [P]: { '@context': far, a: 1 } },
  ])
    await refused('application/ld+json', JSON.stringify(document), /not fetched/)
})

test('names that N3 quantifies become blank nodes, others stay; variables are refused', async () => {
  const graph = await read('text/n3', `@forSome <a:x> . <a:x> <${P}> <a:y> .`)
  assert.deepEqual(graph, { '_:b0': { [P]: [{ type: 'uri', value: 'a:y' }] } })
  await refused('text/n3', `@forAll <a:x> . <a:x> <${P}> <a:y> .`, /subjects|formulas/)
})

test('other work continues while a long document is parsed', async () => {
  const text = `<a:a> <${P}> ${Array.from({ length: 100_000 }, (_, number) => `<a:${number}>`).join(', ')} .`
  let isDone = false
  let turns = 0
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const graph = await read('text/turtle', text)
  isDone = true
  assert.equal(graph['a:a']?.[P]?.length, 100_000)
  assert.ok(turns > 100, `${turns} turns`)
})

test('many objects of one subject are distinguished without comparing all pairs', () => {
  const statements = Array.from({ length: 200_000 }, (_, number) => ({
    subject: 'a:a',
    predicate: P,
    object: { type: 'uri' as const, value: `a:${number % 150_000}` },
  }))
  assert.equal(graphOf(statements)['a:a']?.[P]?.length, 150_000)
})
