import { objectsOf } from '../graph/graph.ts'
import { dc, dct } from '../graph/vocabulary.ts'
import { type Entry, type GraphType, resourceOf } from '../model/entry.ts'

export const sortKeys = ['title', 'modified', 'created', 'size'] as const
export type SortKey = (typeof sortKeys)[number]

/** In which order members are told; without any of it, in the list's own (wire facts 2.7). */
export interface Order {
  readonly sort: SortKey | undefined
  readonly descending: boolean
  /** The graph type that comes first. */
  readonly first: GraphType | undefined
  /** The language whose titles count, where there are any. */
  readonly language: string | undefined
}

export interface Paging extends Order {
  readonly offset: number
  /** 0: all. */
  readonly limit: number
}

export const listOrder: Order = { sort: undefined, descending: false, first: undefined, language: undefined }
export const wholeList: Paging = { ...listOrder, offset: 0, limit: 0 }

/** What a member is sorted by. */
export interface Sortable {
  readonly graphType: GraphType
  readonly title: string | undefined
  readonly created: number
  readonly modified: number
  /** Bytes of its file. */
  readonly size: number
}

/** The members in the order asked for; those that are equal in it, and those without a title at the end, stay as they were. */
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
  const titles = [...objectsOf(entry.metadata, about, dct.title), ...objectsOf(entry.metadata, about, dc.title)]
  const fitting = language === undefined ? undefined : titles.find(({ lang }) => speaks(lang, language))
  return (fitting ?? titles[0])?.value
}

const speaks = (lang: string | undefined, language: string): boolean =>
  lang !== undefined && lang.toLowerCase().split('-')[0] === language.toLowerCase().split('-')[0]
