import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import type { EntryAddress } from './addresses.ts'
import { EntrySet, numbersOf } from './entry-set.ts'
import { fieldName, kindOfField } from './search-fields.ts'
import { type Fields, listed } from './search-select.ts'
import { FEW } from './search-sets.ts'

export interface Order {
  /** A field, or `score`. */
  readonly field: string
  readonly descends: boolean
}

/** How well entries fit; those that are not named fit with 0. */
export type Scores = ReadonlyMap<number, number>

export interface Page {
  readonly limit: number
  readonly offset: number
}

const FIRST_STEP = 500
const byChange: Order = { field: 'modified', descends: true }

/** The entries of one page. Not all of them are put in order where an index shows which come first. */
export async function pageOf(
  queries: Queries,
  found: EntrySet,
  { order, scores, fields, page }: { order: readonly Order[]; scores: Scores; fields: Fields; page: Page },
): Promise<EntryAddress[]> {
  const keys = order.filter(({ field }) => field !== 'score' || scores.size > 0)
  const [first, ...rest] = keys
  const sort = (set: EntrySet, by: readonly Order[], part: Page): Promise<EntryAddress[]> =>
    sorted(queries, set, { order: by, scores, fields, page: part })
  if (page.limit === 0 || page.offset >= found.size) return []
  if (found.size <= FEW) return await sort(found, keys, page)
  const most = page.offset + page.limit
  if (first?.field !== 'score') {
    return await sort(await firstOf(queries, found, { by: first ?? byChange, fields, most }), keys, page)
  }
  if (!first.descends) return await sort(found, keys, page)
  const { better, level } = bestOf(found, scores, most)
  const begin = await sort(better, keys, page)
  const offset = Math.max(0, page.offset - better.size)
  const following = { offset, limit: page.limit - begin.length }
  return [...begin, ...(await pageOf(queries, level, { order: rest, scores: new Map(), fields, page: following }))]
}

/** The entries that stand above the level of score on which the page ends, and those on it. */
function bestOf(found: EntrySet, scores: Scores, most: number): { better: EntrySet; level: EntrySet } {
  const levels = new Map<number, number[]>()
  for (const doc of found.docs()) {
    const score = scores.get(doc) ?? 0
    const level = levels.get(score)
    if (level) level.push(doc)
    else levels.set(score, [doc])
  }
  const better: number[] = []
  for (const score of [...levels.keys()].sort((a, b) => b - a)) {
    const level = levels.get(score) ?? []
    if (better.length + level.length >= most) return { better: EntrySet.of(better), level: EntrySet.of(level) }
    for (const doc of level) better.push(doc)
  }
  return { better: EntrySet.of(better), level: EntrySet.EMPTY }
}

/** At least so many entries, the first by this key and all that are like the last of them; all, where no index helps. */
async function firstOf(
  queries: Queries,
  found: EntrySet,
  { by, fields, most }: { by: Order; fields: Fields; most: number },
): Promise<EntrySet> {
  const rows = rowsOf(by, fields)
  if (!rows || most >= found.size) return found
  const direction = by.descends ? sql`DESC` : sql`ASC`
  const first: number[] = []
  for (let step = FIRST_STEP, seen = 0; ; seen += step, step *= 4) {
    const row = await queries.get<{ docs: string | null }>(sql`SELECT group_concat(doc) AS docs
      FROM (SELECT doc FROM ${rows} ORDER BY value ${direction} LIMIT ${step} OFFSET ${seen})`)
    const docs = numbersOf(row?.docs ?? '')
    for (const doc of docs) {
      if (!found.has(doc)) continue
      first.push(doc)
      // One entry may stand there with several values.
      if (first.length < most || EntrySet.of(first).size < most) continue
      return EntrySet.of(first).or(found.and(await likeOne(queries, rows, doc, direction)))
    }
    if (docs.length < step) return found
  }
}

async function likeOne(queries: Queries, rows: Sql, doc: number, direction: Sql): Promise<EntrySet> {
  const row = await queries.get<{ docs: string | null }>(sql`SELECT group_concat(doc) AS docs FROM ${rows}
    AND value = (SELECT value FROM ${rows} AND doc = ${doc} ORDER BY value ${direction} LIMIT 1)`)
  return EntrySet.parse(row?.docs ?? '')
}

/** `doc` and `value` in the order of an index, up to the WHERE. */
function rowsOf({ field }: Order, fields: Fields): Sql | undefined {
  const kind = kindOfField(fieldName(field))
  const number = fields.numberOf(field)
  if (field === 'lists' || kind === undefined || number === undefined) return undefined
  return kind === 'date' || kind === 'integer'
    ? sql`search_numbers WHERE field = ${number}`
    : sql`search_strings WHERE field = ${number}`
}

async function sorted(
  queries: Queries,
  found: EntrySet,
  { order, scores, fields, page }: { order: readonly Order[]; scores: Scores; fields: Fields; page: Page },
): Promise<EntryAddress[]> {
  const keys = order.flatMap(({ field, descends }) => {
    const key = field === 'score' ? sql`f.value ->> 1` : sortKey({ field, descends }, fields)
    // Entries without the field stand last in either direction.
    if (!key) return []
    return [descends ? sql`${key} DESC NULLS LAST` : sql`${key} ASC NULLS LAST`]
  })
  const rows = JSON.stringify(found.docs().map(doc => [doc, scores.get(doc) ?? 0]))
  return await queries.all<EntryAddress>(sql`SELECT e.context, e.id
    FROM json_each(${rows}) f CROSS JOIN search_entries e ON e.doc = f.value ->> 0
    ORDER BY ${listed([...keys, sql`e.modified DESC`, sql`e.doc DESC`])}
    LIMIT ${page.limit} OFFSET ${page.offset}`)
}

/** Of several values the one that comes first in this direction. */
function sortKey({ field, descends }: Order, fields: Fields): Sql | undefined {
  if (field === 'modified') return sql`e.modified`
  const rows = rowsOf({ field, descends }, fields)
  const one = descends ? sql`max(value)` : sql`min(value)`
  return rows && sql`(SELECT ${one} FROM ${rows} AND doc = e.doc)`
}
