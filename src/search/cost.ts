import { InvalidInput } from '../base/errors.ts'
import { fieldName, kindOfField } from './fields.ts'
import { ANY, plainText, type Query } from './query.ts'
import { isValueList } from './query-to-sql.ts'

/** A term that scans an index (words, parts of words, wildcards, ranges, lists) costs as much as eight exact terms. */
const SCAN = 8
const EXACT = 1
/** Limit for the query and all filters together: 32 terms that scan an index, or 256 exact ones. */
const MAX_COST = 32 * SCAN

/** @throws {InvalidInput} `query-too-costly` */
export function requireAffordable(queries: readonly Query[]): void {
  const cost = queries.reduce((sum, query) => sum + costOf(query), 0)
  if (cost <= MAX_COST) return
  throw new InvalidInput(
    'query-too-costly',
    `The query and its filters may have ${MAX_COST / SCAN} terms with words, wildcards or ranges, or ${MAX_COST} exact ` +
      'ones. Many exact values of one field, joined with OR, count as one term.',
  )
}

function costOf(query: Query): number {
  if (query.kind === 'range') return SCAN
  if (query.kind === 'term') return isExact(query) ? EXACT : SCAN
  return [query.must, query.should, query.mustNot]
    .map(parts => (isValueList(parts) ? EXACT : parts.reduce((sum, part) => sum + costOf(part), 0)))
    .reduce((sum, cost) => sum + cost, 0)
}

function isExact(term: Extract<Query, { kind: 'term' }>): boolean {
  if (term.field === '*' && term.parts[0] === ANY) return true
  const kind = kindOfField(fieldName(term.field))
  const isFullText = kind === 'ngram' || kind === 'text'
  return plainText(term) !== undefined && !isFullText && term.field !== 'lists'
}
