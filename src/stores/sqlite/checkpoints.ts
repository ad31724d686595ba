import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { threadModule } from '../../workers/thread-module.ts'
import type { WriteTurn } from '../shared/write-turn.ts'
import type { CheckpointThread } from './checkpoint-thread.ts'

/** A service that writes little needs no thread for it: the log is short. */
const FIRST_COMMITS = 200
const FIRST_BYTES: Bytes = 4 * 2 ** 20
const LOOK_EVERY: Milliseconds = 1000

/**
 * Copies the write-ahead log into the database, in a thread of its own. The engine would do it at the end of a commit: it writes up to a
 * thousand pages and waits for the disk, and nothing else happens on its thread (D40.4). Writers wait for the thread when the log
 * is long. What it has left undone when the log is `MAX_LOG` pages long, the engine still does.
 */
export class Checkpoints {
  readonly #path: string
  readonly #turn: WriteTurn
  readonly #end = new Int32Array(new SharedArrayBuffer(4))
  readonly #begun: number
  readonly #timer: NodeJS.Timeout
  #worker: Worker | undefined
  #ended: Promise<unknown> | undefined

  /** @param path a database that is open for writing @param turn the turn of all who write to it */
  constructor(path: string, turn: WriteTurn) {
    this.#path = path
    this.#turn = turn
    this.#begun = turn.commits
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY).unref()
  }

  /** Before the database is closed. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    Atomics.store(this.#end, 0, 1)
    this.#turn.wake()
    this.#worker?.ref()
    await this.#ended
  }

  async #look(): Promise<void> {
    if (this.#turn.commitsSince(this.#begun) < FIRST_COMMITS) {
      const { size } = await stat(`${this.#path}-wal`).catch(() => ({ size: 0 }))
      if (size < FIRST_BYTES) return
    }
    if (this.#worker || Atomics.load(this.#end, 0) !== 0) return
    try {
      this.#begin()
    } catch {
      // The system has no thread left. The next look tries again; until then the engine copies the log.
    }
  }

  #begin(): void {
    const data: CheckpointThread = { path: this.#path, turn: this.#turn.shared, end: this.#end }
    const worker = new Worker(threadModule('checkpoint-thread', import.meta.url), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
    })
    clearInterval(this.#timer)
    this.#ended = once(worker, 'exit').catch(error => {
      process.emitWarning(`The thread that copies the log into the database has ended: ${String(error)}`)
    })
    // It must not keep a process that has nothing else to do.
    worker.unref()
    this.#worker = worker
  }
}
