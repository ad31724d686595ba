import { NotSupported } from '../../base/errors.ts'
import type { EntryView } from '../../content/resource-kind.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import type { EntryInContext } from '../../model/rights.ts'
import type { Facet, Order } from './request.ts'
import { BoundedPattern } from './bounded-pattern.ts'
import { parseFilters, parseQuery } from './query.ts'
import { describeEntry, embeddedFormat, embeddedGraphs, type GraphForm } from '../../http/representations.ts'
import { isLongEnough, MIN_CHARACTERS } from '../../search/fields.ts'
import { custom, invalid, json, requiredText, route, shown, textParameter } from '../../http/interface/route.ts'
import { anyOf, list, named, nothing, object, text } from '../../http/interface/schema.ts'
import { count, Hit } from '../../http/interface/shared-schemas.ts'
import type { Parameters } from '../../http/protocol/parameters.ts'
import type { Reads } from '../../http/read-services.ts'
import type { System } from '../../base/system.ts'
import type { Search } from './search.ts'

const DEFAULT_LIMIT = 50
const DEFAULT_FACET_LIMIT = 100
const MAX_FACET_LIMIT = 1000
const MAX_FIELDS = 20

const SearchResult = named(
  'SearchResult',
  object({
    resource: object({ children: list(Hit) }),
    results: count,
    limit: count,
    offset: count,
    facetFields: list(
      object({ name: text(), valueCount: count, values: list(object({ name: anyOf(text(), nothing), count })) }),
    ),
  }),
)

/** A whole number, also a negative one, which clients send for "none". */
const number = <T extends number | undefined>(description: string, otherwise: T) =>
  custom(description, (parameters, name) => readNumber(parameters, name) ?? otherwise, {
    keywords: { type: 'integer', ...(otherwise === undefined ? {} : { default: otherwise }) },
  })

interface Services extends Reads<'base' | 'views'> {
  readonly search: Search
  /** Most hits of one response. */
  readonly maxLimit: number
  readonly system: System
}

/** Search for entries (W3.10). */
export const searchRoutes = [
  route({
    id: 'search',
    method: 'GET',
    url: '/search',
    chapter: 'Search',
    summary: 'Find the entries whose metadata the caller may read.',
    query: {
      type: requiredText('The query language, `solr`.', { example: 'solr', keywords: { enum: ['solr'] } }),
      query: requiredText(
        'The query. It has 3 to 16,384 characters and at most 32 levels of brackets; a query of one emoji, or of two Chinese, Japanese or Korean characters, is also accepted. [Limits](reference/limits.md#single-operations)',
        { example: 'title:donald', keywords: { minLength: 1, maxLength: 16_384 } },
      ),
      limit: number(
        'How many hits to return, at most `service.solr.max-limit`; 0 returns only their number.',
        DEFAULT_LIMIT,
      ),
      offset: number('How many hits to skip.', 0),
      sort: custom(
        'Fields and directions, such as `title.en+asc,modified+desc`; `score` is a field too. Hits without the field come last. For a hit with several values, the value that comes first counts. Without `sort`, hits with the highest score come first (the number of matching alternatives of an OR, each times its boost), then those that changed last.',
        readOrder,
      ),
      filterQuery: textParameter('Further queries, separated by commas. A hit matches all of them.'),
      facetFields: custom(
        'At most 20 fields, separated by commas. The response counts their values over all hits. Fields that are matched by words or parts of words have no values.',
        readFields,
      ),
      facetMinCount: number('Values with fewer hits are left out.', 1),
      facetLimit: number('How many values to return for each field, at most 1000.', DEFAULT_FACET_LIMIT),
      facetMissing: custom(
        '`true`: also counts the hits without the field.',
        (parameters, name) => parameters.get(name) === 'true',
        {
          keywords: { enum: ['true', 'false'] },
        },
      ),
      facetMatches: textParameter(
        'A pattern (RE2) of at most 256 characters. Only values that match it as a whole are counted.',
      ),
      rdfFormat: embeddedFormat,
    },
    answers: {
      200: json('The hits.', SearchResult, {
        headers: {
          'Search-Index': '`incomplete` while entries are missing in the index, as after an upgrade or a restore.',
        },
      }),
    },
    compressible: true,
    heavy: true,
    refusals: { 400: ['query-too-costly'], 406: ['not-acceptable'], 501: ['not-available'] },
    handle: async ({ base, maxLimit, search, system, views }: Services, exchange) => {
      const { request, reply, caller, query } = exchange
      requireType(query.type)
      const form = embeddedGraphs(request)
      requireLongEnough(query.query)
      const limit = Math.min(query.limit < 0 ? DEFAULT_LIMIT : query.limit, maxLimit)
      const offset = Math.max(0, query.offset)
      const budget = ResponseBudget.forMany()
      const requested = {
        query: parseQuery(query.query),
        filters: parseFilters(query.filterQuery ?? ''),
        limit,
        offset,
        order: query.sort,
        facets: {
          fields: query.facetFields,
          minCount: query.facetMinCount,
          limit: query.facetLimit < 0 ? MAX_FACET_LIMIT : Math.min(query.facetLimit, MAX_FACET_LIMIT),
          missing: query.facetMissing,
          matches:
            query.facetMatches === undefined ? undefined : new BoundedPattern(query.facetMatches, '`facetMatches`'),
        },
        toRelative: (iri: string) => base.toRelative(iri),
        toAbsolute: (iri: string) => base.toAbsolute(iri),
        now: system.now(),
      }
      const found = await search.find(caller, requested, budget)
      if (!found.isComplete) reply.header('Search-Index', 'incomplete')
      const shown: ShownHit[] = []
      for (const hit of found.hits) shown.push({ entry: hit.entry, view: await views.hit(caller, hit, budget) })
      const facetFields = found.facets.map(facet => describeFacet({ base }, facet))
      const numbers = { results: found.total, limit, offset, facetFields }
      return { resource: { children: shown.map(hit => describeHit({ base }, hit, form)) }, ...numbers }
    },
  }),
]

