import { graphTypes } from '../model/entry.ts'
import { type Order, type Paging, sortKeys } from '../model/list-order.ts'
import { choice, custom, invalid, textParameter, type ValuesOf } from './interface/route.ts'
import type { Parameters } from './protocol/parameters.ts'

const MAX_ON_A_PAGE = 100

/** The order of a list's members (W2.7). */
export const orderQuery = {
  sort: choice(
    'Sort the members of a list by this; by default they keep their order in the list.',
    sortKeys,
    undefined,
  ),
  order: textParameter('`desc`: in descending order.', { keywords: { enum: ['asc', 'desc'] } }),
  prio: textParameter('A graph type whose entries come first, such as `List`.', { keywords: { enum: graphTypes } }),
  lang: custom(
    'With `sort=title`: a language tag. Titles in this language are compared, in the order of this language.',
    readLanguage,
  ),
}

/** Selects the members of a list in a response. */
export const pagingQuery = {
  limit: custom(
    `How many members of a list to return, at most ${MAX_ON_A_PAGE}; 0 and -1 return all members.`,
    (parameters, name) => readNumber(parameters, name),
    { keywords: { type: 'integer', default: 0 } },
  ),
  offset: custom('How many members to skip.', (parameters, name) => readNumber(parameters, name), {
    keywords: { type: 'integer', default: 0 },
  }),
  ...orderQuery,
}

export function pagingOf(query: ValuesOf<typeof pagingQuery>): Paging {
  const { limit, offset } = query
  const { sort, descending, first, language } = orderOf(query)
  // Clients write "no limit" as -1.
  const most = limit < 0 ? 0 : Math.min(limit, MAX_ON_A_PAGE)
  return { sort, descending, first, language, offset: Math.max(0, offset), limit: most }
}

export const orderOf = ({ sort, order, prio, lang }: ValuesOf<typeof orderQuery>): Order => ({
  sort,
  descending: order?.toLowerCase() === 'desc',
  // A type that no member can have moves none.
  first: prio === undefined ? undefined : graphTypes.find(type => type.toLowerCase() === prio.toLowerCase()),
  language: lang,
})

/** An empty parameter is treated as absent. */
const textOf = (parameters: Parameters, name: string): string | undefined => parameters.get(name) || undefined

function readNumber(parameters: Parameters, name: string): number {
  const text = textOf(parameters, name) ?? '0'
  const number = Number(text)
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(number)) return number
  throw invalid(`\`${name}\` must be a whole number, but is "${text}".`)
}

function readLanguage(parameters: Parameters, name: string): string | undefined {
  const text = textOf(parameters, name)
  try {
    return text === undefined ? undefined : Intl.getCanonicalLocales(text)[0]
  } catch (error) {
    throw invalid(`\`${name}\` must be a language tag, but is "${text}".`, error)
  }
}
