import type { Queries } from '../stores/database.ts'
import type { Sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { FacetPattern } from './facet-pattern.ts'
import type { IndexFields } from './index-fields.ts'
import type { Query, TermPart } from './query.ts'

/** What an engine has to do for the search. Everything else is common: queries, fields, rights, answers. */

/** Keeps the index, in the transactions that change entries. */
export interface IndexWriter {
  /** Puts the entry into the index as it is now. */
  write(tx: Queries, entry: Entry, fields: IndexFields): Promise<void>
  remove(tx: Queries, address: EntryAddress): Promise<void>
  /** Takes all entries of a context out at once; what they leave behind is found by nobody, and goes with {@link sweep}. */
  removeContext(tx: Queries, context: string): Promise<void>
  /** Removes what some deleted entries left behind; true when there is nothing more of it. */
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
  /** Counts the hits without the field as well. */
  readonly missing: boolean
  readonly matches: FacetPattern | undefined
}

export interface Facet {
  readonly name: string
  readonly isUri: boolean
  /** A value that is absent stands for the hits without the field. */
  readonly values: ReadonlyArray<{ readonly value: string | undefined; readonly count: number }>
}

export interface SearchRequest {
  readonly query: Query
  readonly filters: readonly Query[]
  readonly limit: number
  readonly offset: number
  /** Empty: what fits best first, then what has changed last. */
  readonly order: readonly Order[]
  readonly facets: FacetRequest
  /** Gives the stored form of an IRI that somebody wrote. */
  readonly toRelative: (iri: string) => string
  /** Gives the absolute form of a stored IRI. */
  readonly toAbsolute: (iri: string) => string
}

export interface Answer {
  readonly total: number
  readonly page: readonly EntryAddress[]
  readonly facets: readonly Facet[]
}

export interface Reader {
  /** Whom ACLs may name to let this reader in; `undefined` for administrators, who read everything. */
  readonly principals: readonly string[] | undefined
  readonly userId: string
}

/** Answers requests from the index. All parts of an answer are of the same time. */
export interface Finder {
  answer(reader: Reader, request: SearchRequest): Promise<Answer>
}

/** A field as the rows of the index name it. */
export type FieldKey = number | string

/** A condition that is told by itself: whether `e` fulfils it, and the other way round, who does. */
export interface LeafCondition {
  readonly kind: 'leaf'
  /** Looks at one entry; takes as long as there are entries to test. */
  readonly test: Sql
  /** The test goes through an index of words, and one entry takes it as long as a thousand take all the others. */
  readonly isSlow?: boolean
  /** A statement that gives `doc`. */
  readonly set: Sql
  /** It hangs on more than the entry: `readers` on who reads contexts and audiences, `lists` on the lists. */
  readonly dependsOn?: 'readers' | 'lists'
}

export interface Bound {
  readonly value: string
  readonly isIncluded: boolean
}

/** Conditions in the words of one engine. They speak of the column `value`, or of an entry `e`. */
export interface Dialect {
  /** The value is one of these. */
  readonly isOneOf: (values: readonly string[]) => Sql
  readonly between: (from: Bound | undefined, to: Bound | undefined) => Sql
  /** The whole value looks like this. */
  readonly like: (parts: readonly TermPart[]) => Sql
  /** The text of the field contains this, whatever the case. */
  readonly contains: (field: FieldKey, text: string) => LeafCondition
  /** The text of the field has all these words or phrases; the last of them may go on where `isPrefix`. */
  readonly matchesWords: (field: FieldKey, phrases: readonly string[], isPrefix: boolean) => LeafCondition
  /** The reader may read the metadata of `e`: what `rights.ts` says, for many entries at once. */
  readonly readableBy: (reader: Reader) => Sql
}
