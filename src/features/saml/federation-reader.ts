import type { Milliseconds } from '../../base/units.ts'
import { TaskLimitExceeded, ThreadPool, threadModule } from '../../workers/thread-pool.ts'
import type { FederationOutcome, FederationTask } from './federation-worker.ts'

/** The largest federations take some minutes to arrive. */
const TIMEOUT: Milliseconds = 600_000

/** Reads signed metadata on a thread of its own, with a limit on its memory, so that requests are answered meanwhile. */
export class FederationReader {
  /** The JavaScript memory of the thread. With the bytes that it hands over it stays below 150 MB. */
  static readonly megabytes = 96
  readonly #threads = new ThreadPool<FederationTask, FederationOutcome>({
    module: threadModule('federation-worker', import.meta.url),
    threads: 1,
    megabytes: FederationReader.megabytes,
    timeout: TIMEOUT,
  })

  async read(task: FederationTask): Promise<FederationOutcome> {
    try {
      return await this.#threads.run(task)
    } catch (error) {
      const isMemory = error instanceof TaskLimitExceeded && error.limit === 'memory'
      return { refused: `${task.url}: ${isMemory ? 'it takes too much memory' : (error as Error).message}` }
    }
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }
}
