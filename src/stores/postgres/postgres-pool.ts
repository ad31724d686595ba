import type { Client, ClientConfig, Pool, PoolClient, QueryConfig } from 'pg'
import { LastingFailure, StartupError, StoreUnavailable } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import { newerSchema } from '../migrations.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { callbackify } from 'node:util'

/** Maximum time for opening a connection, or for waiting until one is free. */
const CONNECT_TIMEOUT: Milliseconds = 5000
/** The server ends a transaction after this time if its node has disappeared, and so unlocks its rows. */
const IDLE_TIMEOUT: Milliseconds = 60_000

/**
 * Settings of each session, unless the URL has them. Statements set them, because PgBouncer refuses a connection whose startup message contains
 * them.
 */
function sessionSettings(url: string, statementTimeout: Milliseconds): string {
  const ownOptions = new URL(url).searchParams.get('options') ?? ''
  const isOwn = (name: string): boolean =>
    new RegExp(`(?:^|\\s)(?:-c\\s*|--)${name.replaceAll('_', '[_-]')}=`, 'i').test(ownOptions)
  const settings: ReadonlyArray<readonly [name: string, value: string | number]> = [
    // A sequential scan would conflict with every transaction that writes to the table, and PostgreSQL would choose one for
    // small tables.
    ['enable_seqscan', 'off'],
    // A plan that needs a sequential scan then has a very high estimated cost, for which PostgreSQL would compile it.
    ['jit', 'off'],
    ['statement_timeout', statementTimeout],
    ['idle_in_transaction_session_timeout', IDLE_TIMEOUT],
  ]
  const statements = settings.filter(([name]) => !isOwn(name)).map(([name, value]) => `SET ${name} = ${value}`)
  // A server that works on a statement for longer than the client waits would look like one that is lost.
  if (isOwn('statement_timeout') && statementTimeout > 0)
    statements.push(`SELECT set_config(name, '${statementTimeout}', false) FROM pg_settings
      WHERE name = 'statement_timeout' AND CAST(setting AS INTEGER) NOT BETWEEN 1 AND ${statementTimeout}`)
  return statements.join('; ')
}

interface PoolOptions {
  readonly connections: number
  readonly statementTimeout: Milliseconds
  /** Whether others may have the store open as well. */
  readonly isShared: boolean
  readonly application: string
  readonly newestSchema: number | undefined
  /** The address with the user name and password in force, for each new connection. */
  readonly currentUrl: () => string
}

/** Connects once. @throws {StartupError} which does not contain the password */
export async function requireLogin(url: string): Promise<void> {
  await logIn(await withModeSettled(url))
}

async function logIn(url: string): Promise<void> {
  const client = await createClient(url)
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw unusable(url, error)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Checks the address with the files that it names, and does not connect. @throws {StartupError} */
export async function requireAddress(url: string): Promise<void> {
  const mode = modeOf(url)
  if (mode === null || MODES.includes(mode)) return void (await createClient(url))
  throw unusable(url, new Error(`sslmode is ${mode}, but must be one of ${MODES.join(', ')}`))
}

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

const modeOf = (url: string): string | null => new URL(url).searchParams.get('sslmode')

function withMode(url: string, mode: string): string {
  const address = new URL(url)
  address.searchParams.set('sslmode', mode)
  return address.href
}

/** A connection to the address with these certificates instead of the files that it names. */
function withTls(url: string, ssl: ClientConfig['ssl']): ClientConfig {
  const address = new URL(url)
  const isDirect = address.searchParams.get('sslnegotiation') === 'direct'
  for (const name of ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'])
    address.searchParams.delete(name)
  return { connectionString: address.href, ssl, ...(isDirect ? { sslnegotiation: 'direct' } : {}) }
}

/**
 * The address with or without TLS, if this depends on the server: `prefer` and `allow` try both. If the mode demands TLS, the certificate
 * is always verified, whatever the driver does for this mode.
 */
async function withModeSettled(url: string): Promise<string> {
  const mode = modeOf(url)
  if (mode === 'require' || mode === 'verify-ca') return withMode(url, 'verify-full')
  if (mode !== 'prefer' && mode !== 'allow') return url
  const [first, second] = ['no-verify', 'disable'].map(mode => withMode(url, mode)) as [string, string]
  const [wanted, other] = mode === 'prefer' ? [first, second] : [second, first]
  const works = (address: string) =>
    logIn(address).then(
      () => true,
      () => false,
    )
  return !(await works(wanted)) && (await works(other)) ? other : wanted
}

async function createClient(url: string): Promise<Client> {
  const { default: pg } = await import('pg')
  try {
    return new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT })
  } catch (error) {
    throw unusable(url, error)
  }
}

