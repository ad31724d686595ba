import { writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { realSystem } from './system.ts'
import type { Bytes, Milliseconds } from './units.ts'

const STANDARD_ERROR = 2
/** So much of the log of a thread waits for a reader that takes nothing, or for a full disk. The last line may exceed it. */
const MAX_WAITING: Bytes = 2 ** 20
const RETRY_INTERVAL: Milliseconds = 100

/**
 * Standard error as the destination of the log, in any thread: the stream of a thread goes through the main thread, and is delayed while
 * that is busy. A reader that has gone or takes nothing, and a full disk, neither end the service nor hold it up (D35.32).
 */
export class LogOutput implements DestinationStream {
  #waiting: Buffer[] = []
  #size: Bytes = 0
  #dropped = 0
  #timer: NodeJS.Timeout | undefined

  write(line: string): void {
    if (this.#size > MAX_WAITING) {
      this.#dropped++
      return
    }
    const bytes = Buffer.from(line)
    this.#waiting.push(bytes)
    this.#size += bytes.length
    // Where earlier lines wait, each further one would cost an attempt to write them all.
    if (this.#timer === undefined) this.#flush()
  }

  #flush(): void {
    try {
      while (this.#waiting.length > 0) this.#writeFirst()
    } catch {
      // There is nowhere to report it. Nothing is given up here, whatever the reason: half of the line may have been written.
      this.#timer ??= setInterval(() => this.#flush(), RETRY_INTERVAL).unref()
      return
    }
    clearInterval(this.#timer)
    this.#timer = undefined
    if (this.#dropped > 0) this.#reportDropped()
  }

  /** Line by line: a pipe takes up to 4 KiB as a whole or not at all, so that no other thread writes in the middle of them. */
  #writeFirst(): void {
    const [line = Buffer.alloc(0)] = this.#waiting
    const written = writeSync(STANDARD_ERROR, line)
    this.#size -= written
    if (written < line.length) this.#waiting[0] = line.subarray(written)
    else this.#waiting.shift()
  }

  #reportDropped(): void {
    const lines = this.#dropped
    this.#dropped = 0
    const time = new Date(realSystem.now()).toISOString()
    const msg = 'lines of the log were dropped, because nothing took those before them'
    this.write(`${JSON.stringify({ level: 'warn', time, lines, msg })}\n`)
  }
}
