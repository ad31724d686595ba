import { createHash } from 'node:crypto'
import type { PoolClient, QueryArrayConfig, QueryResult } from 'pg'
import type { Milliseconds } from '../../base/units.ts'
import { bindable } from '../bindable.ts'
import { translated } from './postgres-errors.ts'
import type { Sql } from '../sql.ts'

/** A connection that has prepared more statements than this is given up, and with it the server's memory of them. */
const MAX_STATEMENTS = 500

const prepared = new WeakMap<PoolClient, Set<string>>()

/** One connection on loan: statements prepared by name, values checked before they are bound, errors told apart. */
export class PostgresConnection {
  readonly #client: PoolClient
  readonly #timeout: Milliseconds
  #isBroken = false

  /** A statement without an answer after `timeout` ends the connection; 0 waits for ever. */
  constructor(client: PoolClient, timeout: Milliseconds) {
    this.#client = client
    this.#timeout = timeout
  }

  async query(statement: Sql): Promise<QueryResult> {
    const values = statement.values.map(bindable)
    const { text, name } = wordingOf(statement)
    const names = prepared.get(this.#client) ?? new Set()
    prepared.set(this.#client, names.add(name))
    return await this.#ask({ text, name, values })
  }

  /** For statements without values that are not worth preparing; several may be told at once. */
  async execute(text: string): Promise<QueryResult> {
    return await this.#ask({ text })
  }

  /** Gives the connection back, unless it is in a state that nobody knows. */
  release(): void {
    const isFull = (prepared.get(this.#client)?.size ?? 0) > MAX_STATEMENTS
    this.#client.release(this.#isBroken || isFull)
  }

  /** Nobody is to use the connection again. */
  condemn(): void {
    this.#isBroken = true
  }

  async #ask(question: { readonly text: string; readonly name?: string; readonly values?: unknown[] }) {
    // The declared types know only a time-out for all statements of a connection.
    const config: Omit<QueryArrayConfig, 'rowMode'> & { query_timeout: number } = {
      ...question,
      query_timeout: this.#timeout,
    }
    try {
      return await this.#client.query(config)
    } catch (error) {
      const problem = translated(error)
      // An error of the server leaves the connection in order; anything else does not.
      if (!(error instanceof Error && 'severity' in error)) this.#isBroken = true
      throw problem
    }
  }
}

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
  // A name of its own for each text, the same on every connection and without a list of all that were ever seen.
  const matchesWords = { text, name: createHash('sha256').update(text).digest('base64url') }
  if ('raw' in parts) literalWordings.set(parts, matchesWords)
  return matchesWords
}

/** Rows say whether a statement that writes did; any other statement counts none. */
export const changesOf = ({ command, rowCount }: QueryResult): number =>
  /^(INSERT|UPDATE|DELETE|MERGE)$/.test(command) ? (rowCount ?? 0) : 0
