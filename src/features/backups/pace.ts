import { setTimeout as sleep } from 'node:timers/promises'
import { abortable, type BlobStore } from '../../stores/blob-store.ts'
import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { Readable } from 'node:stream'

/**
 * The part of one core that the thread itself may take. The threads that read files and collect garbage for it take almost as much again,
 * and Node.js does not say for whom they work; together they stay below a tenth.
 */
const SHARE = 0.05
/** Work that needs no rest, so that a small store is done at once. */
const FREE: Milliseconds = 3000

/** Keeps the work of a thread slow, so that requests do not notice it. */
export class Pace {
  readonly #signal: AbortSignal
  readonly #began: Milliseconds
  readonly #usage: NodeJS.CpuUsage
  #rested: Milliseconds = 0

  /** @param signal ends a rest at once */
  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.#began = realSystem.monotonic()
    this.#usage = process.threadCpuUsage()
  }

  /** How long the work took so far, without the rests. */
  get worked(): Milliseconds {
    return Math.round(realSystem.monotonic() - this.#began - this.#rested)
  }

  /** Rests when the thread has worked more than its share. @throws the reason of the signal */
  async rest(): Promise<void> {
    this.#signal.throwIfAborted()
    const { user, system } = process.threadCpuUsage(this.#usage)
    const used = (user + system) / 1000 - FREE
    const due = used / SHARE - (realSystem.monotonic() - this.#began)
    if (due < 10) return
    const before = realSystem.monotonic()
    await sleep(due, undefined, { signal: this.#signal }).catch(() => this.#signal.throwIfAborted())
    this.#rested += realSystem.monotonic() - before
  }

  /** The same store, whose bytes are read at this pace. */
  blobs(blobs: BlobStore): BlobStore {
    const paced = async function* (pace: Pace, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes) {
        yield chunk
        await pace.rest()
      }
    }
    return {
      read: async (key, range) =>
        Readable.from(paced(this, abortable(await blobs.read(key, range), this.#signal)), { objectMode: false }),
      write: (...given) => blobs.write(...given),
      delete: key => blobs.delete(key),
      setAside: key => blobs.setAside(key),
      append: (...given) => blobs.append(...given),
      readPieces: (...given) => blobs.readPieces(...given),
      complete: (...given) => blobs.complete(...given),
      list: () => blobs.list(),
      unfinished: () => blobs.unfinished(),
      close: () => blobs.close(),
    }
  }
}
