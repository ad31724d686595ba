import { integer } from '../../config/kinds.ts'

export const searchSettings = {
  title: 'Search',
  rows: {
    'service.solr.max-limit': integer({
      min: 1,
      max: 100_000,
      default: 100,
      help: 'Maximum number of results of one search request.',
    }),
  },
} as const
