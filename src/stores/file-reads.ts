import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { FairQueue } from '../base/limiter.ts'
import { MemoryInUse } from '../base/memory-in-use.ts'
import { notePassing } from '../base/passing-bytes.ts'
import type { Bytes } from '../base/units.ts'
import type { ByteRange } from './blob-store.ts'

/**
 * So much is read at once: it is passed on in one turn of the event loop, and commits wait for a thread of the same pool. Four of the
 * largest reads, one for each thread of the pool.
 */
const MAX_UNDER_WAY: Bytes = 2 ** 21
/** A read takes as long as so many bytes, besides its own. */
const COST_OF_READ: Bytes = 2 ** 16
/** Each read waits for another thread, which with Node's 64 KiB takes twice as long as the bytes. */
const READ: Bytes = 2 ** 19
/** While as much is in memory as may be. Clients that pause have one such read each. */
const SMALL_READ: Bytes = 2 ** 14
/** Most files fit into the first read. */
const FIRST_READ: Bytes = 2 ** 16
/** After less than was asked for, a read finds the end. */
const LAST_READ: Bytes = 4096
/** What waits in memory until those who read take it, before reads become small. */
const MAX_HELD: { readonly ofOne: Bytes; readonly ofAll: Bytes } = { ofOne: 8 * 2 ** 20, ofAll: 16 * 2 ** 20 }

/**
 * Reads open files for those who take their bytes at their own speed. Little is read at once, and callers take turns, because all files
 * that can be read would otherwise be one step of the event loop. Who takes nothing waits for nothing, and holds up nobody.
 */
export class FileReads {
  readonly #waiting = new FairQueue<() => void>(Number.POSITIVE_INFINITY)
  #underWay: Bytes = 0
  readonly #held = new MemoryInUse()

  /**
   * The bytes of a file as a stream, which reads nothing ahead. The file is closed when it ends or is destroyed.
   * @param reader whose turns the reads take
   */
  stream(handle: FileHandle, { first, last }: ByteRange, reader: string): Readable {
    let position = first
    let next = FIRST_READ
    /** Of this file in memory, until more is asked for. */
    let held: Bytes = 0
    const hold = (bytes: Bytes): void => {
      this.#held.add(reader, bytes - held, bytes - held)
      held = bytes
    }
    const readNext = async (): Promise<void> => {
      const length = Math.min(next, this.#sizeFor(reader), last + 1 - position)
      if (length === 0) return void stream.push(null)
      hold(length)
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(length), 0, length, position)
      notePassing(length)
      position += bytesRead
      next = bytesRead < length ? LAST_READ : READ
      if (!stream.destroyed) stream.push(bytesRead === 0 ? null : buffer.subarray(0, bytesRead))
    }
    /** In its turn, which ends when the bytes have been passed on. */
    const begin = (): void => {
      if (stream.destroyed) return
      const cost = Math.min(next, this.#sizeFor(reader)) + COST_OF_READ
      this.#underWay += cost
      readNext()
        .catch((error: Error) => stream.destroy(error))
        .finally(() => {
          this.#underWay -= cost
          this.#beginNext()
        })
    }
    const stream = new Readable({
      highWaterMark: 0,
      read: () => {
        hold(0)
        if (this.#underWay < MAX_UNDER_WAY) begin()
        else this.#waiting.add(begin, { of: reader })
      },
      destroy: (error, callback) => {
        hold(0)
        void closeBefore(handle, () => callback(error))
      },
    })
    return stream
  }

  #beginNext(): void {
    while (this.#underWay < MAX_UNDER_WAY) {
      const begin = this.#waiting.next()
      if (!begin) return
      begin()
    }
  }

  #sizeFor(reader: string): Bytes {
    const isFull = this.#held.of(reader) >= MAX_HELD.ofOne || this.#held.ofAll >= MAX_HELD.ofAll
    return isFull ? SMALL_READ : READ
  }
}

/** Closes the file when a read that is under way has ended. Nothing was written, so a failure loses nothing. */
async function closeBefore(handle: FileHandle, next: () => void): Promise<void> {
  await handle.close().catch(() => {})
  next()
}
