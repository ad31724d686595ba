import type { DatabaseSync } from 'node:sqlite'
import type { BoundValue } from '../sql.ts'

/** The part of SQLite's connection that is used here; whole numbers come back as numbers. */
export interface SqliteHandle extends Pick<DatabaseSync, 'isTransaction' | 'exec' | 'close' | 'location'> {
  prepare(text: string): SqliteStatement
}

export interface SqliteStatement {
  all(...values: BoundValue[]): unknown[]
  get(...values: BoundValue[]): unknown
  run(...values: BoundValue[]): { readonly changes: number | bigint }
  setReadBigInts(enabled: boolean): void
}
