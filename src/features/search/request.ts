import type { Milliseconds } from '../../base/units.ts'
import type { EntryAddress } from '../../model/addresses.ts'
import type { BoundedPattern } from './bounded-pattern.ts'
import type { Query } from './query.ts'

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
  readonly matches: BoundedPattern | undefined
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
  /** The meaning of `NOW` in a query. */
  readonly now: Milliseconds
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
