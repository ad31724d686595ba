import type { Engine } from '../stores/sql.ts'
import type { Dialect } from './engine.ts'
import { postgresDialect } from './postgres.ts'
import { sqliteDialect } from './sqlite.ts'

export const dialects: Readonly<Record<Engine, Dialect>> = { sqlite: sqliteDialect, postgres: postgresDialect }
