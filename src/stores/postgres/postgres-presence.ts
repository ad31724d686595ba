import { setTimeout as pause } from 'node:timers/promises'
import { callbackify } from 'node:util'
import type { PoolClient, QueryConfig } from 'pg'
import type { Milliseconds } from '../../base/units.ts'

/** The advisory lock shared by all processes that have the store open: `open` in ASCII. */
const OPEN_LOCK = 0x6f70656e
/** How long the server may take to notice that a process has gone. */
const RELEASE_TIMEOUT: Milliseconds = 2000
const PAUSE: Milliseconds = 50
/** A server that has accepted a connection and does not respond for this long is treated as lost. */
const TIMEOUT: Milliseconds = 5000

/** Marks the store as in use for as long as the new connection lasts; fails if another process has locked it exclusively. */
export const shareStore = callbackify(async (client: PoolClient): Promise<void> => {
  if (await isGranted(client, 'pg_try_advisory_lock_shared')) return
  throw new Error('another command uses this store exclusively')
})

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
  const statement: QueryConfig & { query_timeout: Milliseconds } = {
    text: `SELECT ${lockFunction}(${OPEN_LOCK}) AS taken`,
    query_timeout: TIMEOUT,
  }
  const { rows } = await client.query<{ taken: number }>(statement)
  return rows[0]?.taken === 1
}
