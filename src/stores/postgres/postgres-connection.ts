import { createHash } from 'node:crypto'
import type { DatabaseError, PoolClient, QueryArrayConfig, QueryResult } from 'pg'
import type { Milliseconds } from '../../base/units.ts'
import { bindable, type Sql } from '../sql.ts'
import { StatementTimeout, StoreDamaged, StoreUnavailable } from '../../base/errors.ts'
import { UniqueViolation } from '../database.ts'

/** A connection that has prepared more statements than this is closed, to free the server's memory for them. */
const MAX_STATEMENTS = 500

const prepared = new WeakMap<PoolClient, Set<string>>()

/** A borrowed connection: prepares statements by name, checks values before they are bound, and converts errors. */
export class PostgresConnection {
  readonly #client: PoolClient
  readonly #timeout: Milliseconds
  #isBroken = false

  /** A statement without a response after `timeout` ends the connection; 0 waits for ever. */
  constructor(client: PoolClient, timeout: Milliseconds) {
    this.#client = client
    this.#timeout = timeout
  }

  async query(statement: Sql): Promise<QueryResult> {
    const values = statement.values.map(bindable)
    const { text, name } = wordingOf(statement)
    const names = prepared.get(this.#client) ?? new Set()
    prepared.set(this.#client, names.add(name))
    return await this.#ask({ text, name, values, query_timeout: this.#timeout })
  }

  /** For statements without values that are not worth preparing; the text may contain several. */
  async execute(text: string, timeout = this.#timeout): Promise<QueryResult> {
    return await this.#ask({ text, query_timeout: timeout })
  }

  /** Begins a transaction. A standby supports none that is serialisable, so `feature_not_supported` is an outage here and nowhere else. */
  async begin(text: string): Promise<void> {
    try {
      await this.execute(text)
    } catch (error) {
      throw sqlStateOf(error) === FEATURE_NOT_SUPPORTED ? new StoreUnavailable('The database', { cause: error }) : error
    }
  }

  /** Ends a transaction. A broken connection may still wait for the response to an earlier statement; its end rolls the transaction back. */
  async rollback(): Promise<void> {
    if (this.#isBroken) return
    await this.execute('ROLLBACK').catch(() => {
      this.#isBroken = true
    })
  }

  /** Returns the connection to the pool, unless its state is unknown. */
  release(): void {
    const isFull = (prepared.get(this.#client)?.size ?? 0) > MAX_STATEMENTS
    this.#client.release(this.#isBroken || isFull)
  }

  async #ask(question: Question): Promise<QueryResult> {
    try {
      return await this.#client.query(question)
    } catch (error) {
      const problem = translated(error)
      // After an error of the server the connection is usable; after any other error it is not.
      if (!(error instanceof Error && 'severity' in error)) this.#isBroken = true
      throw problem
    }
  }
}

/** The declared types only support a timeout for all statements of a connection. */
type Question = Omit<QueryArrayConfig, 'rowMode'> & { readonly query_timeout: Milliseconds }

interface Wording {
  readonly text: string
  readonly name: string
}

const literalWordings = new WeakMap<readonly string[], Wording>()

/** The text with `$1`, `$2`… for the values. A template literal hands over the same array each time. */
function wordingOf({ parts }: Sql): Wording {
  const known = literalWordings.get(parts)
  if (known) return known
  const text = parts.reduce((all, part, index) => `${all}$${index}${part}`)
  // A unique name for each text, the same on every connection and without a list of all previous texts.
  const wording = { text, name: createHash('sha256').update(text).digest('base64url') }
  if ('raw' in parts) literalWordings.set(parts, wording)
  return wording
}

/** The number of rows shows whether a statement that writes changed anything; any other statement returns 0. */
export const changesOf = ({ command, rowCount }: QueryResult): number =>
  /^(INSERT|UPDATE|DELETE|MERGE)$/.test(command) ? (rowCount ?? 0) : 0

/** The transaction conflicted with a concurrent one and may succeed when repeated. */
export class SerializationConflict extends Error {
  constructor(cause: unknown) {
    super('another transaction came in between', { cause })
    this.name = 'SerializationConflict'
  }
}

const UNIQUE_VIOLATION = '23505'
const FEATURE_NOT_SUPPORTED = '0A000'
const QUERY_CANCELED = '57014'
/** serialization_failure, deadlock_detected */
const conflicts: ReadonlySet<string> = new Set(['40001', '40P01'])
/**
 * Codes of a server that is stopping, starting, overloaded or no longer the primary of its cluster: connection exceptions,
 * insufficient resources (also a full disk), a transaction or a wait for a lock that exceeded its time,
 * read_only_sql_transaction, rejected connections, a role without the rights that it needs.
 */
const outages = /^(08|28|53|58)|^(57P0[1-5]|25006|25P0[34]|55P03|3D000|3F000|42501)$/

/** data_corrupted, index_corrupted */
const damages: ReadonlySet<string> = new Set(['XX001', 'XX002'])

/** Converts an error of the driver. */
export function translated(error: unknown): unknown {
  const code = sqlStateOf(error)
  // An error that does not come from the server means that the connection is broken.
  if (code === undefined || outages.test(code)) return new StoreUnavailable('The database', { cause: error })
  if (code === QUERY_CANCELED) return new StatementTimeout('The database', { cause: error })
  if (damages.has(code)) return new StoreDamaged({ cause: error })
  if (code === UNIQUE_VIOLATION) return new UniqueViolation({ cause: error })
  return conflicts.has(code) ? new SerializationConflict(error) : error
}

/** The server's code of an error that the server sent. */
function sqlStateOf(error: unknown): string | undefined {
  const isFromServer = error instanceof Error && 'severity' in error && 'code' in error
  return isFromServer ? (error as DatabaseError).code : undefined
}
