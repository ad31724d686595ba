import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../accounts/caller.ts'
import { presentCaller } from '../accounts/present-caller.ts'
import { StoreUnavailable } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Milliseconds } from '../base/units.ts'
import { PRINCIPALS } from '../model/addresses.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { onResponseEnd } from './protocol/response-end.ts'

interface Dependencies {
  readonly database: Database
  readonly cache: Pick<DependencyCache, 'onChanges' | 'readChanges'>
  readonly log: Log
}

/**
 * Looks the right of a transfer up again, for the caller as they are now. Rejects when it has ended. Resolves to the subjects of the change
 * log that it depends on, beside the caller.
 */
export type RightCheck = (caller: Caller) => Promise<readonly string[]>

/** For a transfer that depends on nothing but the session, the access token and the account of the caller. */
export const callerOnly: RightCheck = async () => []

interface Transfer {
  readonly request: FastifyRequest
  readonly check: RightCheck
  /** For an upload: refuses the rest of its body. */
  readonly refusal?: AbortController
  /** Unknown before the first check: then every change may concern it. */
  subjects: readonly string[] | undefined
}

/** How often changes of this process are looked for, while anything is being sent or received. */
const INTERVAL: Milliseconds = 50
/** On PostgreSQL, changes of other nodes are looked for once in this number of intervals: each look is a query. */
const INTERVALS_OF_OTHERS = 10

/**
 * The downloads and uploads in progress. When the session, token, account or right of a transfer has ended, an upload is refused, and the
 * connection of a download is reset (D3.8). The right is looked up only after a change that may concern it.
 */
export class RunningTransfers {
  readonly #deps: Dependencies
  readonly #running = new Set<Transfer>()
  /**
   * Transfers that have begun since the last interval. They are checked with the next interval, because a change between the check of their
   * right and their beginning was reported to nobody.
   */
  #unchecked: Transfer[] = []
  #timer: NodeJS.Timeout | undefined
  #intervals = 0
  #isReading = false
  /** The work below belongs to no request. */
  readonly #outside = AsyncLocalStorage.snapshot()

  constructor(deps: Dependencies) {
    this.#deps = deps
    deps.cache.onChanges(changed => this.#checkChanged(changed))
  }

  /** Watches the right of a response that may take long, until it has ended. */
  watch(request: FastifyRequest, reply: FastifyReply, check: RightCheck): void {
    this.#add({ request, check, subjects: undefined }, reply)
  }

  /** The same for a request with a body that may take long. The signal aborts with the refusal, for the reader of the body. */
  watchBody(request: FastifyRequest, reply: FastifyReply, check: RightCheck): AbortSignal {
    const refusal = new AbortController()
    this.#add({ request, check, refusal, subjects: undefined }, reply)
    return refusal.signal
  }

  #add(transfer: Transfer, reply: FastifyReply): void {
    this.#running.add(transfer)
    this.#unchecked.push(transfer)
    this.#timer ??= this.#outside(() => setInterval(() => void this.#look(), INTERVAL).unref())
    onResponseEnd(reply.raw, () => this.#forget(transfer))
  }

  #forget(transfer: Transfer): void {
    this.#running.delete(transfer)
    if (this.#running.size > 0) return
    this.#unchecked = []
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    const unchecked = this.#unchecked
    this.#unchecked = []
    for (const transfer of unchecked) void this.#check(transfer)
    if (this.#isReading) return
    this.#isReading = true
    try {
      await this.#deps.cache.readChanges({ asksServer: ++this.#intervals % INTERVALS_OF_OTHERS === 0 })
    } catch {
      // The next look reads the same changes. Requests report the outage.
    } finally {
      this.#isReading = false
    }
  }

  #checkChanged(changed: ReadonlySet<string> | undefined): void {
    const mayConcern = ({ request: { caller }, subjects }: Transfer): boolean =>
      changed === undefined ||
      subjects === undefined ||
      changed.has(`${PRINCIPALS}/${caller.user.id}`) ||
      subjects.some(subject => changed.has(subject))
    for (const transfer of this.#running) if (mayConcern(transfer)) this.#outside(() => void this.#check(transfer))
  }

  async #check(transfer: Transfer): Promise<void> {
    const { request, check } = transfer
    if (!this.#running.has(transfer)) return
    try {
      transfer.subjects = await check(await presentCaller(this.#deps.database, request.caller))
    } catch (error) {
      if (!this.#running.has(transfer)) return
      if (error instanceof StoreUnavailable) this.#unchecked.push(transfer)
      else this.#end(transfer, error)
    }
  }

  #end(transfer: Transfer, reason: unknown): void {
    const { request, refusal } = transfer
    this.#forget(transfer)
    if (refusal) return refusal.abort(reason)
    this.#deps.log.info(
      { requestId: request.id, err: reason },
      'a download was ended, because the right to it has ended',
    )
    const { socket } = request.raw
    // Closing alone would still send the bytes in the buffers of the system, tens of megabytes. While a socket is being closed, Node.js
    // cannot reset it, and would keep it open.
    if (socket.writableEnded) socket.destroy()
    else socket.resetAndDestroy()
  }
}
