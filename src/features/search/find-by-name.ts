import type { Caller } from '../../accounts/caller.ts'
import type { System } from '../../base/system.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import type { EntryAddress } from '../../model/addresses.ts'
import { parseQuery } from './query.ts'
import type { Search } from './search.ts'

interface Services {
  readonly base: BaseAddress
  readonly search: Search
  readonly system: System
}

const MAX_FOUND = 100

/**
 * Finds entries whose name contains a text, at most a hundred; none for an empty text.
 * @param queryFor makes the query from the text, whose punctuation is escaped: it says which fields are names
 */
export async function findByName(
  { base, search, system }: Services,
  caller: Caller,
  text: string | undefined,
  queryFor: (words: string) => string,
): Promise<readonly EntryAddress[]> {
  if (text === undefined || text.trim() === '') return []
  const words = text.trim().replaceAll(/[^\p{L}\p{N}]/gu, sign => `\\${sign}`)
  const { hits } = await search.find(caller, {
    query: parseQuery(queryFor(words)),
    filters: [],
    limit: MAX_FOUND,
    offset: 0,
    order: [],
    facets: { fields: [], minCount: 1, limit: 0, missing: false, matches: undefined },
    toRelative: iri => base.toRelative(iri),
    toAbsolute: iri => base.toAbsolute(iri),
    now: system.now(),
  })
  return hits.map(({ entry: { context, id } }) => ({ context, id }))
}

/** Makes the query for users by their full name or e-mail address, or for contexts by their title. */
export const titleOrEmailQuery =
  (type: 'User' | 'Context') =>
  (words: string): string =>
    `graphType:${type} AND (title:*${words}* OR email:*${words}*)`
