// Forty kinds of search: who asks, and what.
import { createHash } from 'node:crypto'

const DCAT = 'http\\://www.w3.org/ns/dcat\\#'

/** Predicates are named by a part of the MD5 of their IRI. */
const predicate = (kind, iri) => `metadata.predicate.${kind}.${createHash('md5').update(iri).digest('hex').slice(0, 8)}`
const ISSUED = predicate('date', 'http://purl.org/dc/terms/issued')
const PUBLISHER = predicate('uri', 'http://purl.org/dc/terms/publisher')
const THEME = predicate('uri', 'http://www.w3.org/ns/dcat#theme')
const IDENTIFIER = predicate('literal_s', 'http://purl.org/dc/terms/identifier')

const common = { query: 'title:data' }
const dataset = `rdfType:${DCAT}Dataset`

/** @param base the address of the service, which addresses in queries begin with */
export const searchesOf = base => {
  const quoted = iri => iri.replaceAll(/[:/#?]/g, character => `\\${character}`)
  /** @type {ReadonlyArray<readonly [what: string, who: string, parameters: Record<string, string | number>]>} */
  const list = [
    ['a rare compound', 'guest', { query: 'title:Wasserqualität' }],
    ['a rare compound', 'member', { query: 'title:Wasserqualität' }],
    ['a rare compound', 'admin', { query: 'title:Wasserqualität' }],
    ['a common word', 'guest', common],
    ['a common word', 'member', common],
    ['a common word', 'admin', common],
    ['a common word, page 100', 'guest', { ...common, offset: 990, limit: 10 }],
    ['a common word, page 100', 'admin', { ...common, offset: 990, limit: 10 }],
    ['a common word, by title', 'guest', { ...common, sort: 'title.en asc' }],
    ['a common word, by change', 'guest', { ...common, sort: 'modified desc' }],
    ['everything', 'guest', { query: '*:*' }],
    ['everything', 'admin', { query: '*:*' }],
    ['everything, by creation', 'guest', { query: '*:*', sort: 'created desc' }],
    ['everything, by creation', 'admin', { query: '*:*', sort: 'created desc' }],
    ['everything, by change', 'guest', { query: '*:*', sort: 'modified desc' }],
    ['everything, by title', 'admin', { query: '*:*', sort: 'title asc' }],
    ['data sets', 'guest', { query: dataset }],
    ['data sets, by change', 'guest', { query: dataset, sort: 'modified desc' }],
    ['data sets, by change, page 100', 'member', { query: dataset, sort: 'modified desc', offset: 4950 }],
    ['data sets, by creation', 'member', { query: dataset, sort: 'created asc' }],
    ['data sets, by date of issue', 'guest', { query: dataset, sort: `${ISSUED} desc` }],
    ['data sets of a context', 'guest', { query: `${dataset} AND context:${quoted(`${base}1`)}` }],
    [
      'data sets of a publisher',
      'member',
      { query: `${dataset} AND ${PUBLISHER}:${quoted('https://data.example.org/organisation/7')}` },
    ],
    ['an identifier', 'member', { query: `${IDENTIFIER}:${quoted('https://data.example.org/id/2-77')}` }],
    [
      'identifiers by their beginning',
      'admin',
      { query: `${IDENTIFIER}:${quoted('https://data.example.org/id/2-')}*` },
    ],
    ['the beginning of a word', 'guest', { query: 'title:wass*' }],
    ['the beginning of a word', 'admin', { query: 'all:trans*' }],
    ['a whole word of descriptions', 'guest', { query: 'all:environment' }],
    ['a phrase', 'member', { query: 'description:"water quality"' }],
    ['two words', 'guest', { query: 'title:water AND description:forest' }],
    ['either of two words', 'member', { query: 'title:water OR title:vatten' }],
    ['a word, and not another', 'guest', { query: 'title:data AND NOT title:quality' }],
    ['all but a kind', 'admin', { query: `graphType:None AND NOT ${dataset}` }],
    ['a range of dates', 'guest', { query: `${ISSUED}:[2021-01-01 TO 2021-12-31]`, sort: `${ISSUED} asc` }],
    ['public data sets', 'admin', { query: `public:true AND ${dataset}` }],
    ['Japanese', 'guest', { query: 'title:水質' }],
    ['Greek', 'member', { query: 'title:νερό' }],
    ['facets of a common word', 'guest', { ...common, facetFields: `${THEME},rdfType,lang` }],
    ['facets of everything', 'admin', { query: '*:*', facetFields: `${THEME},rdfType,context`, limit: 0 }],
    ['a keyword', 'member', { query: 'tag.literal:recycling', sort: 'title asc' }],
  ]
  return list.map(([what, who, { limit = 50, ...parameters }]) => ({
    what: `${what}, ${who}`,
    who,
    path: `search?${new URLSearchParams({ type: 'solr', limit, ...parameters })}`,
  }))
}