interface ShownHit extends Pick<EntryInContext, 'entry'> {
  readonly view: EntryView
}

/** A context has an alias where other entries have a name. */
function describeHit({ base }: Reads<'base'>, hit: ShownHit, form: GraphForm | undefined): unknown {
  const { name, alias, ...described } = describeEntry(hit.view, base, form)
  return { ...described, ...(hit.entry.context === CONTEXTS ? { alias } : { name }), contextId: hit.entry.context }
}

const describeFacet = ({ base }: Reads<'base'>, { name, isUri, values }: Facet): unknown => ({
  name,
  valueCount: values.length,
  values: values.map(({ value, count }) => ({
    name: value === undefined ? null : isUri ? base.toAbsolute(value) : value,
    count,
  })),
})

export function requireLongEnough(query: string): void {
  if (!isLongEnough(query.trim())) throw invalid(`\`query\` has fewer than ${MIN_CHARACTERS} characters.`)
}

export function requireType(type: string): void {
  if (type === 'solr') return
  if (type === 'sparql') throw new NotSupported('not-available', 'SPARQL is not available.')
  throw invalid(`\`type\` must be \`solr\`, but is "${shown(type)}".`)
}

/** @throws {InvalidInput} for a text that is not a whole number */
function readNumber(parameters: Parameters, name: string): number | undefined {
  const text = parameters.get(name)
  if (text === undefined || text === '') return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw invalid(`\`${name}\` must be a whole number, but is "${shown(text)}".`)
}

function readFields(parameters: Parameters, name: string): string[] {
  const items = (parameters.get(name) ?? '').split(',').map(item => item.trim())
  const fields = [...new Set(items.filter(item => item !== ''))]
  if (fields.length <= MAX_FIELDS) return fields
  throw invalid(`\`${name}\` names more than ${MAX_FIELDS} fields.`)
}

/** `title.en asc,modified desc`; the plus of the query string is already a blank here. */
export function readOrder(parameters: Parameters, name: string): Order[] {
  const items = (parameters.get(name) ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
  if (items.length > MAX_FIELDS) throw invalid(`\`${name}\` names more than ${MAX_FIELDS} fields.`)
  return items.map(item => {
    const [field = '', direction = 'asc', ...rest] = item.split(/\s+/)
    const isDirection = /^(asc|desc)$/i.test(direction)
    if (isDirection && rest.length === 0) return { field, descends: direction.toLowerCase() === 'desc' }
    throw invalid(`\`${name}\` must have the form \`field asc,field desc\`, but has "${shown(item)}".`)
  })
}
