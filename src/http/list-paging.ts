import { InvalidInput } from '../base/errors.ts'
import { graphTypes } from '../model/entry.ts'
import { type Order, type Paging, sortKeys } from '../content/list-order.ts'
import type { Parameters } from './query.ts'

const MAX_ON_A_PAGE = 100

/** Which members of a list are asked for (wire facts 2.7). @throws {InvalidInput} */
export function readPaging(parameters: Parameters): Paging {
  const limit = readNumber(parameters, 'limit')
  return {
    ...readOrder(parameters),
    offset: Math.max(0, readNumber(parameters, 'offset')),
    // Clients write "no limit" as -1.
    limit: limit < 0 ? 0 : Math.min(limit, MAX_ON_A_PAGE),
  }
}

/** @throws {InvalidInput} */
export function readOrder(parameters: Parameters): Order {
  const sort = textOf(parameters, 'sort')
  const first = textOf(parameters, 'prio')
  const known = sortKeys.find(key => key === sort)
  if (sort !== undefined && known === undefined) {
    throw new InvalidInput('invalid-query', `\`sort\` is one of ${sortKeys.join(', ')}, not "${sort}".`)
  }
  return {
    sort: known,
    descending: textOf(parameters, 'order')?.toLowerCase() === 'desc',
    // A type that no member can have moves none.
    first: graphTypes.find(type => type.toLowerCase() === first?.toLowerCase()),
    language: readLanguage(textOf(parameters, 'lang')),
  }
}

/** An empty parameter is none. */
const textOf = (parameters: Parameters, name: string): string | undefined => parameters.get(name) || undefined

function readNumber(parameters: Parameters, name: string): number {
  const text = textOf(parameters, name) ?? '0'
  const number = Number(text)
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(number)) return number
  throw new InvalidInput('invalid-query', `\`${name}\` is a whole number, not "${text}".`)
}

function readLanguage(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : Intl.getCanonicalLocales(text)[0]
  } catch (error) {
    throw new InvalidInput('invalid-query', `\`lang\` is a language tag, not "${text}".`, { cause: error })
  }
}
