import { threadModule } from '../../workers/thread-module.ts'
import { ThreadPool } from '../../workers/thread-pool.ts'
import type { FederationOutcome, FederationTask } from './federation-worker.ts'

/** Reads signed metadata on a thread of its own, with a limit on its memory, so that requests are answered meanwhile. */
export class FederationReader {
  /** The JavaScript memory of the thread. With the bytes that it hands over it stays below 150 MB. */
  static readonly megabytes = { old: 96, young: 16 } as const
  readonly #threads = new ThreadPool<FederationTask, FederationOutcome>({
    module: threadModule('federation-worker', import.meta.url),
    threads: 1,
    megabytes: FederationReader.megabytes,
  })

  async read(task: FederationTask): Promise<FederationOutcome> {
    try {
      return await this.#threads.run(task, AbortSignal.timeout(task.timeout + 60_000))
    } catch (error) {
      const reason = (error as { readonly code?: unknown }).code
      const isMemory = reason === 'ERR_WORKER_OUT_OF_MEMORY'
      return { refused: `${task.url}: ${isMemory ? 'it takes too much memory' : (error as Error).message}` }
    }
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }
}
