import type { ClientConfig, Pool, PoolClient, QueryConfig } from 'pg'
import { StartupError } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import { newerSchema } from '../migrations.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { callbackify } from 'node:util'

/** Maximum time for opening a connection, or for waiting until one is free. */
const CONNECT_TIMEOUT: Milliseconds = 5000
/** The server ends a transaction after this time if its node has disappeared, and so unlocks its rows. */
const IDLE_TIMEOUT: Milliseconds = 60_000

/** Settings of each session; settings in the URL take precedence. */
const session = [
  // A sequential scan would conflict with every transaction that writes to the table, and PostgreSQL would choose one for
  // small tables.
  '-c enable_seqscan=off',
  // Plans without an alternative look expensive then, and would be compiled.
  '-c jit=off',
].join(' ')

interface PoolOptions {
  readonly connections: number
  readonly timeout: Milliseconds
  /** Whether others may have the store open as well. */
  readonly isShared: boolean
  readonly application: string
  readonly newestSchema: number | undefined
  /** The address with the user name and password in force, for each new connection. */
  readonly currentUrl: () => string
}

function addressOf(url: string): string {
  const address = new URL(url)
  address.searchParams.set('options', [session, address.searchParams.get('options')].filter(Boolean).join(' '))
  return address.href
}

/** Connects once. @throws {StartupError} which does not contain the password */
export async function requireLogin(url: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: addressOf(url), connectionTimeoutMillis: CONNECT_TIMEOUT })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    throw new StartupError(`The database ${placeOf(url)} cannot be used: ${reason}`, { cause: error })
  } finally {
    await client.end().catch(() => {})
  }
}

/** Creates a pool for the database of the URL. The driver is loaded with the first one. */
export async function openPool({
  currentUrl,
  connections,
  timeout,
  isShared,
  application,
  newestSchema,
}: PoolOptions): Promise<Pool> {
  const { default: pg } = await import('pg')
  class Client extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super({ ...(config as ClientConfig), connectionString: addressOf(currentUrl()) })
    }
  }
  const pool = new pg.Pool({
    Client,
    application_name: application,
    max: connections,
    // One connection stays open even when idle, so that the store is seen to be in use.
    ...(isShared ? { min: 1, verify: shareStore(newestSchema) } : {}),
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT,
    statement_timeout: timeout,
    keepAlive: true,
    types: { getTypeParser: (type: number) => parsers.get(type) ?? asText },
  })
  // The pool drops a broken connection, and its user gets the error from their statement.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Host, port and name of the database: the part of the URL that may be shown. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port === '' ? '5432' : port}${pathname}`
}

const asText = (value: string): string => value

/** Numbers are returned as numbers and booleans as 0 or 1, as with SQLite; sums of BIGINT are NUMERIC in PostgreSQL. */
const parsers: ReadonlyMap<number, (value: string) => unknown> = new Map<number, (value: string) => unknown>([
  [16, value => (value === 't' ? 1 : 0)],
  [17, value => Buffer.from(value.slice(2), 'hex')],
  ...[20, 21, 23, 26, 700, 701, 1700].map(type => [type, Number] as const),
])

/** The advisory lock shared by all processes that have the store open: `open` in ASCII. */
const OPEN_LOCK = 0x6f70656e
/** How long the server may take to notice that a process has gone. */
const RELEASE_TIMEOUT: Milliseconds = 2000
const PAUSE: Milliseconds = 50
/** A server that has accepted a connection and does not respond for this long is treated as lost. */
const TIMEOUT: Milliseconds = 5000
const bounded = (text: string): QueryConfig & { query_timeout: Milliseconds } => ({ text, query_timeout: TIMEOUT })

/**
 * Marks the store as in use for as long as the new connection lasts; fails if another process has locked it exclusively, or has
 * upgraded it beyond `newestSchema`.
 */
export const shareStore = (newestSchema?: number) =>
  callbackify(async (client: PoolClient): Promise<void> => {
    if (!(await isGranted(client, 'pg_try_advisory_lock_shared'))) {
      throw new Error('another command uses this store exclusively')
    }
    if (newestSchema === undefined) return
    const found = await schemaOf(client)
    if (found > newestSchema) throw new Error(newerSchema(found, newestSchema))
  })

/** The last step of the schema; 0 for an empty database. */
async function schemaOf(client: PoolClient): Promise<number> {
  const exists = "SELECT to_regclass('schema_migrations') IS NOT NULL AS found"
  const table = await client.query<{ found: number }>(bounded(exists))
  if (table.rows[0]?.found !== 1) return 0
  const last = await client.query<{ id: number | null }>(bounded('SELECT max(id) AS id FROM schema_migrations'))
  return last.rows[0]?.id ?? 0
}

/** Locks the store exclusively for as long as the connection lasts. Returns false when another process has it open. */
export function takeStore(client: PoolClient): Promise<boolean> {
  return isGranted(client, 'pg_try_advisory_lock')
}

/** Never waits in the lock queue: a waiting exclusive request would make new shared requests of running nodes fail. */
async function isGranted(client: PoolClient, lockFunction: string): Promise<boolean> {
  for (let waited = 0; !(await tryLock(client, lockFunction)); waited += PAUSE) {
    if (waited >= RELEASE_TIMEOUT) return false
    await pause(PAUSE)
  }
  return true
}

async function tryLock(client: PoolClient, lockFunction: string): Promise<boolean> {
  const statement = bounded(`SELECT ${lockFunction}(${OPEN_LOCK}) AS taken`)
  const { rows } = await client.query<{ taken: number }>(statement)
  return rows[0]?.taken === 1
}
