import type { DatabaseError } from 'pg'
import { StoreUnavailable } from '../../base/errors.ts'
import { UniqueViolation } from '../database.ts'

/** The transaction conflicted with a concurrent one and may succeed when repeated. */
export class SerializationConflict extends Error {
  constructor(cause: unknown) {
    super('another transaction came in between', { cause })
    this.name = 'SerializationConflict'
  }
}

const UNIQUE_VIOLATION = '23505'
/** serialization_failure, deadlock_detected */
const conflicts: ReadonlySet<string> = new Set(['40001', '40P01'])
/**
 * Codes of a server that is stopping, starting, overloaded or no longer the primary of its cluster: connection exceptions,
 * insufficient resources (also a full disk), a statement or a transaction that exceeded its time, read_only_sql_transaction,
 * rejected connections.
 */
const outages = /^(08|28|53|58)|^(57014|57P0[1-5]|25006|25P03|28...|3D000)$/

/** Converts an error of the driver. */
export function translated(error: unknown): unknown {
  const code = sqlStateOf(error)
  // An error that does not come from the server means that the connection is broken.
  if (code === undefined || outages.test(code)) return new StoreUnavailable('The database', { cause: error })
  if (code === UNIQUE_VIOLATION) return new UniqueViolation({ cause: error })
  return conflicts.has(code) ? new SerializationConflict(error) : error
}

/** The server's code of an error that the server sent. */
function sqlStateOf(error: unknown): string | undefined {
  const isFromServer = error instanceof Error && 'severity' in error && 'code' in error
  return isFromServer ? (error as DatabaseError).code : undefined
}
