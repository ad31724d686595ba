import { InvalidInput } from '../base/errors.ts'
import { decodeUtf8 } from '../base/text.ts'
import type { Milliseconds } from '../base/units.ts'
import { TaskLimitExceeded, threadModule, ThreadPool } from '../workers/thread-pool.ts'
import {
  defaultGraphLimits,
  type Graph,
  type GraphLimits,
  type GraphText,
  parseGraph,
  relativeGraph,
  requireGraphSize,
} from './graph.ts'
import type { GraphMembers, ReadTask } from './read-worker.ts'
import type { Syntax } from './syntaxes.ts'

/** No honest document takes a tenth of this. */
const TIMEOUT: Milliseconds = 10_000
const MAX_MEGABYTES = 512
const THREADS = 2
const MAX_WAITING = 500
/** A client that writes many documents at once waits for its own documents, and does not make others wait. */
const MAX_WAITING_OF_ONE = 100
/** A shorter document is parsed at once: in the worst case this takes less time than the transfer to a thread. */
const SHORT = 4096
const SHORT_JSON = 65_536

interface GraphReaderOptions {
  readonly limits?: GraphLimits
  /** The threads that read long documents; closed with the reader. */
  readonly pool?: GraphPool
}

type GraphPool = Pick<ThreadPool<ReadTask, GraphText>, 'run' | 'close'>

const openGraphPool = (): GraphPool =>
  new ThreadPool({
    module: threadModule('read-worker', import.meta.url),
    threads: THREADS,
    timeout: TIMEOUT,
    megabytes: MAX_MEGABYTES,
    limits: { concurrencyOfOne: THREADS - 1, queue: MAX_WAITING, queueOfOne: MAX_WAITING_OF_ONE, what: 'graphs' },
  })

/** Whose document it is, for a fair share of the threads, and whether they still wait for it. */
interface Reading {
  readonly caller: string
  /** Makes the signal that they do not; called only if a thread is needed. */
  readonly clientGone?: (() => AbortSignal) | undefined
}

interface ReadingOptions extends Reading {
  /** IRIs that begin with this become relative, as the store keeps them; it ends in a slash. */
  readonly relativeTo?: string
}

/** Reads graphs in any syntax. Documents that are long, or could be made to take long, are read on a worker thread with hard limits. */
export class GraphReader {
  readonly #limits: GraphLimits
  readonly #pool: GraphPool

  constructor({ limits = defaultGraphLimits, pool = openGraphPool() }: GraphReaderOptions = {}) {
    this.#limits = limits
    this.#pool = pool
  }

  /** The graph itself. @throws {TooLarge} `graph-too-large` */
  requireSize(graph: Graph): Graph {
    return requireGraphSize(graph, this.#limits)
  }

  /**
   * @param text bytes are UTF-8
   * @param base resolves relative references
   * @throws {InvalidInput} `invalid-graph`, `bad-request` @throws {TooLarge} `graph-too-large` @throws {Overloaded}
   */
  async read(
    syntax: Syntax,
    text: string | Uint8Array<ArrayBuffer>,
    base: string,
    options: ReadingOptions,
  ): Promise<Graph> {
    const { relativeTo } = options
    if (isShort(syntax, text)) {
      const graph = await this.#readShort(syntax, text, base)
      return relativeTo === undefined ? graph : relativeGraph(relativeTo, graph)
    }
    return parseGraph(await this.#run({ ...this.#task(syntax, text, base), relativeTo }, options))
  }

  /**
   * Reads the graphs in a long JSON object on a worker thread.
   * @returns the text of an object with these members only, its graphs as {@link read} would return them
   * @throws {InvalidInput} `invalid-json`, `invalid-graph` @throws {TooLarge} @throws {Overloaded}
   */
  async readMembers(syntax: Syntax, text: string, members: GraphMembers, options: ReadingOptions): Promise<string> {
    const { relativeTo } = options
    return await this.#run({ ...this.#task(syntax, text, ''), members, relativeTo }, options)
  }

  /** Checks whether {@link read} would read the graph, and throws what it would throw. */
  async check(syntax: Syntax, text: Uint8Array<ArrayBuffer>, base: string, reading: Reading): Promise<void> {
    if (isShort(syntax, text)) await this.#readShort(syntax, text, base)
    else await this.#run(this.#task(syntax, text, base), reading)
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }

  async #readShort(syntax: Syntax, text: string | Uint8Array<ArrayBuffer>, base: string): Promise<Graph> {
    const decoded = typeof text === 'string' ? text : decodeUtf8(text)
    return this.requireSize(await syntax.read(decoded, base, this.#limits.maxStatements))
  }

  #task({ mediaTypes: [mediaType = ''] }: Syntax, text: string | Uint8Array<ArrayBuffer>, base: string): ReadTask {
    return { mediaType, text, base, relativeTo: undefined, limits: this.#limits }
  }

  async #run(task: ReadTask, { caller, clientGone }: Reading): Promise<GraphText> {
    try {
      return await this.#pool.run(task, { of: caller, signal: clientGone?.() })
    } catch (error) {
      if (!(error instanceof TaskLimitExceeded)) throw error
      throw new InvalidInput('invalid-graph', 'Reading the graph exceeds the limits on time and memory.', {
        cause: error,
      })
    }
  }
}

const isShort = ({ name }: Syntax, { length }: { readonly length: number }): boolean =>
  length <= (name === 'json' ? SHORT_JSON : SHORT)
