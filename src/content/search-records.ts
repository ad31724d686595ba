import type { Queries } from '../stores/database.ts'
import type { Entry } from './entry.ts'
import { kindOfField } from './search-fields.ts'
import { indexFieldsOf } from './search-index.ts'
import { findNames, writeIndex } from './search-sql.ts'

/** Brings the index up to an entry that has just been written, in the same transaction: the next search knows it. */
export async function indexEntry(tx: Queries, entry: Entry): Promise<void> {
  await writeIndex(tx, entry, indexFieldsOf(entry, await findNames(tx, entry)))
}

/** What the index holds of an entry, field by field. @param outside gives the absolute form of an IRI. */
export async function indexedDocument(
  queries: Queries,
  entry: Entry,
  outside: (iri: string) => string,
): Promise<Record<string, string[]>> {
  const { strings, ngrams, texts, numbers } = indexFieldsOf(entry, await findNames(queries, entry))
  const values = new Map<string, string[]>()
  const add = (field: string, value: string): void => {
    const present = values.get(field)
    if (present) present.push(value)
    else values.set(field, [value])
  }
  for (const [field, value] of strings) add(field, kindOfField(field) === 'uri' ? outside(value) : value)
  for (const [field, lines] of [...ngrams, ...texts]) for (const line of lines.split('\n')) add(field, line)
  for (const [field, value] of numbers) {
    add(field, kindOfField(field) === 'date' ? new Date(value).toISOString() : String(value))
  }
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
}
