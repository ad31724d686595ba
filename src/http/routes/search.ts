import type { FastifyRequest } from 'fastify'
import { InvalidInput, NotSupported } from '../../base/errors.ts'
import type { EntryView } from '../../content/entry-view.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import type { EntryInContext } from '../../model/rights.ts'
import type { Facet, Order } from '../../search/engine.ts'
import { FacetPattern } from '../../search/facet-pattern.ts'
import { parseFilters, parseQuery } from '../../search/query.ts'
import { describeEntry, type GraphForm } from '../describe.ts'
import { type Parameters, refuseFeed } from '../query.ts'
import { embeddedGraphs } from '../rdf.ts'
import { type Route } from '../route.ts'
import type { Services } from '../services.ts'

const DEFAULT_LIMIT = 50
const MIN_QUERY_CHARACTERS = 3
const DEFAULT_FACET_LIMIT = 100
const MAX_FACET_LIMIT = 1000
const MAX_FIELDS = 20

/** Finding entries (wire facts 3.10). */
export const searchRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/search', handle: getSearch(deps), compressible: true },
]

const getSearch = (deps: Services) => async (request: FastifyRequest) => {
  const { parameters, caller } = request
  requireType(parameters.get('type'))
  const form = embeddedGraphs(request)
  refuseFeed(request)
  const text = parameters.get('query') ?? ''
  if ([...text.trim()].length < MIN_QUERY_CHARACTERS) {
    throw new InvalidInput('invalid-query', `\`query\` has fewer than ${MIN_QUERY_CHARACTERS} characters.`)
  }
  const limit = readLimit(parameters, deps.options.search.maxLimit)
  const offset = Math.max(0, readNumber(parameters, 'offset') ?? 0)
  const budget = ResponseBudget.forMany()
  const search = {
    query: parseQuery(text),
    filters: parseFilters(parameters.get('filterQuery') ?? ''),
    limit,
    offset,
    order: readOrder(parameters.get('sort') ?? ''),
    facets: {
      fields: listOf(parameters, 'facetFields'),
      minCount: readNumber(parameters, 'facetMinCount') ?? 1,
      limit: readFacetLimit(parameters),
      missing: parameters.get('facetMissing') === 'true',
      matches: readPattern(parameters.get('facetMatches')),
    },
    toRelative: (iri: string) => deps.base.toRelative(iri),
    toAbsolute: (iri: string) => deps.base.toAbsolute(iri),
  }
  const found = await deps.search.find(caller, search, budget)
  const children = []
  for (const placed of found.hits)
    children.push(describeHit(deps, placed, await deps.views.hit(caller, placed, budget), form))
  return {
    resource: { children },
    results: found.total,
    limit,
    offset,
    facetFields: found.facets.map(facet => describeFacet(deps, facet)),
  }
}

function describeHit(deps: Services, { entry }: EntryInContext, view: EntryView, form: GraphForm): unknown {
  const { name, alias, ...described } = describeEntry(view, deps.base, form)
  const named = entry.context === CONTEXTS ? { alias } : { name }
  return { ...described, ...named, contextId: entry.context }
}

const describeFacet = (deps: Services, { name, isUri, values }: Facet): unknown => ({
  name,
  valueCount: values.length,
  values: values.map(({ value, count }) => ({
    name: value === undefined ? null : isUri ? deps.base.toAbsolute(value) : value,
    count,
  })),
})

function requireType(type: string | undefined): void {
  if (type === 'solr') return
  if (type === 'sparql') throw new NotSupported('not-available', 'SPARQL is not available.')
  throw new InvalidInput('invalid-query', '`type` must be `solr`.')
}

function readLimit(parameters: Parameters, most: number): number {
  const asked = readNumber(parameters, 'limit') ?? DEFAULT_LIMIT
  return Math.min(asked < 0 ? DEFAULT_LIMIT : asked, most)
}

function readFacetLimit(parameters: Parameters): number {
  const asked = readNumber(parameters, 'facetLimit') ?? DEFAULT_FACET_LIMIT
  return asked < 0 ? MAX_FACET_LIMIT : Math.min(asked, MAX_FACET_LIMIT)
}

const readPattern = (text: string | undefined): FacetPattern | undefined =>
  text === undefined ? undefined : new FacetPattern(text)

/** @throws {InvalidInput} when there is something that is not a whole number */
function readNumber(parameters: Parameters, name: string): number | undefined {
  const text = parameters.get(name)
  if (text === undefined || text === '') return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidInput('invalid-query', `\`${name}\` is not a whole number.`)
}

function listOf(parameters: Parameters, name: string): string[] {
  const items = (parameters.get(name) ?? '').split(',').map(item => item.trim())
  const named = [...new Set(items.filter(item => item !== ''))]
  if (named.length <= MAX_FIELDS) return named
  throw new InvalidInput('invalid-query', `\`${name}\` names more than ${MAX_FIELDS} fields.`)
}

/** `title.en asc,modified desc`; the blank comes as a plus. */
function readOrder(text: string): Order[] {
  const items = text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
  if (items.length > MAX_FIELDS)
    throw new InvalidInput('invalid-query', `\`sort\` names more than ${MAX_FIELDS} fields.`)
  return items.map(item => {
    const [field = '', direction = 'asc', ...rest] = item.split(/\s+/)
    const isDirection = /^(asc|desc)$/i.test(direction)
    if (isDirection && rest.length === 0) return { field, descends: direction.toLowerCase() === 'desc' }
    throw new InvalidInput('invalid-query', '`sort` is not of the form `field asc,field desc`.')
  })
}
