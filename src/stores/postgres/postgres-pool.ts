import type { Pool } from 'pg'
import type { Milliseconds } from '../../base/units.ts'
import { shareStore } from './postgres-presence.ts'

/** So long a connection may take to be made, or to become free. */
const CONNECT_TIMEOUT: Milliseconds = 5000
/** A transaction whose node has gone away without a word ends after so long, and lets go of its rows. */
const IDLE_TIMEOUT: Milliseconds = 60_000

/** What each connection asks of its session; what the URL says goes before. */
const session = [
  // A table read as a whole would clash with every transaction that writes to it, and small ones would be read so.
  '-c enable_seqscan=off',
  // Plans that cannot do otherwise look dear then, and would be compiled.
  '-c jit=off',
].join(' ')

export interface PoolOptions {
  readonly connections: number
  readonly timeout: Milliseconds
  /** Whether others may have the store open as well. */
  readonly isShared: boolean
  readonly application: string
}

/** A pool for the database of the URL. The driver is loaded with the first one. */
export async function openPool(
  url: string,
  { connections, timeout, isShared, application }: PoolOptions,
): Promise<Pool> {
  const { default: pg } = await import('pg')
  const address = new URL(url)
  address.searchParams.set('options', [session, address.searchParams.get('options')].filter(Boolean).join(' '))
  const pool = new pg.Pool({
    connectionString: address.href,
    application_name: application,
    max: connections,
    // One stays even when there is nothing to do, so that the store is seen to be in use.
    ...(isShared ? { min: 1, verify: shareStore } : {}),
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT,
    statement_timeout: timeout,
    keepAlive: true,
    types: { getTypeParser: (type: number) => parsers.get(type) ?? asText },
  })
  // A connection that breaks is dropped by the pool; who was using it is told by his statement.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Host, port and name of the database: what may be told of the URL. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port === '' ? '5432' : port}${pathname}`
}

const asText = (value: string): string => value

/** Numbers are numbers and a truth is 0 or 1, as with SQLite; sums of BIGINT are NUMERIC here. */
const parsers: ReadonlyMap<number, (value: string) => unknown> = new Map<number, (value: string) => unknown>([
  [16, value => (value === 't' ? 1 : 0)],
  [17, value => Buffer.from(value.slice(2), 'hex')],
  ...[20, 21, 23, 26, 700, 701, 1700].map(type => [type, Number] as const),
])
