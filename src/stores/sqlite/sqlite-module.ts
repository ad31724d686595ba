import type { BoundValue } from '../sql.ts'

/** The part of the `node:sqlite` interface that is used here; whole numbers come back as numbers. */
export interface SqliteModule {
  readonly DatabaseSync: new (path: string, options?: SqliteHandleOptions) => SqliteHandle
}

export interface SqliteHandleOptions {
  readonly readOnly?: boolean
  readonly enableForeignKeyConstraints?: boolean
  /** How long a statement waits, in milliseconds and blocking, for a lock of another connection. */
  readonly timeout?: number
}

export interface SqliteHandle {
  readonly isTransaction: boolean
  prepare(text: string): SqliteStatement
  exec(text: string): void
  close(): void
}

export interface SqliteStatement {
  all(...values: BoundValue[]): unknown[]
  get(...values: BoundValue[]): unknown
  run(...values: BoundValue[]): { readonly changes: number | bigint }
}

/** Returns Node's own engine if it is stable, otherwise the package with the same interface. */
export async function loadSqlite(): Promise<SqliteModule> {
  // Node 22 has the module too, but prints a warning that it is experimental.
  if (Number.parseInt(process.versions.node, 10) < 24) return await import('@photostructure/sqlite')
  // @types/node of the oldest supported version lacks the module, so its name is in a variable.
  const builtIn: string = 'node:sqlite'
  return (await import(builtIn)) as SqliteModule
}
