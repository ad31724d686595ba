import type { Facet, FacetRequest } from './engine.ts'
import { fieldName, kindOfField } from './fields.ts'

/** At most this number of values is compared with a pattern. */
export const MAX_MATCHED_VALUES = 10_000

interface Counts {
  readonly counted: ReadonlyArray<{ readonly value: string | number; readonly count: number }>
  /** Hits without the field. */
  readonly missing: number
}

/** The facet as it is returned: the values that the request asks for, the most frequent first. */
export function describeFacet(field: string, { limit, matches, ...request }: FacetRequest, counts: Counts): Facet {
  const kind = kindOfField(fieldName(field))
  const shown: Facet['values'][number][] = []
  for (const { value, count } of counts.counted) {
    const text = kind === 'date' ? new Date(value).toISOString() : String(value)
    if (shown.length === limit) break
    if (matches?.matches(text) ?? true) shown.push({ value: text, count })
  }
  if (request.missing) shown.push({ value: undefined, count: counts.missing })
  return { name: field, isUri: kind === 'uri', values: shown }
}
