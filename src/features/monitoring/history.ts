import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { Metrics, Totals } from '../../http/metrics.ts'
import type { StorageUsage } from '../../files/storage-usage.ts'

/** Length of one interval. */
export const INTERVAL: Milliseconds = 300_000
/** Number of intervals kept: 24 hours. */
const MAX_POINTS = 288
/** Maximum number of reported contexts, the fullest first. */
const MAX_SERIES = 5

/** What happened in one interval, and how full the store was at its end. */
interface Point {
  /** End of the interval. */
  readonly time: Milliseconds
  readonly requests: number
  /** Requests answered with a status of 500 and above. */
  readonly failures: number
  readonly signIns: number
  readonly refusedSignIns: number
  readonly storedBytes: Bytes
}

interface Sample {
  readonly point: Point
  /** Bytes by context, of the fullest ones only. */
  readonly contexts: ReadonlyMap<string, Bytes>
}

interface Report {
  readonly points: readonly Point[]
  /** The contexts that are fullest now, with their bytes at the end of each interval; `null` where they were not among the fullest. */
  readonly contexts: ReadonlyArray<{ readonly context: string; readonly bytes: ReadonlyArray<Bytes | null> }>
}

interface Sources {
  readonly metrics: Pick<Metrics, 'totals'>
  readonly storageUsage: Pick<StorageUsage, 'measure'>
  readonly system: System
}

const nothing: Totals = { requests: 0, failures: 0, signIns: 0, refusedSignIns: 0 }

/**
 * The last day of this process in intervals of five minutes, for people without a monitoring system. Kept in memory: 288 points of
 * some hundred bytes, lost when the process ends.
 */
export class History {
  readonly #deps: Sources
  readonly #samples: Sample[] = []
  #before: Totals = nothing
  #began: Milliseconds

  constructor(deps: Sources) {
    this.#deps = deps
    this.#began = deps.system.now()
  }

  /** To be called every minute: ends the interval when it is long enough. */
  async sample(): Promise<void> {
    const { system, metrics } = this.#deps
    if (system.now() - this.#began < INTERVAL) return
    const totals = await metrics.totals()
    this.#samples.push(await this.#take(totals))
    this.#before = totals
    this.#began = system.now()
    if (this.#samples.length > MAX_POINTS) this.#samples.shift()
  }

  /** Includes the interval in progress, so that there is something to see at once. */
  async report(): Promise<Report> {
    const last = await this.#take(await this.#deps.metrics.totals())
    const samples = [...this.#samples, last]
    const fullest = [...last.contexts.keys()].slice(0, MAX_SERIES)
    return {
      points: samples.map(({ point }) => point),
      contexts: fullest.map(context => ({
        context,
        bytes: samples.map(({ contexts }) => contexts.get(context) ?? null),
      })),
    }
  }

  async #take(totals: Totals): Promise<Sample> {
    const { total, contexts } = await this.#deps.storageUsage.measure()
    const point: Point = {
      time: this.#deps.system.now(),
      requests: totals.requests - this.#before.requests,
      failures: totals.failures - this.#before.failures,
      signIns: totals.signIns - this.#before.signIns,
      refusedSignIns: totals.refusedSignIns - this.#before.refusedSignIns,
      storedBytes: total,
    }
    return { point, contexts: new Map(contexts.map(({ context, used }) => [context, used])) }
  }
}
