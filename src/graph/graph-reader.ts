import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import { InvalidInput, Overloaded, TooLarge } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Graph } from './graph.ts'
import { defaultGraphLimits, type GraphLimits, requireGraphSize } from './graph-size.ts'
import type { ReadOutcome, ReadTask } from './read-worker.ts'
import type { Syntax } from './syntaxes.ts'

/** No honest document takes a tenth of this; who exceeds it loses his thread, not ours. */
const LIMIT: Milliseconds = 10_000
const THREADS = 2
const MAX_WAITING = 50
const MAX_MEGABYTES = 512
/** What is shorter is read at once: even the worst of it takes less than the way to a thread. */
const SHORT = 4096
const SHORT_JSON = 262_144

/** Reads graphs in any syntax; what is long, or could be made to take long, on a worker thread with hard limits. */
export class GraphReader {
  readonly #limits: GraphLimits
  #pool: Promise<Piscina<ReadTask, ReadOutcome>> | undefined

  constructor(limits = defaultGraphLimits) {
    this.#limits = limits
  }

  /** The graph itself. @throws {TooLarge} `graph-too-large` */
  requireSize(graph: Graph): Graph {
    return requireGraphSize(graph, this.#limits)
  }

  /**
   * @param base what relative references stand for
   * @throws {InvalidInput} `invalid-graph` @throws {TooLarge} `graph-too-large` @throws {Overloaded}
   */
  async read(syntax: Syntax, text: string, base: string): Promise<Graph> {
    return this.requireSize(await this.#read(syntax, text, base))
  }

  async #read(syntax: Syntax, text: string, base: string): Promise<Graph> {
    if (text.length <= (syntax.name === 'json' ? SHORT_JSON : SHORT)) return await syntax.read(text, base)
    this.#pool ??= openPool()
    const pool = await this.#pool
    if (pool.queueSize >= MAX_WAITING) throw new Overloaded('Too many graphs at once.')
    const outcome = await this.#run(pool, { mediaType: syntax.mediaTypes[0] ?? '', text, base })
    if ('graph' in outcome) return outcome.graph
    const Refusal = outcome.refused === 'large' ? TooLarge : InvalidInput
    throw new Refusal(outcome.code, outcome.detail)
  }

  async close(): Promise<void> {
    await (await this.#pool)?.destroy()
  }

  async #run(pool: Piscina<ReadTask, ReadOutcome>, task: ReadTask): Promise<ReadOutcome> {
    try {
      return await pool.run(task, { signal: AbortSignal.timeout(LIMIT) })
    } catch (error) {
      const { name, code } = error as { readonly name?: unknown; readonly code?: unknown }
      if (name !== 'AbortError' && code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
      throw new InvalidInput('invalid-graph', 'The graph takes more time or memory to read than it may.', {
        cause: error,
      })
    }
  }
}

/** The threads are there only once somebody sends such a graph. */
async function openPool(): Promise<Piscina<ReadTask, ReadOutcome>> {
  const { Piscina } = await import('piscina')
  // Compiled, this file lies beside the worker and both end in .js; run from source, in .ts.
  const worker = new URL(`./read-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  return new Piscina({
    filename: fileURLToPath(worker),
    maxThreads: THREADS,
    minThreads: 0,
    idleTimeout: 30_000,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
  })
}
