import type { Database, Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import type { Progress } from '../base/progress.ts'
import type { IndexFields, IndexSection } from './index-fields.ts'

/** The operations of a database for the index and for searches in it. Fields and rights are common to all databases. */

/** `*` matches any number of characters, `?` matches one; everything else is literal. */
export type TermToken = string | typeof ANY | typeof ONE
export const ANY = Symbol('*')
export const ONE = Symbol('?')

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

/** The fields of an entry, under its number in the index. */
export interface IndexDocument {
  readonly doc: number
  readonly fields: IndexFields
}

/** The fields of documents in the tables of one engine. */
export interface FieldTables {
  /** For documents that have no fields yet: deleting rows that cannot exist would conflict with other writers. */
  insert(tx: Queries, documents: readonly IndexDocument[]): Promise<void>
  /** Replaces the fields of a section in each of these documents. */
  replace(tx: Queries, documents: readonly IndexDocument[], section: IndexSection): Promise<void>
  /** Deletes all fields. */
  clear(tx: Queries, doc: number): Promise<void>
  /**
   * Makes `insert` cheaper while `work` adds all documents to an empty index that nobody reads. If this does not resolve, the index must be
   * emptied before it is used.
   */
  fill(database: Database, progress: Progress, work: () => Promise<void>): Promise<void>
}

/** Conditions in the SQL of one engine. Those about a value use the column `value`. */
export interface Dialect {
  /**
   * The folders that give access, as the table `c`, found by their own index. SQLite does not know that they are few, and would otherwise
   * make an index of all entries for each search.
   */
  readonly folders: Sql
  /** The key of a field in the rows of the index. */
  readonly fieldKey: (name: string) => Sql
  /** A statement that returns the names, as `name`, of some fields whose names begin with `start`. */
  readonly fieldsUnder: (start: string) => Sql
  /** The value is one of these. */
  readonly isOneOf: (values: readonly string[]) => Sql
  /** The same for the few values of one document: the database reads these, and does not look for each of the others among them. */
  readonly isOneOfFew: (values: readonly string[]) => Sql
  readonly between: (from: Bound | undefined, to: Bound | undefined) => Sql
  /** The whole value matches this pattern. */
  readonly like: (tokens: readonly TermToken[]) => Sql
  /** A statement that returns `doc` of the entries whose field contains all these texts, which are {@link comparable}. */
  readonly contains: (field: Sql, texts: readonly string[]) => Sql
  /**
   * A statement that returns `doc` of the entries whose field has all these words or phrases, as {@link wordsOf} returns them. With
   * `isPrefix`, the last of them may be the beginning of a word.
   */
  readonly matchesWords: (field: Sql, phrases: readonly string[], isPrefix: boolean) => Sql
  /** A condition that the column contains the number of one of these documents. */
  readonly isDocIn: (column: Sql, docs: readonly number[]) => Sql
  /** A JSON array. */
  readonly jsonArray: (items: readonly Sql[]) => Sql
  /** A JSON array with an array of these columns for each row, in the order of the rows. */
  readonly jsonRows: (columns: readonly Sql[], from: Sql) => Sql
}
