import { hash } from 'node:crypto'
import type { ReadHttp } from '../../http/http-services.ts'
import {
  choice,
  content,
  custom,
  type Exchange,
  invalid,
  requiredText,
  route,
  textParameter,
  unchanged,
  type ValuesOf,
  wholeNumber,
} from '../../http/interface/route.ts'
import { text } from '../../http/interface/schema.ts'
import { isUnchanged } from '../../http/representations.ts'
import { readOrder, requireLongEnough, requireType } from '../search/routes.ts'
import { parseFilters, parseQuery } from '../search/query.ts'
import type { FeedRequest, Feeds } from './feeds.ts'
import { type Feed, formats } from './formats.ts'

interface Services extends ReadHttp {
  readonly feeds: Feeds
}

const MAX_TITLE = 200
const DEFAULT_SIZE = 50
const parameter = 'syndication'
const names = ['rss_2.0', 'atom_1.0'] as const

const feedQuery = {
  syndication: choice('A feed, instead of JSON: RSS 2.0 or Atom 1.0.', names, 'rss_2.0'),
  lang: textParameter('Of a feed: the language of titles and descriptions, by default `en`.'),
  urltemplate: textParameter(
    'Of a feed: the name of a template in the settings (`service.syndication.url-template.<name>`), which gives the addresses of the items.',
  ),
  feedtitle: textParameter(`Of a feed: its title, at most ${MAX_TITLE} characters.`),
}
const feedSize = wholeNumber('Of a feed: its maximum number of items, up to `service.solr.max-limit`.', {
  otherwise: DEFAULT_SIZE,
  cap: 100_000,
})

const answers = {
  200: content(
    'The feed.',
    names.map(name => formats[name].mediaType),
    text(),
  ),
  304: unchanged,
}
const listed = {
  chapter: 'Search',
  summary: 'The entries that changed last, as a feed.',
  details:
    'With `syndication` the response is a feed of the entries in the list or context that the caller may read, the latest change first. The caller needs the right to read the resource of the list or context.',
  parameter,
  heavy: true,
  compressible: true,
  query: { ...feedQuery, feedSize },
  answers,
  refusals: { 400: ['invalid-type'], 401: [], 403: [], 404: [] },
} as const

/** Feeds (D18.28): the same addresses as the search and the resources that they show, with the parameter `syndication`. */
export const feedRoutes = [
  route({
    ...listed,
    id: 'readSearchFeed',
    method: 'GET',
    url: '/search',
    summary: 'The hits of a search as a feed.',
    details: 'With `syndication` the response is a feed of the hits, with at most `limit` items.',
    query: {
      ...feedQuery,
      type: requiredText('`solr`.', { example: 'solr' }),
      query: requiredText('The query.', { example: 'title:donald' }),
      filterQuery: textParameter('Further queries.'),
      sort: custom('Fields and directions.', readOrder),
      offset: wholeNumber('0.', { otherwise: 0 }),
      limit: wholeNumber('How many items.', { otherwise: DEFAULT_SIZE, cap: 100_000 }),
    },
    refusals: { 400: ['query-too-costly'], 501: ['not-available'] },
    handle: async ({ feeds, base }: Services, exchange) => {
      const { request, caller, query } = exchange
      requireType(query.type)
      requireLongEnough(query.query)
      if (query.offset > 0) throw invalid('A feed has the first hits: it takes no `offset`.')
      const hits = { query: parseQuery(query.query), filters: parseFilters(query.filterQuery ?? ''), order: query.sort }
      const link = base.at(request.url.replace(/^\//, ''))
      return await send(exchange, await feeds.ofSearch(caller, base, hits, { ...requestOf(query, query.limit), link }))
    },
  }),
  route({
    ...listed,
    id: 'readContextFeed',
    method: 'GET',
    url: '/:context',
    handle: async ({ feeds, base }: Services, exchange) => {
      const { caller, params, query } = exchange
      return await send(exchange, await feeds.ofContext(caller, base, params.context, requestOf(query, query.feedSize)))
    },
  }),
  route({
    ...listed,
    id: 'readResourceFeed',
    method: 'GET',
    url: '/:context/resource/:entry',
    handle: async ({ feeds, base }: Services, exchange) => {
      const { caller, params, query } = exchange
      return await send(exchange, await feeds.ofEntry(caller, base, params, requestOf(query, query.feedSize)))
    },
  }),
]

const requestOf = ({ lang, urltemplate, feedtitle }: ValuesOf<typeof feedQuery>, size: number): FeedRequest => ({
  language: lang || 'en',
  template: urltemplate || undefined,
  title: feedtitle?.slice(0, MAX_TITLE) || undefined,
  size,
})

/** Readers ask again and again, so a feed that is as before has no body. */
async function send(
  { request, reply, query }: Pick<Exchange<string, typeof feedQuery>, 'request' | 'reply' | 'query'>,
  feed: Feed,
) {
  const { mediaType, write } = formats[query.syndication]
  const xml = write(feed)
  const etag = `"${hash('sha256', xml, 'base64url').slice(0, 22)}"`
  reply.header('etag', etag)
  if (isUnchanged(request.headers, { etag })) return await reply.status(304).send()
  return await reply.type(`${mediaType}; charset=utf-8`).send(xml)
}
