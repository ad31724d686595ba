import { NotFound } from '../../base/errors.ts'
import { json, route, undescribed } from '../../http/interface/route.ts'
import { flag, list, object, oneOf, optional, text } from '../../http/interface/schema.ts'
import { count } from '../../http/interface/shared-schemas.ts'
import type { ReadHttp } from '../../http/http-services.ts'
import type { Statistics } from './statistics.ts'

const usages = optional(list(object({ title: text(), totalCount: count, usedInCount: count })))

const Counts = object({
  type: oneOf('property', 'keyword', 'ontology'),
  entries: count,
  complete: flag,
  counts: list(object({ name: text(), lang: optional(text()), count })),
  entryCount: count,
  entryCountValidated: optional(count),
  entryCountMandatory: optional(count),
  entryCountRecommended: optional(count),
  propertyUsage: optional(list(object({ property: text(), statements: count, usedInCount: count }))),
  entryCountWithKeyword: optional(count),
  keywordUsage: usages,
  entryCountWithOntologyTerm: optional(count),
  predicateUsage: usages,
  ontologyTermUsage: usages,
})

interface Services extends ReadHttp {
  readonly statistics: Statistics
}

/** Statistics of the metadata of a context (W3.16). */
export const statisticsRoutes = [
  route({
    id: 'readStatistics',
    method: 'GET',
    url: '/:context/statistics/:type',
    chapter: 'Archives and statistics',
    summary: 'Count the properties, keywords or terms in the metadata of a context.',
    access: 'callers who can read the resource of the context',
    path: {
      type: {
        description: '`property`, `keyword` or `ontology`; also `properties` and `keywords`.',
        schema: { enum: ['property', 'properties', 'keyword', 'keywords', 'ontology'] },
        example: 'property',
      },
    },
    details:
      '`entryCountValidated`, `entryCountMandatory` and `entryCountRecommended` are 0: the service has no profiles of properties.',
    answers: { 200: json('The counts.', Counts) },
    refusals: { 401: [], 403: [], 404: ['not-found'], 503: ['overloaded'] },
    compressible: true,
    heavy: true,
    handle: async ({ statistics }: Services, { caller, params }) =>
      await statistics.of(caller, params.context, params.type),
  }),
]

/** EntryScape asks here for the files that were downloaded most often, and takes a 404 for an empty list. */
export const downloadRoutes = [
  undescribed({
    method: 'GET',
    url: '/statistics/:context/top/*',
    handle: () => {
      throw new NotFound('not-found', 'This service counts no downloads, so it has no statistics of them.')
    },
  }),
]
