import type { Log } from '../../base/log.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { RequestRecords } from '../../http/request-records.ts'

/**
 * Logs requests that took the service long, and what they spent the time on. The time that a client takes does not make a request slow.
 * @param limit from this time on a request is slow; 0 logs none
 */
export const logSlowRequests =
  (log: Log, limit: () => Milliseconds): NonNullable<RequestRecords['answered']> =>
  ({ id, method, route, status, ms, spent }) => {
    if (limit() === 0 || ms - spent.client < limit()) return
    const phases = Object.fromEntries(Object.entries(spent).map(([phase, time]) => [phase, Math.round(time)]))
    log.warn({ requestId: id, method, route: route ?? 'none', status, ms: Math.round(ms), ...phases }, 'slow request')
  }
