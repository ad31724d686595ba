import type { Queries } from '../stores/database.ts'
import type { Sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { EntryHead } from '../model/entry.ts'
import type { FacetPattern } from './facet-pattern.ts'
import type { IndexFields, IndexPart } from './index-fields.ts'
import type { Query, TermPart } from './query.ts'

/** What a database engine implements for the search. Queries, fields, rights and results are common to all engines. */

/** An entry and what is searched of it, or the part of that which replaces the same part in the index. */
export interface IndexedEntry {
  readonly entry: EntryHead
  readonly part: IndexPart
  readonly fields: IndexFields
}

/** Updates the index, in the transactions that change entries. */
export interface IndexWriter {
  /**
   * Writes the present state of the entries, each at most once, to the index. Entries that the index does not have yet are left to
   * {@link CatchUp} where there is only a part of them.
   */
  write(tx: Queries, items: readonly IndexedEntry[]): Promise<void>
  remove(tx: Queries, address: EntryAddress): Promise<void>
  /** Before an entry is written at another address, where its fields stay if they are the same. The old address has none afterwards. */
  move(tx: Queries, from: EntryAddress, to: EntryAddress): Promise<void>
  /** Hides an entry that moves to the trash. Its fields stay, because writing them again can take seconds. */
  trash(tx: Queries, address: EntryAddress): Promise<void>
  /** Shows a hidden entry again, as it was. Resolves to false when the index does not have it. */
  restore(tx: Queries, address: EntryAddress): Promise<boolean>
  /** Removes a hidden entry. */
  removeTrashed(tx: Queries, address: EntryAddress): Promise<void>
  /** Removes all entries of a context at once. Their fields, which no search finds any more, are deleted by {@link sweep}. */
  removeContext(tx: Queries, context: string): Promise<void>
  /** Deletes the fields of some removed entries. Returns true when none are left. */
  sweep(tx: Queries, most: number): Promise<boolean>
}

export interface Order {
  /** A field, or `score`. */
  readonly field: string
  readonly descends: boolean
}

export interface FacetRequest {
  readonly fields: readonly string[]
  readonly minCount: number
  readonly limit: number
  /** Also counts the hits without the field. */
  readonly missing: boolean
  readonly matches: FacetPattern | undefined
}

export interface Facet {
  readonly name: string
  readonly isUri: boolean
  /** An absent value stands for the hits without the field. */
  readonly values: ReadonlyArray<{ readonly value: string | undefined; readonly count: number }>
}

export interface SearchRequest {
  readonly query: Query
  readonly filters: readonly Query[]
  readonly limit: number
  readonly offset: number
  /** Empty: the best score first, then the latest change. */
  readonly order: readonly Order[]
  readonly facets: FacetRequest
  /** Returns the stored form of an IRI in a query. */
  readonly toRelative: (iri: string) => string
  /** Returns the absolute form of a stored IRI. */
  readonly toAbsolute: (iri: string) => string
}

/** A page of hits, with the number of all hits and their facets. */
export interface Hits {
  readonly total: number
  readonly page: readonly EntryAddress[]
  readonly facets: readonly Facet[]
}

export interface Reader {
  /** The principals whose mention in an access list lets this reader in; `undefined` for administrators, who read everything. */
  readonly principals: readonly string[] | undefined
  readonly userId: string
  /** The only contexts whose entries this reader finds; absent: all. */
  readonly contexts?: readonly string[] | undefined
}

/**
 * Answers requests from the index. All parts of an answer reflect the same state, with one exception: SQLite tries again when the index
 * has changed meanwhile, and returns the third answer even if it has changed once more, so that a search also ends while others write.
 */
export interface Finder {
  answer(reader: Reader, request: SearchRequest): Promise<Hits>
}

/** The key of a field in the rows of the index. */
export type FieldKey = number | string

/** A condition that SQL can decide: for one entry `e`, and as the list of all entries that match. */
export interface LeafCondition {
  readonly kind: 'leaf'
  /** Tests one entry; the cost grows with the number of entries tested. */
  readonly test: Sql
  /** Uses the full-text index: testing one entry costs about as much as a thousand other tests. */
  readonly isSlow?: boolean
  /** A statement that returns `doc` of all matching entries. */
  readonly set: Sql
  /** Depends on more than the entry: `readers` on the access lists of contexts, `lists` on the members of lists. */
  readonly dependsOn?: 'readers' | 'lists'
}

export interface Bound {
  readonly value: string
  readonly isIncluded: boolean
}

/** Conditions in the SQL of one engine, about the column `value` or an entry `e`. */
export interface Dialect {
  /** The value is one of these. */
  readonly isOneOf: (values: readonly string[]) => Sql
  readonly between: (from: Bound | undefined, to: Bound | undefined) => Sql
  /** The whole value matches this pattern. */
  readonly like: (parts: readonly TermPart[]) => Sql
  /** The text of the field contains this text, ignoring case. */
  readonly contains: (field: FieldKey, text: string) => LeafCondition
  /** The text of the field has all these words or phrases. With `isPrefix` the last one may be the beginning of a word. */
  readonly matchesWords: (field: FieldKey, phrases: readonly string[], isPrefix: boolean) => LeafCondition
  /** The reader may read the metadata of `e`: the rule of `rights.ts`, for many entries at once. */
  readonly readableBy: (reader: Reader) => Sql
}
