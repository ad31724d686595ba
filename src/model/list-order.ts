import { objectsOf, parseGraph } from '../graph/graph.ts'
import { dc, dct } from '../graph/vocabulary.ts'
import { type Entry, type GraphType, resourceOf } from './entry.ts'

export const sortKeys = ['title', 'modified', 'created', 'size'] as const
type SortKey = (typeof sortKeys)[number]

/** The order of members; without it, the list's own order (W2.7). */
export interface Order {
  readonly sort: SortKey | undefined
  readonly descending: boolean
  /** The graph type that is listed first. */
  readonly first: GraphType | undefined
  /** The language whose titles are preferred. */
  readonly language: string | undefined
}

export interface Paging extends Order {
  readonly offset: number
  /** Page size; 0: all members. */
  readonly limit: number
}

export const listOrder: Order = { sort: undefined, descending: false, first: undefined, language: undefined }
export const wholeList: Paging = { ...listOrder, offset: 0, limit: 0 }

/** A page of a list (W2.7). */
export interface ListPage<Child> {
  readonly children: readonly Child[]
  readonly size: number
  /** 0 when all members are in the response. */
  readonly limit: number
  readonly offset: number
  /** All ids in the list's own order. */
  readonly allUnsorted: readonly string[]
}

/** The values that a member is sorted by. */
export interface Sortable {
  readonly graphType: GraphType
  readonly title: string | undefined
  readonly created: number
  readonly modified: number
  /** Size of its file. */
  readonly size: number
}

/** True for the list's own order, which changes only together with the list. */
export const isOwnOrder = ({ sort, first }: Order): boolean => sort === undefined && first === undefined

/**
 * The members in the requested order. Members that compare equal keep their relative order, and members without a title stay
 * at the end.
 */
export function sorted<Member extends Sortable>(members: readonly Member[], order: Order): Member[] {
  const compare = comparison(order)
  const result = compare ? [...members].sort(compare) : [...members]
  if (order.first === undefined) return result
  const isFirst = ({ graphType }: Member): boolean => graphType === order.first
  return [...result.filter(isFirst), ...result.filter(member => !isFirst(member))]
}

export const pageOf = <Member>(members: readonly Member[], { offset, limit }: Paging): Member[] =>
  members.slice(offset, limit === 0 ? undefined : offset + limit)

function comparison({ sort, descending, language }: Order): ((a: Sortable, b: Sortable) => number) | undefined {
  const sign = descending ? -1 : 1
  switch (sort) {
    case undefined:
      return undefined
    case 'title': {
      const { compare } = new Intl.Collator(language ?? 'en', { sensitivity: 'accent' })
      return ({ title: a }, { title: b }) => {
        if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
        return sign * compare(a, b)
      }
    }
    case 'modified':
    case 'created':
    case 'size':
      return (a, b) => sign * (a[sort] - b[sort])
  }
}

/** The title that a person with this language sees. */
export function titleOf(entry: Entry, language: string | undefined): string | undefined {
  const about = resourceOf(entry)
  const metadata = parseGraph(entry.metadata)
  const titles = [...objectsOf(metadata, about, dct.title), ...objectsOf(metadata, about, dc.title)]
  const fitting = language === undefined ? undefined : titles.find(({ lang }) => speaks(lang, language))
  return (fitting ?? titles[0])?.value
}

const speaks = (lang: string | undefined, language: string): boolean =>
  lang !== undefined && lang.toLowerCase().split('-')[0] === language.toLowerCase().split('-')[0]
