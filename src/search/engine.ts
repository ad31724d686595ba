import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { FacetPattern } from './facet-pattern.ts'
import type { IndexFields, IndexPart } from './index-fields.ts'
import type { Query, TermPart } from './query.ts'

/** What a database implements for the search. Queries, fields, rights and results are common to all databases. */

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

/** A page of hits, with the number of all hits and their facets. All parts reflect the same state. */
export interface Hits {
  readonly total: number
  readonly page: readonly EntryAddress[]
  readonly facets: readonly Facet[]
  /** False while entries are missing in the index. */
  readonly isComplete: boolean
}

export interface Acquaintances {
  readonly ids: readonly string[]
  /** Their members count as well. */
  readonly groups: readonly string[]
}

export interface Reader {
  /** The principals whose mention in an access list lets this reader in; `undefined` for administrators, who read everything. */
  readonly principals: readonly string[] | undefined
  readonly userId: string
  /** See `acquaintances` of a caller, with the groups of the reader; absent: all. */
  readonly acquaintances?: Acquaintances | undefined
  /** The only contexts whose entries this reader finds; absent: all. */
  readonly contexts?: readonly string[] | undefined
}

export interface Bound {
  readonly value: string
  readonly isIncluded: boolean
}

/** The column `value` lies between these bounds. */
export function within(from: Bound | undefined, to: Bound | undefined): Sql {
  const lower = !from ? sql`TRUE` : from.isIncluded ? sql`value >= ${from.value}` : sql`value > ${from.value}`
  const upper = !to ? sql`TRUE` : to.isIncluded ? sql`value <= ${to.value}` : sql`value < ${to.value}`
  return sql`${lower} AND ${upper}`
}

/** The fields of documents in the tables of one engine. */
export interface FieldTables {
  /** For a document that has no fields yet: deleting rows that cannot exist would conflict with other writers. */
  insert(tx: Queries, doc: number, fields: IndexFields): Promise<void>
  /** Replaces the fields of a part. */
  replace(tx: Queries, doc: number, part: IndexPart, fields: IndexFields): Promise<void>
  /** Deletes all fields. */
  clear(tx: Queries, doc: number): Promise<void>
}

/** Conditions in the SQL of one engine. Those about a value use the column `value`. */
export interface Dialect {
  /** The key of a field in the rows of the index. */
  readonly fieldKey: (name: string) => Sql
  /** A statement that returns the names, as `name`, of some fields whose names begin with `start`. */
  readonly fieldsUnder: (start: string) => Sql
  /** The value is one of these. */
  readonly isOneOf: (values: readonly string[]) => Sql
  readonly between: (from: Bound | undefined, to: Bound | undefined) => Sql
  /** The whole value matches this pattern. */
  readonly like: (parts: readonly TermPart[]) => Sql
  /** A statement that returns `doc` of the entries whose field contains all these texts, which are {@link comparable}. */
  readonly contains: (field: Sql, texts: readonly string[]) => Sql
  /**
   * A statement that returns `doc` of the entries whose field has all these words or phrases, which are the result of {@link wordsOf}. With
   * `isPrefix` the last one may be the beginning of a word.
   */
  readonly matchesWords: (field: Sql, phrases: readonly string[], isPrefix: boolean) => Sql
  /** A JSON array. */
  readonly jsonArray: (items: readonly Sql[]) => Sql
  /** A JSON array with an array of these columns for each row, in the order of the rows. */
  readonly jsonRows: (columns: readonly Sql[], from: Sql) => Sql
}
