import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { FairQueue } from '../../base/limiter.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { LoopTurns } from './loop-turns.ts'

/** So many requests begin in one turn of the event loop, and none once those before it have taken so long. */
const MAX_AT_ONCE = { requests: 32, time: 10 as Milliseconds }

interface Waiting {
  readonly request: IncomingMessage
  readonly begin: () => void
}

export interface TurnOptions {
  readonly turns: LoopTurns
  readonly now: () => Milliseconds
  /** Names the caller of a request that waits, without waiting itself. */
  readonly ownerOf: (request: IncomingMessage) => string
}

/**
 * Begins a limited number of requests in each turn of the event loop. The others wait, and their callers take turns. By itself Node begins
 * the requests of all connections that can be read in one turn, a thousand or more, and nobody else is answered until the last of them.
 */
export function beginInTurns(server: Server, options: TurnOptions): void {
  const handlers = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  const turns = new RequestTurns(options)
  for (const handle of handlers) {
    server.on('request', (request, response) => turns.add({ request, begin: () => handle(request, response) }))
  }
}

class RequestTurns {
  readonly #options: TurnOptions
  /** Each connection has one request here at most, because pipelined ones wait for the response before them. */
  readonly #waiting = new FairQueue<Waiting>(Number.POSITIVE_INFINITY)
  #isTurn = false
  #begun = 0
  #since: Milliseconds = 0

  constructor(options: TurnOptions) {
    this.#options = options
  }

  add(waiting: Waiting): void {
    if (!this.#isTurn) this.#startTurn()
    if (this.#waiting.size === 0 && this.#hasRoom()) this.#begin(waiting)
    else this.#waiting.add(waiting, { of: this.#options.ownerOf(waiting.request) })
  }

  #startTurn(): void {
    this.#isTurn = true
    this.#begun = 0
    this.#since = this.#options.now()
    this.#options.turns.next(() => this.#endTurn())
  }

  /** The turn after it begins with those who wait; in between, the connections are read. */
  #endTurn(): void {
    this.#isTurn = false
    if (this.#waiting.size === 0) return
    this.#startTurn()
    while (this.#hasRoom()) {
      const next = this.#waiting.next()
      if (!next) return
      // The client may have left.
      if (next.request.socket.writable) this.#begin(next)
    }
  }

  #hasRoom(): boolean {
    const { requests, time } = MAX_AT_ONCE
    return this.#begun < requests && this.#options.now() - this.#since < time
  }

  #begin({ begin }: Waiting): void {
    this.#begun++
    begin()
  }
}
