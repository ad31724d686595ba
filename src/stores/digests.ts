import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { threadModule } from '../workers/thread-module.ts'
import type { DigestMessage, DigestResult } from './digest-thread.ts'

/** Handing bytes to a thread takes longer than hashing fewer than these. */
const HANDED_ON_FROM: Bytes = 262_144
/** Copying fewer bytes takes no longer than moving their memory. */
const MOVED_FROM: Bytes = 16_384
/** So many bytes may wait for the thread, whose processor may hash slowly. */
export const MAX_AHEAD: Bytes = 2 * 2 ** 20
const IDLE_TIMEOUT: Milliseconds = 300_000

/** The SHA-256 of bytes that come in pieces. */
export interface Digest {
  /** Resolves when more may come. The pieces belong to the digest: their memory may be gone afterwards. */
  update(pieces: readonly Uint8Array[]): Promise<void>
  /** Lower-case hexadecimal. Called once, after the last piece. */
  end(): Promise<string>
  /** Instead of `end`, or after it. */
  drop(): void
}

interface Ending {
  readonly resolve: (sha256: string) => void
  readonly reject: (error: unknown) => void
}

/**
 * Computes digests of large files in a thread of its own, so that the thread that receives a file only passes it on (D34.21). The
 * thread starts with the first such file, and ends after five minutes without one.
 */
export class Digests {
  #thread: DigestThread | undefined
  #idle: NodeJS.Timeout | undefined

  /** How much the thread has yet to hash. */
  get ahead(): Bytes {
    return this.#thread?.ahead ?? 0
  }

  /** @param expected the number of bytes, as far as it is known */
  begin(expected: Bytes): Digest {
    if (expected < HANDED_ON_FROM) return digestHere()
    clearTimeout(this.#idle)
    this.#thread ??= this.#start()
    return this.#thread.begin()
  }

  /** Ends the thread; digests that are not complete reject. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const thread = this.#thread
    this.#thread = undefined
    await thread?.close()
  }

  #start(): DigestThread {
    const thread = new DigestThread({
      onIdle: () => {
        if (thread !== this.#thread) return
        clearTimeout(this.#idle)
        this.#idle = setTimeout(() => void this.close(), IDLE_TIMEOUT).unref()
      },
      onEnd: () => {
        if (thread === this.#thread) this.#thread = undefined
      },
    })
    return thread
  }
}

interface ThreadEvents {
  /** Called when no digest is open any more. */
  readonly onIdle: () => void
  /** Called when the thread has ended by itself. */
  readonly onEnd: () => void
}

class DigestThread {
  readonly #events: ThreadEvents
  /** Its only number counts the bytes that the thread has hashed, modulo 2^32. */
  readonly #hashed = new Int32Array(new SharedArrayBuffer(4))
  readonly #worker: Worker
  /** The open digests, and who waits for each. */
  readonly #open = new Map<number, Ending | undefined>()
  #failure: unknown
  #number = 0
  #sent = 0

  constructor(events: ThreadEvents) {
    this.#events = events
    this.#worker = new Worker(threadModule('digest-thread', import.meta.url), {
      workerData: this.#hashed,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
    })
    this.#worker.on('message', ({ number, sha256 }: DigestResult) => {
      this.#open.get(number)?.resolve(sha256)
      // One that was dropped after its end is answered all the same.
      if (this.#open.has(number)) this.#remove(number)
    })
    this.#worker.on('error', error => this.#fail(error))
    this.#worker.on('exit', code => this.#fail(new Error(`the thread for digests has ended with ${code}`)))
  }

  get ahead(): Bytes {
    return (this.#sent - Atomics.load(this.#hashed, 0)) | 0
  }

  begin(): Digest {
    const number = ++this.#number
    this.#worker.ref()
    this.#open.set(number, undefined)
    return {
      update: async pieces => {
        const alone = pieces.map(aloneInMemory)
        const size = lengthOf(alone)
        const moved = alone.map(({ buffer }) => buffer)
        this.#post({ number, pieces: alone }, moved)
        this.#sent = (this.#sent + size) | 0
        await this.#caughtUp()
      },
      end: () =>
        new Promise((resolve, reject) => {
          this.#post({ number, isEnded: true })
          this.#open.set(number, { resolve, reject })
        }),
      drop: () => {
        if (!this.#open.has(number)) return
        this.#post({ number, isDropped: true })
        this.#remove(number)
      },
    }
  }

  async close(): Promise<void> {
    this.#fail(new Error('the thread for digests is closed'))
    await this.#worker.terminate()
  }

  #post(message: DigestMessage, moved: readonly ArrayBuffer[] = []): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#worker.postMessage(message, moved)
  }

  /** Waits until the thread has hashed all but the latest pieces. */
  async #caughtUp(): Promise<void> {
    for (;;) {
      const hashed = Atomics.load(this.#hashed, 0)
      if (this.ahead <= MAX_AHEAD || this.#failure !== undefined) return
      const wait = Atomics.waitAsync(this.#hashed, 0, hashed)
      if (wait.async) await wait.value
    }
  }

  #remove(number: number): void {
    this.#open.delete(number)
    if (this.#open.size > 0) return
    this.#worker.unref()
    this.#events.onIdle()
  }

  #fail(failure: unknown): void {
    this.#failure ??= failure
    for (const ending of this.#open.values()) ending?.reject(this.#failure)
    this.#open.clear()
    // Wakes those who wait for the thread.
    Atomics.notify(this.#hashed, 0)
    this.#events.onEnd()
  }
}

function digestHere(): Digest {
  const hash = createHash('sha256')
  return {
    update: async pieces => {
      for (const piece of pieces) hash.update(piece)
    },
    end: async () => hash.digest('hex'),
    drop: () => {},
  }
}

/** How many bytes the pieces have together. */
export const lengthOf = (pieces: readonly Uint8Array[]): Bytes =>
  pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)

/** Only whole memory can be moved, and what else lies in it may still be needed. */
const aloneInMemory = (piece: Uint8Array): Uint8Array<ArrayBuffer> =>
  piece.byteLength >= MOVED_FROM && isAlone(piece) ? piece : new Uint8Array(piece)

const isAlone = (piece: Uint8Array): piece is Uint8Array<ArrayBuffer> =>
  piece.buffer instanceof ArrayBuffer && piece.byteLength === piece.buffer.byteLength
