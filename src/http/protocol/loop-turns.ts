import type { Server } from 'node:http'
import { realSystem, type System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'

/** So long connections are accepted before the next part of the work. */
const ACCEPTING: Milliseconds = 10

/**
 * The turns of the event loop, for work that is done in parts. Node accepts one connection in each turn, so a client behind two hundred
 * others would wait for as many parts. The work waits instead, until there is no new connection or for a limited time.
 */
export class LoopTurns {
  readonly #clock: Pick<System, 'monotonic'>
  #waiting: (() => void)[] = []
  /** Whether a connection was accepted, and more may wait, since this was last asked. */
  #hasAccepted = false
  #since: Milliseconds | undefined

  /** @param clock the real one, also where time stands still otherwise: it measures this machine's own work */
  constructor(server: Pick<Server, 'on'>, clock: Pick<System, 'monotonic'> = realSystem) {
    this.#clock = clock
    server.on('connection', () => (this.#hasAccepted = true))
  }

  /** Calls back once, at the end of this turn or of a later one. */
  next(work: () => void): void {
    if (this.#waiting.length === 0) setImmediate(this.#end)
    this.#waiting.push(work)
  }

  readonly #end = (): void => {
    if (this.#mayAcceptMore()) {
      setImmediate(this.#end)
      return
    }
    const waiting = this.#waiting
    this.#waiting = []
    this.#since = undefined
    for (const work of waiting) work()
  }

  #mayAcceptMore(): boolean {
    const now = this.#clock.monotonic()
    this.#since ??= now
    const hasAccepted = this.#hasAccepted
    this.#hasAccepted = false
    return hasAccepted && now - this.#since < ACCEPTING
  }
}
