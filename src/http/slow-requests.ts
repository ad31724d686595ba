import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../base/log.ts'
import type { SpentTime } from '../base/request-parts.ts'
import type { Milliseconds } from '../base/units.ts'

/** Logs requests that took the service long, and what they spent the time on. */
export class SlowRequests {
  readonly #log: Log
  readonly #limit: () => Milliseconds

  /** @param limit from this time on a request is slow; 0 logs none */
  constructor(log: Log, limit: () => Milliseconds) {
    this.#log = log
    this.#limit = limit
  }

  /** @param ms the whole time of the request. The part that its client takes does not make it slow. */
  note(
    request: FastifyRequest,
    reply: FastifyReply,
    { ms, spent }: { readonly ms: Milliseconds; readonly spent: SpentTime },
  ): void {
    const limit = this.#limit()
    if (limit === 0 || ms - spent.client < limit) return
    const parts = Object.fromEntries(Object.entries(spent).map(([part, time]) => [part, Math.round(time)]))
    const { method, route, id: requestId } = request
    this.#log.warn(
      { requestId, method, route: route.url ?? 'none', status: reply.statusCode, ms: Math.round(ms), ...parts },
      'slow request',
    )
  }
}
