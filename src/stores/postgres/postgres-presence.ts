import { setTimeout as pause } from 'node:timers/promises'
import { callbackify } from 'node:util'
import type { PoolClient, QueryConfig } from 'pg'
import type { Milliseconds } from '../../base/units.ts'

/** The advisory lock that all who have the store open share: `open` in ASCII. */
const OPEN = 0x6f70656e
/** So long the server may take to notice that somebody has gone. */
const FAREWELL: Milliseconds = 2000
const PAUSE: Milliseconds = 50
/** A server that has just let us in and does not answer for so long counts as lost. */
const TIMEOUT: Milliseconds = 5000

/** Says on a new connection, for as long as it lasts, that the store is in use; fails where somebody needs it alone. */
export const shareStore = callbackify(async (client: PoolClient): Promise<void> => {
  if (await isGranted(client, 'pg_try_advisory_lock_shared')) return
  throw new Error('a command is at work on the store that needs it alone')
})

/** Keeps everybody else from the store for as long as the connection lasts; false when somebody has it open. */
export function takeStore(client: PoolClient): Promise<boolean> {
  return isGranted(client, 'pg_try_advisory_lock')
}

/** Never in a queue: behind one who waits the nodes at work would be turned away. */
async function isGranted(client: PoolClient, verb: string): Promise<boolean> {
  for (let waited = 0; !(await isTaken(client, verb)); waited += PAUSE) {
    if (waited >= FAREWELL) return false
    await pause(PAUSE)
  }
  return true
}

async function isTaken(client: PoolClient, verb: string): Promise<boolean> {
  const question: QueryConfig & { query_timeout: Milliseconds } = {
    text: `SELECT ${verb}(${OPEN}) AS taken`,
    query_timeout: TIMEOUT,
  }
  const { rows } = await client.query<{ taken: number }>(question)
  return rows[0]?.taken === 1
}