/** @returns why the database cannot be used, without the password */
export function unusable(url: string, error: unknown): StartupError {
  const cause = error instanceof StoreUnavailable ? error.cause : error
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
  const message = `The database ${placeOf(url)} cannot be used: ${reason}`
  return cause instanceof LastingFailure ? new LastingFailure(message, { cause }) : new StartupError(message, { cause })
}

/** Creates a pool for the database of the URL. The driver is loaded with the first one. */
export async function openPool({
  currentUrl,
  connections,
  statementTimeout,
  isShared,
  application,
  newestSchema,
}: PoolOptions): Promise<Pool> {
  const { default: pg } = await import('pg')
  const mode = modeOf(await withModeSettled(currentUrl()))
  const address = (): string => (mode === null ? currentUrl() : withMode(currentUrl(), mode))
  let lastTls: ClientConfig['ssl']
  class CurrentClient extends pg.Client {
    constructor(config?: string | ClientConfig) {
      const given = config as ClientConfig
      try {
        super({ ...given, connectionString: address() })
        lastTls = this.ssl
      } catch (error) {
        // The files that the address names are read now. The pool also creates clients where nothing catches an error.
        if (lastTls === undefined) throw error
        super({ ...given, ...withTls(address(), lastTls) })
      }
    }
  }
  const settings = sessionSettings(currentUrl(), statementTimeout)
  let isFirst = true
  const prepare = async (client: PoolClient): Promise<void> => {
    if (isFirst) await requireOwnSession(client, new CurrentClient({ connectionTimeoutMillis: CONNECT_TIMEOUT }))
    isFirst = false
    await client.query(bounded(settings))
    if (isShared) await shareStore(client, newestSchema)
  }
  const pool = new pg.Pool({
    Client: CurrentClient,
    application_name: application,
    max: connections,
    // One connection stays open even when idle, so that the store is seen to be in use.
    ...(isShared ? { min: 1 } : {}),
    verify: callbackify(prepare),
    connectionTimeoutMillis: CONNECT_TIMEOUT,
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
/** How long to wait for the lock: the server may take this long to notice that its holder has gone. */
const RELEASE_TIMEOUT: Milliseconds = 2000
const PAUSE: Milliseconds = 50
/** A server that has accepted a connection and does not respond for this long is treated as lost. */
const RESPONSE_TIMEOUT: Milliseconds = 5000
const bounded = (text: string): QueryConfig & { query_timeout: Milliseconds } => ({
  text,
  query_timeout: RESPONSE_TIMEOUT,
})

/**
 * Marks the store as in use for as long as the new connection lasts; fails if another process has locked it exclusively, or has
 * upgraded it beyond `newestSchema`.
 */
async function shareStore(client: PoolClient, newestSchema?: number): Promise<void> {
  if (!(await isGranted(client, 'pg_try_advisory_lock_shared'))) {
    throw new Error('another command uses this store exclusively')
  }
  if (newestSchema === undefined) return
  const found = await schemaOf(client)
  if (found > newestSchema) throw new LastingFailure(newerSchema(found, newestSchema))
}

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

/**
 * A pooler in transaction mode gives each transaction any session: locks and prepared statements would get lost.
 * @param other not yet connected
 */
async function requireOwnSession(client: PoolClient, other: Client): Promise<void> {
  other.on('error', () => {})
  try {
    await other.connect()
    const session = await sessionOf(client)
    await other.query(bounded('BEGIN'))
    // While the other connection is in a transaction, a pooler cannot give its session to this connection.
    if ((await sessionOf(other)) !== session && (await sessionOf(client)) === session) return
  } finally {
    await other.end().catch(() => {})
  }
  throw new Error(
    'it is behind a pooler in transaction mode, which loses locks. Let the pooler keep sessions (PgBouncer: pool_mode = session)',
  )
}

async function sessionOf(client: PoolClient | Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>(bounded('SELECT pg_backend_pid() AS pid'))).rows[0]?.pid
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
