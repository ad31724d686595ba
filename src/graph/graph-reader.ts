import { InvalidInput } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'
import { refusalFrom } from '../workers/refusals.ts'
import { threadModule } from '../workers/thread-pool.ts'
import { TaskLimitExceeded, WorkerPool } from '../workers/worker-pool.ts'
import type { Graph } from './graph.ts'
import { defaultGraphLimits, type GraphLimits, requireGraphSize } from './graph-size.ts'
import type { ReadOutcome, ReadTask } from './read-worker.ts'
import type { Syntax } from './syntaxes.ts'

/** No honest document takes a tenth of this. */
const TIMEOUT: Milliseconds = 10_000
const MAX_MEGABYTES = 512
const MAX_WAITING = 500
/** A client that writes many documents at once waits for its own, and for no one else's refusals. */
const MAX_WAITING_OF_ONE = 100
/** What is shorter is read at once: even the worst of it takes less than the way to a thread. */
const SHORT = 4096
const SHORT_JSON = 65_536

export interface GraphReaderOptions {
  readonly limits?: GraphLimits
  readonly threads?: number
}

/** Whose document it is, for a fair share of the threads, and whether they still wait for it. */
export interface Reading {
  readonly caller: string
  readonly clientGone?: AbortSignal | undefined
}

/** Reads graphs in any syntax; what is long, or could be made to take long, on a worker thread with hard limits. */
export class GraphReader {
  readonly #limits: GraphLimits
  readonly #pool: WorkerPool<ReadTask, ReadOutcome>

  constructor({ limits = defaultGraphLimits, threads = 2 }: GraphReaderOptions = {}) {
    this.#limits = limits
    this.#pool = new WorkerPool({
      module: threadModule('read-worker', import.meta.url),
      threads,
      timeout: TIMEOUT,
      maxMegabytes: MAX_MEGABYTES,
      maxWaiting: MAX_WAITING,
      maxWaitingOfOne: MAX_WAITING_OF_ONE,
      what: 'graphs',
    })
  }

  /** The graph itself. @throws {TooLarge} `graph-too-large` */
  requireSize(graph: Graph): Graph {
    return requireGraphSize(graph, this.#limits)
  }

  /**
   * @param base resolves relative references
   * @throws {InvalidInput} `invalid-graph` @throws {TooLarge} `graph-too-large` @throws {Overloaded}
   */
  async read(syntax: Syntax, text: string, base: string, { caller, clientGone }: Reading): Promise<Graph> {
    const isShort = text.length <= (syntax.name === 'json' ? SHORT_JSON : SHORT)
    if (isShort) return this.requireSize(await syntax.read(text, base, this.#limits.maxStatements))
    const task = { mediaType: syntax.mediaTypes[0] ?? '', text, base, limits: this.#limits }
    const outcome = await this.#run(task, caller, clientGone)
    if ('refused' in outcome) throw refusalFrom(outcome.refused)
    return JSON.parse(outcome.graph) as Graph
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }

  async #run(task: ReadTask, caller: string, clientGone: AbortSignal | undefined): Promise<ReadOutcome> {
    try {
      return await this.#pool.run(task, caller, clientGone)
    } catch (error) {
      if (!(error instanceof TaskLimitExceeded)) throw error
      throw new InvalidInput('invalid-graph', 'Reading the graph exceeds the limits on time and memory.', {
        cause: error,
      })
    }
  }
}
