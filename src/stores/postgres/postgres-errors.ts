import type { DatabaseError } from 'pg'
import { StoreUnavailable } from '../../base/errors.ts'
import { UniqueViolation } from '../database.ts'

/** The transaction lost to another one that ran beside it; run again, it may do. */
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
 * What a server says that is stopping, starting, overrun or no longer the first of its cluster: connection exceptions,
 * insufficient resources (also a full disk), a statement or a transaction given up for its time, read_only_sql_transaction,
 * refused connections.
 */
const outages = /^(08|28|53|58)|^(57014|57P0[1-5]|25006|25P03|28...|3D000)$/

/** An error of the driver in our words. */
export function translated(error: unknown): unknown {
  const code = sqlStateOf(error)
  // Whatever does not come from the server says that there is no talking to it.
  if (code === undefined || outages.test(code)) return new StoreUnavailable('The database', { cause: error })
  if (code === UNIQUE_VIOLATION) return new UniqueViolation({ cause: error })
  return conflicts.has(code) ? new SerializationConflict(error) : error
}

/** The server's code of an error that it has sent. */
function sqlStateOf(error: unknown): string | undefined {
  const isFromServer = error instanceof Error && 'severity' in error && 'code' in error
  return isFromServer ? (error as DatabaseError).code : undefined
}
