import type { Queries } from '../stores/database.ts'
import { listed, type Sql, sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { DocBitmap, numbersOf } from './doc-bitmap.ts'
import type { DocRow, DocRows } from './doc-rows.ts'
import type { Order } from './engine.ts'
import { fieldName, kindOfField } from './fields.ts'
import type { Fields } from './query-to-sql.ts'

/** Score contributions: entries in `set` gain `weight`. Empty when ranking is irrelevant. */
export type Scores = ReadonlyArray<{ readonly set: DocBitmap; readonly weight: number }>

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** What a page is read from. */
export interface PageSource {
  readonly queries: Queries
  readonly rows: DocRows
  readonly scanThreshold: number
  readonly generation: number
}

interface Wanted {
  readonly order: readonly Order[]
  readonly scores: Scores
  readonly fields: Fields
  readonly page: Page
}

const FIRST_STEP = 500
/** With more different scores than this, all hits are sorted one by one. */
const MAX_LEVELS = 64
const byChange: Order = { field: 'modified', descends: true }

/** The entries of one page. Where an index has the order, only part of the hits is sorted. */
export async function pageOf(source: PageSource, found: DocBitmap, wanted: Wanted): Promise<EntryAddress[]> {
  const { scores, fields, page } = wanted
  const order = wanted.order.filter(({ field }) => field !== 'score' || scores.length > 0)
  const [first = byChange, ...rest] = order
  const isByBest = first.field === 'score' && first.descends
  if (page.limit === 0 || page.offset >= found.size) return []
  if (found.size <= source.scanThreshold || (first.field === 'score' && !isByBest))
    return await sorted(source, found, { ...wanted, order })
  if (!isByBest) {
    const { candidates, before } = await partOf(source.queries, found, { by: first, fields, page })
    return await sorted(source, candidates, { ...wanted, order, page: { ...page, offset: page.offset - before } })
  }
  const { better, level } = bestOf(found, scores, page.offset + page.limit)
  const begin = await sorted(source, better, { ...wanted, order })
  const following = { offset: Math.max(0, page.offset - better.size), limit: page.limit - begin.length }
  const unscored = { order: rest, scores: [], fields, page: following }
  return [...begin, ...(await pageOf(source, level, unscored))]
}

/** The entries with a higher score than the last one on the page, and those with the same score. */
function bestOf(found: DocBitmap, scores: Scores, most: number): { better: DocBitmap; level: DocBitmap } {
  let levels = new Map([[0, found]])
  for (const { set, weight } of scores) {
    const next = new Map<number, DocBitmap>()
    const add = (score: number, part: DocBitmap): unknown =>
      part.size > 0 && next.set(score, part.or(next.get(score) ?? DocBitmap.EMPTY))
    for (const [score, level] of levels) {
      add(score + weight, level.and(set))
      add(score, level.without(set))
    }
    if (next.size > MAX_LEVELS) return { better: found, level: DocBitmap.EMPTY }
    levels = next
  }
  let better = DocBitmap.EMPTY
  for (const [, level] of [...levels].sort(([a], [b]) => b - a)) {
    if (better.size + level.size >= most) return { better, level }
    better = better.or(level)
  }
  return { better, level: DocBitmap.EMPTY }
}

/**
 * Narrows `found` to the entries that can appear on this page, including ties at both ends; `before` counts the entries
 * that precede them. Falls back to all of `found` when no index fits.
 */
async function partOf(
  queries: Queries,
  found: DocBitmap,
  { by, fields, page }: { by: Order; fields: Fields; page: Page },
): Promise<{ candidates: DocBitmap; before: number }> {
  const all = { candidates: found, before: 0 }
  const rows = rowsOf(by, fields)
  const most = page.offset + page.limit
  if (!rows || most > found.size) return all
  const direction = by.descends ? sql`DESC` : sql`ASC`
  // An entry with several values is placed by the first of them.
  const met = new Set<number>()
  for (let step = FIRST_STEP, seen = 0; met.size < most; seen += step, step *= 4) {
    const row = await queries.get<{ docs: string | null }>(sql`SELECT group_concat(doc) AS docs
      FROM (SELECT doc FROM ${rows} ORDER BY value ${direction} LIMIT ${step} OFFSET ${seen})`)
    const docs = numbersOf(row?.docs ?? '')
    for (const doc of docs) if (met.size < most && found.has(doc)) met.add(doc)
    if (docs.length < step && met.size < most) return all
  }
  const inOrder = [...met]
  const like = async (at: number): Promise<DocBitmap> =>
    found.and(await likeOne(queries, rows, inOrder[at] ?? 0, direction))
  const first = await like(page.offset)
  const before = inOrder.findIndex(doc => first.has(doc))
  return {
    candidates: DocBitmap.of(inOrder.slice(before))
      .or(first)
      .or(await like(most - 1)),
    before,
  }
}

async function likeOne(queries: Queries, rows: Sql, doc: number, direction: Sql): Promise<DocBitmap> {
  const row = await queries.get<{ docs: string | null }>(sql`SELECT group_concat(doc) AS docs FROM ${rows}
    AND value = (SELECT value FROM ${rows} AND doc = ${doc} ORDER BY value ${direction} LIMIT 1)`)
  return DocBitmap.parse(row?.docs ?? '')
}

/** `doc` and `value` in the order of an index, up to the WHERE clause. */
function rowsOf({ field }: Order, fields: Fields): Sql | undefined {
  const kind = kindOfField(fieldName(field))
  const number = fields.keyOf(field)
  if (field === 'lists' || kind === undefined || number === undefined) return undefined
  return kind === 'date' || kind === 'integer'
    ? sql`search_numbers WHERE field = ${number}`
    : sql`search_strings WHERE field = ${number}`
}

async function sorted(source: PageSource, found: DocBitmap, wanted: Wanted): Promise<EntryAddress[]> {
  const isBelowThreshold = found.size <= source.scanThreshold
  const areKeysInRows = wanted.order.every(({ field }) => field === 'score' || field === 'modified')
  return isBelowThreshold && areKeysInRows
    ? sortedRows(await source.rows.of(found.docs(), source.generation), wanted)
    : await sortedByStatement(source.queries, found, wanted)
}

/** The same as {@link sortedByStatement}, for entries whose rows are in memory. */
function sortedRows(rows: readonly DocRow[], { order, scores, page }: Wanted): EntryAddress[] {
  const keysOf = ({ doc, modified }: DocRow): number[] => {
    const keys = order.map(({ field, descends }) => {
      const key = field === 'score' ? scoreOf(doc, scores) : modified
      return descends ? -key : key
    })
    return [...keys, -modified, -doc]
  }
  return rows
    .map(row => ({ row, keys: keysOf(row) }))
    .sort((a, b) => difference(a.keys, b.keys))
    .slice(page.offset, page.offset + page.limit)
    .map(({ row }) => row)
}

function difference(some: readonly number[], others: readonly number[]): number {
  const at = some.findIndex((key, index) => key !== others[index])
  return at < 0 ? 0 : (some[at] ?? 0) - (others[at] ?? 0)
}

const scoreOf = (doc: number, scores: Scores): number =>
  scores.reduce((sum, { set, weight }) => sum + (set.has(doc) ? weight : 0), 0)

async function sortedByStatement(
  queries: Queries,
  found: DocBitmap,
  { order, scores, fields, page }: Wanted,
): Promise<EntryAddress[]> {
  const keys = order.flatMap(({ field, descends }) => {
    const key = field === 'score' ? sql`f.value ->> 1` : sortKey({ field, descends }, fields)
    // Entries without the field come last in either direction.
    if (!key) return []
    return [descends ? sql`${key} DESC NULLS LAST` : sql`${key} ASC NULLS LAST`]
  })
  const rows = JSON.stringify(found.docs().map(doc => [doc, scoreOf(doc, scores)]))
  return await queries.all<EntryAddress>(sql`SELECT e.context, e.id
    FROM json_each(${rows}) f CROSS JOIN search_entries e ON e.doc = f.value ->> 0
    ORDER BY ${listed([...keys, sql`e.modified DESC`, sql`e.doc DESC`])}
    LIMIT ${page.limit} OFFSET ${page.offset}`)
}

/** The sort key: of several values the one that comes first in this direction. */
export function sortKey({ field, descends }: Order, fields: Fields): Sql | undefined {
  if (field === 'modified') return sql`e.modified`
  const rows = rowsOf({ field, descends }, fields)
  const one = descends ? sql`max(value)` : sql`min(value)`
  return rows && sql`(SELECT ${one} FROM ${rows} AND doc = e.doc)`
}
