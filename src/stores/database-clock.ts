import type { System } from '../base/system.ts'
import { type Sql, sql } from './sql.ts'
import type { Queries } from './database.ts'

/**
 * The present time in milliseconds, as part of a statement. It comes from the clock of the database server if several nodes
 * can share it, because their own clocks may differ, and from `system` if this process is the only one.
 */
export const databaseTime = (queries: Pick<Queries, 'engine'>, system: Pick<System, 'now'>): Sql =>
  queries.engine === 'postgres'
    ? sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`
    : sql`${system.now()}`
