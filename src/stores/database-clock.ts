import type { System } from '../base/system.ts'
import { type Sql, sql } from './sql.ts'
import type { Queries } from './database.ts'

/**
 * The present time in milliseconds, as part of a statement: by the clock of the database server where several nodes share
 * one, whose own clocks may differ; by `system` where this process is the only one.
 */
export const databaseTime = (queries: Pick<Queries, 'engine'>, system: Pick<System, 'now'>): Sql =>
  queries.engine === 'postgres'
    ? sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`
    : sql`${system.now()}`
