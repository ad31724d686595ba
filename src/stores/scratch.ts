import type { Sql } from './sql.ts'

/**
 * Tables on the disk for work on more than fits in memory: fast, not durable, and gone with `close`. One owner, no
 * transactions.
 */
export interface Scratch {
  /** A folder of its own, readable by this user only, for other temporary files. It goes with `close` too. */
  readonly folder: string
  all<Row>(statement: Sql): Row[]
  get<Row>(statement: Sql): Row | undefined
  run(statement: Sql): number
  close(): Promise<void>
}
